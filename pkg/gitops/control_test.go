package gitops_test

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

func application(t *testing.T, name, rest string) planner {
	t.Helper()
	cluster(t).Apply(t, kubetest.Admin, argoManager, "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: "+name+", namespace: argocd}\n"+rest)
	return planner{owner: "application/argocd/" + name}
}

func TestHooksAreListedWithAllPhasesAndOddOnesWarnedOf(t *testing.T) {
	application(t, "b47", "spec: {destination: {namespace: team-a}}")
	for _, p := range []planner{{}, {owner: "application/argocd/b47"}} {
		got := p.planned(t, caseFile(t, "B47-hook-lists.yaml"))
		titles := slices.DeleteFunc(lines(got), func(line string) bool { return strings.HasPrefix(line, " ") })
		assert.DeepEqual(t, titles, []string{
			"> team-a/Job.batch/b47-argo-case (hook)",
			"> team-a/Job.batch/b47-argo-list (hook PreSync PostSync)",
			"> team-a/Job.batch/b47-empty (hook)",
			"> team-a/Job.batch/b47-helm-list (hook pre-install pre-delete)",
			`warning: team-a/Job.batch/b47-argo-case: unknown hook phase "presync" in argocd.argoproj.io/hook`,
			`warning: team-a/Job.batch/b47-empty: unknown hook phase "" in argocd.argoproj.io/hook`,
		})
	}
}

func TestFluxKnowsNoHooks(t *testing.T) {
	got := kustomization(t, "b47").planned(t, caseFile(t, "B47-hook-lists.yaml"))
	assert.Equal(t, got.Summary().Create, 4, "%v", lines(got))
	assert.Equal(t, got.Summary().Hook, 0)
}

func TestWhatFluxSkipsIsListedAndNothingElse(t *testing.T) {
	load(t, fluxManager, "B49-flux-ssa-annotations.live.yaml")
	got := kustomization(t, "b49").planned(t, caseFile(t, "B49-flux-ssa-annotations.yaml"))
	assert.DeepEqual(t, of(got, "b49-ifnotpresent"), []string{"= team-a/ConfigMap/b49-ifnotpresent (none) Flux does not apply it: it exists, and the manifest has kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"})
	assert.DeepEqual(t, of(got, "b49-ignore"), []string{"= team-a/ConfigMap/b49-ignore (none) Flux does not apply it: the manifest has kustomize.toolkit.fluxcd.io/ssa: ignore"})
	assert.Equal(t, of(got, "b49-live-only")[0], "~ team-a/ConfigMap/b49-live-only (update)")
	assert.Assert(t, slices.Contains(of(got, "b49-live-only"), `  data.ca: "injected-at-runtime" → "placeholder"`), "%v", of(got, "b49-live-only"))
	assert.Equal(t, of(got, "b49-absent")[0], "+ team-a/ConfigMap/b49-absent (create)")
	assert.DeepEqual(t, got.Summary(), plan.Summary{Create: 1, Update: 1, None: 2})
}

func TestWhatFluxSkipsIsNotAskedForItsErrors(t *testing.T) {
	c := cluster(t)
	c.Apply(t, kubetest.Admin, "other", `{apiVersion: v1, kind: ConfigMap, metadata: {name: b49-frozen, namespace: team-a, labels: {kustomize.toolkit.fluxcd.io/reconcile: Disabled}}, immutable: true, data: {a: "1"}}`)
	got := kustomization(t, "b49-frozen").planned(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: b49-frozen, namespace: team-a}, immutable: true, data: {a: "2"}}`)
	assert.DeepEqual(t, lines(got), []string{"= team-a/ConfigMap/b49-frozen (none) Flux does not apply it: the live object has label kustomize.toolkit.fluxcd.io/reconcile: Disabled"})
	assert.Assert(t, got.Complete() && got.Empty())
}

func TestWhatArgoCDSkipsIsListed(t *testing.T) {
	p := application(t, "skips", "spec: {destination: {namespace: team-a}}\noperation: {sync: {prune: true, resources: [{kind: ConfigMap, name: skips-chosen}]}}\n"+
		"status: {resources: [{version: v1, kind: ConfigMap, namespace: team-a, name: skips-left}]}")
	cluster(t).Apply(t, kubetest.Admin, argoManager, configMap("skips-left", "team-a", `annotations: {argocd.argoproj.io/tracking-id: "skips:/ConfigMap:team-a/skips-left"}`))
	got := p.planned(t, configMap("skips-chosen", "team-a", "")+"\n---\n"+configMap("skips-other", "team-a", "")+"\n---\n"+
		configMap("skips-never", "team-a", "annotations: {argocd.argoproj.io/hook: Skip}"))
	assert.DeepEqual(t, lines(got)[:4], []string{
		"+ team-a/ConfigMap/skips-chosen (create)",
		"= team-a/ConfigMap/skips-left (none) Argo CD does not delete it: the sync that runs is about other objects",
		"= team-a/ConfigMap/skips-never (none) Argo CD does not apply it: argocd.argoproj.io/hook: Skip",
		"= team-a/ConfigMap/skips-other (none) Argo CD does not apply it: the sync that runs is about other objects",
	})
}

func TestArgoCDPrunesInTheForegroundWhatIsItsOwn(t *testing.T) {
	track := func(name, of string) string {
		return configMap(name, "team-a", `annotations: {argocd.argoproj.io/tracking-id: "prunes:/ConfigMap:team-a/`+of+`"}`)
	}
	resource := func(name string) string {
		return "{version: v1, kind: ConfigMap, namespace: team-a, name: " + name + "}"
	}
	p := application(t, "prunes", "spec: {destination: {namespace: team-a}, syncPolicy: {automated: {prune: true}}}\nstatus: {resources: ["+
		strings.Join([]string{resource("prunes-old"), resource("prunes-copied"), resource("prunes-kept")}, ", ")+
		", {group: batch, version: v1, kind: Job, namespace: team-a, name: prunes-hook, hook: true}]}")
	cluster(t).Apply(t, kubetest.Admin, argoManager, track("prunes-old", "prunes-old"), track("prunes-copied", "other"), track("prunes-kept", "prunes-kept"))
	got := p.planned(t, configMap("prunes-kept", "team-a", ""))
	assert.DeepEqual(t, lines(got), []string{
		"- team-a/ConfigMap/prunes-old (delete)", "  owner application/argocd/prunes", "  ! delete", "  ! prune",
		"= team-a/ConfigMap/prunes-copied (none) Argo CD does not delete it: the live object does not name the Application as its own",
		"= team-a/ConfigMap/prunes-kept (none)",
	})
	assert.Equal(t, got.Changes[0].Body.Delete.Propagation, "foreground")
	assert.DeepEqual(t, got.Changes[0].Body.Delete.Fields, map[string]any{"data": map[string]any{"a": "1"}, "metadata": map[string]any{
		"annotations": map[string]any{"argocd.argoproj.io/tracking-id": "prunes:/ConfigMap:team-a/prunes-old"}}})
}
