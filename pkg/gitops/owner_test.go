package gitops_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// mayRead lets alice plan ConfigMaps in team-a, and read more.
func mayPlan(t *testing.T, name string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	client := cluster(t).Client(kubetest.Admin).RbacV1()
	meta := metav1.ObjectMeta{Name: name, Namespace: "team-a"}
	rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "create", "patch", "delete"}})
	_, err := client.Roles("team-a").Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.RoleBindings("team-a").Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "alice"}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = client.RoleBindings("team-a").Delete(t.Context(), name, metav1.DeleteOptions{}) })
}

func TestOwnersAreNamedAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"kustomization/flux-system/apps": "kustomization/flux-system/apps", "Kustomization/a/b": "kustomization/a/b", "ks/a/b": "kustomization/a/b",
		"application/argocd/shop": "application/argocd/shop", "App/a/b": "application/a/b",
	} {
		ref, err := gitops.ParseRef(text)
		assert.NilError(t, err)
		assert.Equal(t, ref.String(), want)
	}
	for text, want := range map[string]string{
		"": "want kustomization/NAMESPACE/NAME", "apps": "want kustomization/NAMESPACE/NAME", "kustomization/apps": "want kustomization/NAMESPACE/NAME",
		"kustomization//apps": "want kustomization/NAMESPACE/NAME", "helmrelease/a/b": "not for a helmrelease", "a/b/c/d": "want kustomization",
	} {
		_, err := gitops.ParseRef(text)
		assert.ErrorContains(t, err, want)
	}
}

func TestAnOwnerThatIsNotThereOrNotForUsIsAnErrorOfItsOwn(t *testing.T) {
	c := cluster(t)
	flux := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {namespace: flux-system, name: "
	c.Apply(t, kubetest.Admin, "test",
		flux+"remote}\nspec: {prune: true, kubeConfig: {secretRef: {name: other}}}",
		flux+"odd}\nspec: {prune: maybe}",
		flux+"listed}\nstatus: {inventory: {entries: [{id: nonsense}]}}",
		flux+"dying, finalizers: [test/wait]}\nspec: {prune: true}",
		"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {namespace: argocd, name: remote}\nspec: {destination: {server: \"https://other.example\"}}")
	assert.NilError(t, c.Dynamic(kubetest.Admin).Resource(kustomizations()).Namespace("flux-system").Delete(t.Context(), "dying", metav1.DeleteOptions{}))
	for owner, want := range map[string]struct{ reason, text string }{
		"kustomization/flux-system/nobody": {plan.ReasonNotFound, "it does not exist"},
		"kustomization/no-such-ns/nobody":  {plan.ReasonNotFound, "it does not exist"},
		"kustomization/flux-system/remote": {plan.ReasonInvalid, "its objects live in another cluster (spec.kubeConfig names one)"},
		"kustomization/flux-system/odd":    {plan.ReasonInvalid, "spec.prune is of the wrong type: string"},
		"kustomization/flux-system/listed": {plan.ReasonInvalid, `inventory entry "nonsense" is not`},
		"kustomization/flux-system/dying":  {plan.ReasonInvalid, "it is being deleted"},
		"application/argocd/remote":        {plan.ReasonInvalid, "its destination is https://other.example"},
	} {
		_, err := planner{owner: owner}.plan(t, configMap("x", "team-a", ""))
		assert.ErrorContains(t, err, want.text)
		assert.Assert(t, strings.HasPrefix(err.Error(), "owner "+owner+": "), err.Error())
		assert.Equal(t, err.(*gitops.Error).Reason, want.reason)
	}
	mayPlan(t, "plan-only")
	_, err := planner{user: "alice", owner: "kustomization/flux-system/remote"}.plan(t, configMap("x", "team-a", ""))
	assert.ErrorContains(t, err, `it may not be read: kustomizations.kustomize.toolkit.fluxcd.io "remote" is forbidden: User "alice"`)
	assert.Equal(t, err.(*gitops.Error).Reason, plan.ReasonForbidden)
}

func TestTheSpecOfAnOwnerDecidesHowItApplies(t *testing.T) {
	c := cluster(t)
	c.Apply(t, kubetest.Admin, "test", `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {namespace: flux-system, name: decides}
spec: {prune: false, suspend: true, serviceAccountName: deployer, targetNamespace: team-b}
`, `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {namespace: argocd, name: decides}
spec: {destination: {namespace: team-b}, syncPolicy: {automated: {prune: true}, syncOptions: [ServerSideApply=true, PrunePropagationPolicy=background]}}
`)
	const here = "{apiVersion: v1, kind: ConfigMap, metadata: {name: decides}}"
	flux := planner{owner: "kustomization/flux-system/decides"}.planned(t, here)
	assert.Equal(t, flux.Changes[0].Body.Namespace, "team-b")
	assert.Equal(t, flux.Changes[0].Body.Applier, plan.HashedApplier{Mode: plan.ModeServerSide, Manager: fluxManager, Force: true})
	assert.Assert(t, !flux.Header.Prune)
	assert.DeepEqual(t, flux.Warnings, []string{
		"kustomization/flux-system/decides is suspended: Flux applies nothing of it until it is resumed",
		"planned as the caller, applied as system:serviceaccount:flux-system:deployer: admission may treat the two differently"})
	argo := planner{owner: "application/argocd/decides"}.planned(t, here)
	assert.Equal(t, argo.Changes[0].Body.Namespace, "team-b")
	assert.Equal(t, argo.Changes[0].Body.Applier, plan.HashedApplier{Mode: plan.ModeServerSide, Manager: argoManager, Force: true})
	assert.Assert(t, argo.Header.Prune)
	object, _ := argo.Changes[0].Body.Object.(map[string]any)
	assert.Equal(t, manifest.Object{Content: object}.Annotations()["argocd.argoproj.io/tracking-id"], "decides:/ConfigMap:team-b/decides")
	client := planner{owner: "application/argocd/decides"}.planned(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: own, annotations: {argocd.argoproj.io/sync-options: ServerSideApply=false}}}")
	assert.Equal(t, client.Changes[0].Body.Applier.Mode, plan.ModeClientSide)
}
