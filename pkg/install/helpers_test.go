package install_test

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
)

func as(t *testing.T, config *rest.Config) install.Cluster {
	t.Helper()
	store, err := cluster.New(config)
	assert.NilError(t, err)
	return install.Cluster{Config: config, Store: store}
}

func whoAmI(t *testing.T, config *rest.Config) state.Person {
	t.Helper()
	review, err := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews().Create(
		t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	assert.NilError(t, err)
	return state.Person{Username: review.Status.UserInfo.Username, Groups: review.Status.UserInfo.Groups}
}

func newSigner(t *testing.T) sign.Signer {
	t.Helper()
	signer, err := sign.CreateKey(filepath.Join(t.TempDir(), "id_ed25519"), "test")
	assert.NilError(t, err)
	return signer
}

// options are those of the demo: sre approves, ci proposes, admin administers.
func options(t *testing.T, c *kubetest.Cluster) install.Options {
	t.Helper()
	return install.Options{Name: "prod-eu", Env: "prod",
		People: policy.Roles{
			Approvers: policy.Subjects{Groups: []string{"sre"}},
			Proposers: policy.Subjects{Groups: []string{"dev"}},
		},
		Caller: whoAmI(t, c.Config(kubetest.Admin)), Signer: newSigner(t), Rand: rand.Reader}
}

func prepare(t *testing.T, c *kubetest.Cluster, o install.Options) *install.Plan {
	t.Helper()
	plan, err := install.Prepare(t.Context(), as(t, c.Config(kubetest.Admin)), o)
	assert.NilError(t, err)
	return plan
}

func mustInstall(t *testing.T, c *kubetest.Cluster, o install.Options) {
	t.Helper()
	assert.NilError(t, prepare(t, c, o).Apply(t.Context(), nil))
}

// changes are the steps that are not ActionKeep.
func changes(plan *install.Plan) []install.Step {
	var all []install.Step
	for _, step := range plan.Steps() {
		if step.Action != install.ActionKeep {
			all = append(all, step)
		}
	}
	return all
}

func gateToken(t *testing.T, c *kubetest.Cluster, name string, scope ...string) *rest.Config {
	t.Helper()
	return tokenConfig(t, c, install.TokenOptions{Name: name, Role: install.TokenPropose, Duration: hour, Scope: scope})
}

func tokenConfig(t *testing.T, c *kubetest.Cluster, o install.TokenOptions) *rest.Config {
	t.Helper()
	token, err := install.CreateToken(t.Context(), as(t, c.Config(kubetest.Admin)), o)
	assert.NilError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(token.Kubeconfig)
	assert.NilError(t, err)
	config.QPS = -1
	resource := map[string]string{install.TokenPropose: "secrets", install.TokenApprove: "configmaps"}[o.Role]
	awaitRight(t, config, authorizationv1.ResourceAttributes{Namespace: install.Namespace, Verb: "create", Resource: resource})
	return config
}

// awaitRight waits until the server has taken a new binding up.
func awaitRight(t *testing.T, config *rest.Config, what authorizationv1.ResourceAttributes) {
	t.Helper()
	reviews := kubernetes.NewForConfigOrDie(config).AuthorizationV1().SelfSubjectAccessReviews()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		review, err := reviews.Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}, metav1.CreateOptions{})
		switch {
		case err != nil:
			return poll.Error(err)
		case !review.Status.Allowed:
			return poll.Continue("no right yet: %v", what)
		}
		return poll.Success()
	})
}

func records(ctx context.Context, t *testing.T, c *kubetest.Cluster, kind state.Type) []state.Record {
	t.Helper()
	list, err := as(t, c.Config(kubetest.Admin)).Store.List(ctx, kind, state.Selector{})
	assert.NilError(t, err)
	return list
}
