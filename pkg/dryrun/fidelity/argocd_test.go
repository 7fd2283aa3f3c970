package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

// making is a way to apply a text for real.
type making func(t *testing.T, text string) func() string

func byKubectlApply(t *testing.T, text string) func() string { return real(t, text) }

func bySomebody(t *testing.T, text string) func() string {
	return real(t, text, "--server-side", "--field-manager=somebody")
}

func TestObjectsOfManyKindsBecomeWhatThePlanForArgoCDSaysWhoeverMadeThem(t *testing.T) {
	settle(t)
	server := withOptions("ServerSideApply=true")
	for _, c := range []struct {
		name string
		made making
		app  shop
	}{
		{"by default, made so", shop{}.syncs, shop{}},
		{"by default, made server-side", server.syncs, shop{}},
		{"by default, made by kubectl", byKubectlApply, shop{}},
		{"by default, made by somebody", bySomebody, shop{}},
		{"server-side, made by default", shop{}.syncs, server},
		{"server-side, made so", server.syncs, server},
		{"server-side, made by kubectl", byKubectlApply, server},
		{"server-side, made by somebody", bySomebody, server},
		{"replaced, made by default", shop{}.syncs, withOptions("Replace=true")},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, second := versions(t, "objects.yaml", kubetest.Shared(t).Namespace(t))
			c.made(t, first)()
			c.app.prove(t, second)
		})
	}
}

func TestObjectsThatPeopleHaveWrittenBecomeWhatThePlanForArgoCDSays(t *testing.T) {
	settle(t)
	server := withOptions("ServerSideApply=true")
	for _, c := range []struct {
		name string
		made making
		app  shop
	}{
		{"by default", shop{}.syncs, shop{}},
		{"server-side", server.syncs, server},
		{"server-side, made by default", shop{}.syncs, server},
		{"server-side without a migration, made by kubectl", byKubectlApply, withOptions("ServerSideApply=true", "ClientSideApplyMigration=false")},
		{"replaced", shop{}.syncs, withOptions("Replace=true")},
	} {
		t.Run(c.name, func(t *testing.T) {
			namespace := kubetest.Shared(t).Namespace(t)
			first, second := handled(t, namespace)
			c.made(t, first)()
			for name, touch := range hands() {
				touch(t, namespace, name)
			}
			c.app.prove(t, second)
		})
	}
}

func TestTheSharedCasesBecomeWhatThePlanForArgoCDSays(t *testing.T) {
	settle(t)
	for _, app := range []shop{{}, withOptions("ServerSideApply=true"), withOptions("Replace=true")} {
		t.Run(strings.Join(app.options, " "), func(t *testing.T) {
			namespace := kubetest.Shared(t).Namespace(t)
			live, desired := load(t, namespace)
			kubectlApply(t, live)
			kubectl(t, "scale", "deployment/b26", "--replicas=7", "-n", namespace)
			kubectl(t, "patch", "configmap/b69", "--type=merge", "-p", `{"data":{"hotfix":"1"}}`, "-n", namespace)
			app.prove(t, desired)
		})
	}
}

// argoCase proves the plan of one object, and returns what was observed.
func argoCase(t *testing.T, app shop, before, text string, made making) plan.Observation {
	t.Helper()
	const border = "\n#border\n"
	both := inNamespace(t, before+border+text)
	before, text, _ = strings.Cut(both, border)
	made(t, before)()
	return app.prove(t, text)[0]
}

func TestASyncOptionDecidesHowArgoCDWrites(t *testing.T) {
	live, changed := caseFile(t, "B36-job-immutable.live.yaml"), caseFile(t, "B36-job-immutable.yaml")
	forced := caseFile(t, "B36-job-immutable-argo-force.yaml")
	same := strings.ReplaceAll(forced, "migrate:2", "migrate:1")
	for _, c := range []struct {
		name            string
		app             shop
		before, text    string
		fails, replaces bool
		mode            string
	}{
		{"an immutable field", shop{}, live, changed, true, false, plan.ModeClientSide},
		{"forced", shop{operation: "{sync: {syncStrategy: {hook: {force: true}}}}"}, live, changed, false, true, plan.ModeClientSide},
		{"forced, server-side, which does not count", withOptions("ServerSideApply=true"), live,
			strings.ReplaceAll(forced, "Replace=true,", ""), true, false, plan.ModeServerSide},
		{"replaced, which does not help", withOptions("Replace=true"), live, changed, true, false, plan.ModePut},
		{"replaced by force", shop{}, live, forced, false, true, plan.ModePut},
		{"replaced by force, without any difference", shop{}, same, same, false, true, plan.ModePut},
		{"replaced by force, as only live says", shop{}, forced, strings.ReplaceAll(changed, "migrate:2", "migrate:3"), false, true, plan.ModePut},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := argoCase(t, c.app, c.before, c.text, shop{}.syncs)
			assert.Equal(t, seen.Failure != nil, c.fails, "%+v", seen.Failure)
			assert.Equal(t, seen.Replace, c.replaces)
			assert.Equal(t, seen.Applier.Mode, c.mode)
		})
	}
}

func TestReplacingDropsWhatTheManifestLacks(t *testing.T) {
	before := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a, labels: {by: hand}}\ndata: {a: b, c: d}\n"
	after := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a}\ndata: {a: b}\n"
	seen := argoCase(t, withOptions("Replace=true"), before, after, bySomebody)
	lines := strings.Join(texts(t, seen), "\n")
	assert.Assert(t, strings.Contains(lines, `- data.c: "d"`) && strings.Contains(lines, `- metadata.labels.by: "hand"`), lines)
}

func TestAKeyThatClientSideApplyLeftBehindGoesWithArgoCDsServerSideApply(t *testing.T) {
	live, after := caseFile(t, "B21-csa-leftover.live.yaml"), caseFile(t, "B21-csa-leftover.yaml")
	seen := argoCase(t, withOptions("ServerSideApply=true"), live, after, shop{}.syncs)
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
	seen := argoCase(t, shop{}, binding, other, shop{}.syncs)
	assert.Assert(t, seen.Replace && seen.Failure == nil, "%+v", seen.Failure)
	seen = argoCase(t, shop{}, protected, strings.ReplaceAll(protected, "name: one", "name: two"), shop{}.syncs)
	assert.Assert(t, !seen.Replace && seen.Failure != nil)
	seen = argoCase(t, withOptions("ServerSideApply=true"), binding, other, shop{}.syncs)
	assert.Assert(t, !seen.Replace && seen.Failure != nil)
}

func TestAnAggregationThatTheManifestLacksGoes(t *testing.T) {
	role := func(rest string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: aggregated-" + kubetest.Shared(t).Namespace(t) + "}\n" + rest
	}
	before := role("aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\nrules: []\n")
	bySomebody(t, before)()
	after, _, _ := strings.Cut(before, "aggregationRule")
	after += `rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]`
	seen := shop{}.prove(t, after)[0]
	assert.Assert(t, strings.Contains(strings.Join(texts(t, seen), "\n"), "- aggregationRule"), "%v", texts(t, seen))
}
