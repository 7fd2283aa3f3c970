package gitops_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// warned is what a plan says about its owner's controller, in one text.
func (p planner) warned(t *testing.T) string {
	t.Helper()
	return strings.Join(p.planned(t, configMap("flagged", "team-a", "")).Warnings, "\n")
}

func TestTheFlagsOfFluxsControllerDecide(t *testing.T) {
	p := kustomization(t, "flagged")
	c := cluster(t)
	deployments := c.Client(kubetest.Admin).AppsV1().Deployments
	away := func(namespace, name string) {
		assert.NilError(t, deployments(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	assert.Equal(t, p.warned(t), "")

	c.Apply(t, kubetest.Admin, "test", controller("flux-system", "kustomize-controller", "--default-service-account=default", "--override-manager=somebody"))
	assert.Equal(t, p.warned(t), "planned as the caller, applied as system:serviceaccount:flux-system:default: admission may treat the two differently")
	c.Apply(t, kubetest.Admin, "somebody", strings.Replace(configMap("flagged", "team-a", ""), "{a: ", "{theirs: x, a: ", 1))
	got := p.planned(t, configMap("flagged", "team-a", ""))
	assert.Assert(t, strings.Contains(strings.Join(lines(got), "\n"), `- data.theirs: "x"`), "%v", lines(got))

	away("flux-system", "kustomize-controller")
	const without = "planned as by a kustomize-controller without flags (--override-manager and others): Deployment kustomize-controller: there are "
	assert.Equal(t, p.warned(t), without+"0 Deployments of its name")
	c.Apply(t, kubetest.Admin, "test", controller("team-a", "kustomize-controller", "--default-service-account=$(WHO)"))
	assert.Assert(t, strings.Contains(p.warned(t), "Deployment kustomize-controller cannot be understood: --default-service-account: its value comes from the environment"), p.warned(t))
	c.Apply(t, kubetest.Admin, "test", controller("team-b", "kustomize-controller"))
	assert.Equal(t, p.warned(t), without+"2 Deployments of its name")
	away("team-a", "kustomize-controller")
	assert.Equal(t, p.warned(t), "")
	away("team-b", "kustomize-controller")
	cluster(t) // it is there again
}

func TestAShardHasAControllerOfItsOwn(t *testing.T) {
	p := kustomization(t, "sharded")
	c := cluster(t)
	c.Apply(t, kubetest.Admin, "label", `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: sharded, namespace: flux-system, labels: {sharding.fluxcd.io/key: two}}}`)
	assert.Assert(t, strings.Contains(p.warned(t), "Deployment kustomize-controller-two: there are 0 Deployments of its name"), p.warned(t))
	c.Apply(t, kubetest.Admin, "test", controller("flux-system", "kustomize-controller-two"))
	assert.Equal(t, p.warned(t), "")
}

func TestFlagsThatMayNotBeReadAreSaidToBeUnknownAndThoseThatCouldNotBeReadAreAnError(t *testing.T) {
	cluster(t).Apply(t, kubetest.Admin, "test", "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: unflagged, namespace: team-a}, spec: {prune: false}}")
	mayPlan(t, "unflagged", rbacv1.PolicyRule{APIGroups: []string{"kustomize.toolkit.fluxcd.io"}, Resources: []string{"kustomizations"}, Verbs: []string{"get"}})
	p := planner{owner: "kustomization/team-a/unflagged", user: "alice"}
	assert.Assert(t, strings.Contains(p.warned(t), "Deployment kustomize-controller may not be read: "), p.warned(t))

	tools, err := gitops.FindTools(t.Context(), broken{&plan.Failure{Reason: plan.ReasonForbidden, Message: "no"}})
	assert.NilError(t, err)
	for name, want := range map[string]string{"flux": "Deployment kustomize-controller may not be read: no", "argocd": "ConfigMap argocd-cm may not be read"} {
		treatment, err := tools.Applier(name).Treat(manifest.Object{Content: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}, nil)
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(strings.Join(treatment.Notes, "\n"), want), "%v", treatment.Notes)
	}
	assert.Assert(t, tools.Applier(dryrun.Manager) == nil && tools.By("somebody", true) == nil)
	_, err = gitops.FindTools(t.Context(), broken{&plan.Failure{Reason: plan.ReasonUnreadable, Message: "the dog ate it"}})
	assert.Error(t, err, "the flags of kustomize-controller are in Deployment kustomize-controller, which cannot be read: the dog ate it")
}
