package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

// Argo CD calls kubectl's code in its own process, so kubectl with the same
// flags stands in for it here.
func argo(t *testing.T, options ...string) dryrun.Applier {
	t.Helper()
	return argocd.NewApplier(&argocd.Application{SyncOptions: options}, argocd.ReadSettings("argocd", nil))
}

// argoApply is Argo CD's default apply: RBAC through auth reconcile, first.
func argoApply(t *testing.T, text string, flags ...string) func() string {
	return func() string {
		t.Helper()
		for document := range strings.SplitSeq(text, "\n---\n") {
			if strings.Contains(document, "rbac.authorization.k8s.io/v1") {
				try(t, document, "auth", "reconcile", "-f", "-")
			}
		}
		return real(t, text, append([]string{"--field-manager=argocd-controller", "--validate=warn"}, flags...)...)()
	}
}

func argoServerSide(t *testing.T, text string) func() string {
	return real(t, text, "--server-side", "--force-conflicts", "--field-manager=argocd-controller", "--validate=warn")
}

func TestObjectsOfManyKindsBecomeWhatThePlanForArgoCDSaysWhoeverMadeThem(t *testing.T) {
	settle(t)
	for _, c := range []struct {
		name          string
		applier       dryrun.Applier
		made, applied func(t *testing.T, text string) func() string
	}{
		{"by default, made so", argo(t), byArgo, byArgo},
		{"by default, made server-side", argo(t), argoServerSide, byArgo},
		{"by default, made by kubectl", argo(t), byKubectlApply, byArgo},
		{"server-side, made by default", argo(t, "ServerSideApply=true"), byArgo, argoServerSide},
		{"server-side, made so", argo(t, "ServerSideApply=true"), argoServerSide, argoServerSide},
		{"server-side, made by kubectl", argo(t, "ServerSideApply=true"), byKubectlApply, argoServerSide},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, second := versions(t, "objects.yaml", kubetest.Shared(t).Namespace(t))
			c.made(t, first)()
			prove(t, c.applier, second, c.applied(t, second))
		})
	}
}

func TestObjectsThatPeopleHaveWrittenBecomeWhatThePlanForArgoCDSays(t *testing.T) {
	settle(t)
	for _, c := range []struct {
		name          string
		applier       dryrun.Applier
		made, applied func(t *testing.T, text string) func() string
	}{
		{"by default", argo(t), byArgo, byArgo},
		{"server-side", argo(t, "ServerSideApply=true"), argoServerSide, argoServerSide},
		{"server-side, made by default", argo(t, "ServerSideApply=true"), byArgo, argoServerSide},
		{"replaced", argo(t, "Replace=true"), byArgo, replaced},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			namespace := kubetest.Shared(t).Namespace(t)
			first, second := handled(t, namespace)
			c.made(t, first)()
			for name, touch := range hands() {
				touch(t, namespace, name)
			}
			prove(t, c.applier, second, c.applied(t, second))
		})
	}
}

// argoCase proves the plan of one object, and returns what was observed.
func argoCase(t *testing.T, applier dryrun.Applier, before, text string, made, applied func(t *testing.T, text string) func() string) plan.Observation {
	t.Helper()
	const border = "\n#border\n"
	both := inNamespace(t, before+border+text)
	before, text, _ = strings.Cut(both, border)
	made(t, before)()
	return prove(t, applier, text, applied(t, text))[0]
}

func byKubectlApply(t *testing.T, text string) func() string { return real(t, text) }

func byArgo(t *testing.T, text string) func() string { return argoApply(t, text) }

func replaced(t *testing.T, text string) func() string {
	return func() string { return try(t, text, "replace", "-f", "-", "--validate=warn").Combined() }
}

func replacedByForce(t *testing.T, text string) func() string {
	return func() string { return try(t, text, "replace", "--force", "-f", "-", "--validate=warn").Combined() }
}

func TestASyncOptionDecidesHowArgoCDWrites(t *testing.T) {
	live, changed := caseFile(t, "B36-job-immutable.live.yaml"), caseFile(t, "B36-job-immutable.yaml")
	forced := caseFile(t, "B36-job-immutable-argo-force.yaml")
	same := strings.ReplaceAll(forced, "migrate:2", "migrate:1")
	force := func(t *testing.T, text string) func() string { return argoApply(t, text, "--force") }
	onlyForce := argocd.NewApplier(&argocd.Application{Force: true}, argocd.ReadSettings("argocd", nil))
	for _, c := range []struct {
		name            string
		applier         dryrun.Applier
		before, text    string
		applied         func(t *testing.T, text string) func() string
		fails, replaces bool
		mode            string
	}{
		{"an immutable field", argo(t), live, changed, byArgo, true, false, plan.ModeClientSide},
		{"forced", onlyForce, live, changed, force, false, true, plan.ModeClientSide},
		{"forced, server-side, which does not count", argo(t, "ServerSideApply=true"), live,
			strings.ReplaceAll(forced, "Replace=true,", ""), argoServerSide, true, false, plan.ModeServerSide},
		{"replaced, which does not help", argo(t, "Replace=true"), live, changed, replaced, true, false, plan.ModePut},
		{"replaced by force", argo(t), live, forced, replacedByForce, false, true, plan.ModePut},
		{"replaced by force, without any difference", argo(t), same, same, replacedByForce, false, true, plan.ModePut},
		{"replaced by force, as only live says", argo(t), forced, strings.ReplaceAll(changed, "migrate:2", "migrate:3"), replacedByForce, false, true, plan.ModePut},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := argoCase(t, c.applier, c.before, c.text, byArgo, c.applied)
			assert.Equal(t, seen.Failure != nil, c.fails, "%+v", seen.Failure)
			assert.Equal(t, seen.Replace, c.replaces)
			assert.Equal(t, seen.Applier.Mode, c.mode)
		})
	}
}

func TestReplacingDropsWhatTheManifestLacks(t *testing.T) {
	before := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a, labels: {by: hand}}\ndata: {a: b, c: d}\n"
	after := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a}\ndata: {a: b}\n"
	byOthers := func(t *testing.T, text string) func() string {
		return real(t, text, "--server-side", "--field-manager=somebody")
	}
	seen := argoCase(t, argo(t, "Replace=true"), before, after, byOthers, replaced)
	assert.DeepEqual(t, texts(t, seen), []string{`- data.c: "d"`, `- metadata.labels.by: "hand"`})
}

func TestAKeyThatClientSideApplyLeftBehindGoesWithArgoCDsServerSideApply(t *testing.T) {
	live, after := caseFile(t, "B21-csa-leftover.live.yaml"), caseFile(t, "B21-csa-leftover.yaml")
	seen := argoCase(t, argo(t, "ServerSideApply=true"), live, after, byArgo, argoServerSide)
	assert.DeepEqual(t, texts(t, seen), []string{`- data.legacy: "old"`})
}

const binding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: one}
subjects: [{kind: ServiceAccount, name: a, namespace: team-a}]
`

func TestAnotherRoleReplacesABindingUnlessServerSide(t *testing.T) {
	other := strings.ReplaceAll(binding, "name: one", "name: two")
	protected := strings.ReplaceAll(binding, "namespace: team-a}\nroleRef", "namespace: team-a, annotations: {rbac.authorization.kubernetes.io/autoupdate: \"false\"}}\nroleRef")
	assert.Assert(t, protected != binding)
	seen := argoCase(t, argo(t), binding, other, byArgo, byArgo)
	assert.Assert(t, seen.Replace && seen.Failure == nil, "%+v", seen.Failure)
	seen = argoCase(t, argo(t), protected, strings.ReplaceAll(protected, "name: one", "name: two"), byArgo, byArgo)
	assert.Assert(t, !seen.Replace && seen.Failure != nil)
	seen = argoCase(t, argo(t, "ServerSideApply=true"), binding, other, byArgo, argoServerSide)
	assert.Assert(t, !seen.Replace && seen.Failure != nil)
}

func TestAnAggregationThatTheManifestLacksGoes(t *testing.T) {
	role := func(rest string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: aggregated-" + kubetest.Shared(t).Namespace(t) + "}\n" + rest
	}
	before := role("aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\nrules: []\n")
	byOthers := func(t *testing.T, text string) func() string {
		return real(t, text, "--server-side", "--field-manager=somebody")
	}
	byOthers(t, before)()
	after, _, _ := strings.Cut(before, "aggregationRule")
	after += `rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]`
	seen := prove(t, argo(t), after, byArgo(t, after))[0]
	assert.Assert(t, strings.Contains(strings.Join(texts(t, seen), "\n"), "- aggregationRule"), "%v", texts(t, seen))
}
