package gate_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
)

// fenceWorld is a real install, with the cast as real users.
type fenceWorld struct {
	*kubetest.Cluster
	uid     string
	admin   state.Person
	ci      state.Person
	configs map[string]*rest.Config
	keys    map[string]sign.Signer
	gateKey sign.Signer
}

func TestTheAttacksFailBehindTheFence(t *testing.T) {
	t.Parallel()
	w := newFenceWorld(t)
	n := 0
	for folder, a := range attacks(t) {
		for _, d := range a.Deeds {
			if d.Only == "files" {
				continue
			}
			n++
			s := w.stage(t, fmt.Sprintf("%s-%d-", folder, n))
			t.Run(folder+"/"+d.Deed, func(t *testing.T) {
				s.t = t
				reason := d.Fenced
				if reason == "" {
					reason = d.Reason
				}
				s.play(d, reason)
			})
		}
	}
}

// newFenceWorld installs changeward, makes the gate's account, and enrolls
// everyone's key.
func newFenceWorld(t *testing.T) *fenceWorld {
	t.Helper()
	ctx := t.Context()
	var users []string
	w := &fenceWorld{keys: map[string]sign.Signer{"root": newKey(t)}, configs: map[string]*rest.Config{}}
	for name, groups := range cast() {
		text := name + ":"
		for i, group := range groups {
			text += map[bool]string{true: ",", false: ""}[i > 0] + group
		}
		users = append(users, text)
		w.keys[name] = newKey(t)
	}
	w.Cluster = kubetest.Start(t, users...)
	w.configs["root"] = w.Config(kubetest.Admin)
	for name := range cast() {
		w.configs[name] = w.Config(name)
	}
	w.admin = w.whoIs(t, "root")
	w.install(t)
	home, err := w.Client(kubetest.Admin).CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	assert.NilError(t, err)
	w.uid = string(home.UID)
	for name := range cast() {
		who := w.whoIs(t, name)
		g := w.as(who)
		ledger, err := g.Load(ctx)
		assert.NilError(t, err)
		_, err = g.Enroll(ctx, ledger, w.keys[name], nil, nil)
		assert.NilError(t, err)
	}
	admin := w.as(w.admin)
	ledger, err := admin.Load(ctx)
	assert.NilError(t, err)
	_, err = admin.SetPolicy(ctx, ledger, stagePolicy("both", "'system:masters'"), w.keys["root"], false)
	assert.NilError(t, err)
	return w
}

// install makes everything, and a gate's token.
func (w *fenceWorld) install(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	admin := w.cluster(t, "root")
	prepared, err := install.Prepare(ctx, admin, install.Options{Name: "test", Env: "prod", Caller: w.admin, Signer: w.keys["root"], Rand: rand.Reader,
		People: policy.Roles{Approvers: policy.Subjects{Groups: []string{"sre"}}, Proposers: policy.Subjects{Groups: []string{"dev"}}}})
	assert.NilError(t, err)
	assert.NilError(t, prepared.Apply(ctx, nil))
	token, err := install.CreateToken(ctx, admin, install.TokenOptions{Name: "ci", Role: install.TokenPropose, Duration: time.Hour})
	assert.NilError(t, err)
	w.configs["ci"], err = clientcmd.RESTConfigFromKubeConfig(token.Kubeconfig)
	assert.NilError(t, err)
	w.configs["ci"].QPS = -1
	w.ci = w.whoIs(t, "ci")
	secret, err := w.Client(kubetest.Admin).CoreV1().Secrets(install.NamespaceGate).Get(ctx, install.GateKeySecret, metav1.GetOptions{})
	assert.NilError(t, err)
	w.gateKey, err = sign.ParseGateKey(secret.Data[install.DataKey])
	assert.NilError(t, err)
}

func (w *fenceWorld) cluster(t *testing.T, name string) install.Cluster {
	t.Helper()
	store, err := cluster.New(w.configs[name])
	assert.NilError(t, err)
	return install.Cluster{Config: w.configs[name], Store: store}
}

func (w *fenceWorld) whoIs(t *testing.T, name string) state.Person {
	t.Helper()
	review, err := kubernetes.NewForConfigOrDie(w.configs[name]).AuthenticationV1().SelfSubjectReviews().Create(t.Context(),
		&authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	assert.NilError(t, err)
	return state.Person{Username: review.Status.UserInfo.Username, Groups: review.Status.UserInfo.Groups}
}

// as is the gate as someone uses it: they see what their rights show.
func (w *fenceWorld) as(who state.Person) *gate.Gate {
	name := w.name(who)
	store, err := cluster.New(w.configs[name])
	if err != nil {
		panic(err)
	}
	where := install.Cluster{Config: w.configs[name], Store: store}
	signer := w.gateKey
	return &gate.Gate{Store: store, ClusterUID: w.uid, Caller: who, Signer: signer, Gone: gone,
		Attestation: func(ctx context.Context, epochs []state.Epoch) gate.Attestation {
			standing := install.Attest(ctx, where, epochs)
			if slices.Contains([]string{"", install.ReasonCanaryForbidden}, standing.Void) {
				return gate.Attestation{From: standing.From}
			}
			return gate.Attestation{Void: standing.Void, Detail: standing.Detail, From: standing.From}
		}}
}

// name is what the configs call someone.
func (w *fenceWorld) name(who state.Person) string {
	switch who.Username {
	case w.admin.Username:
		return "root"
	case w.ci.Username:
		return "ci"
	}
	return who.Username
}

func (w *fenceWorld) stage(t *testing.T, name string) *stage {
	return &stage{t: t, uid: w.uid, keys: maps.Clone(w.keys), admin: w.admin, ci: w.ci.Username, deed: name, tick: func() {}, gate: w.as,
		store: func(who string) state.Store {
			if who == "" {
				who = "ci"
			}
			return w.cluster(t, who).Store
		}}
}
