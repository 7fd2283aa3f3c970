package dryrun_test

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/kubetest"
)

func TestWhatLivesInANamespaceOfTheSameSetIsPlannedAndMarked(t *testing.T) {
	want := []string{
		"+ b12-new/ConfigMap/settings (create) its namespace is created by this plan",
		"+ Namespace/b12-new (create)",
		`! b12-typo/ConfigMap/settings NotFound: namespaces "b12-typo" not found`,
	}
	assert.DeepEqual(t, planned(t, caseFile(t, "B12-namespace-and-objects.yaml")), want)
	_, err := cluster(t).Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), "b12-new", metav1.GetOptions{})
	assert.ErrorContains(t, err, "not found")
}

func TestWhatIsOfAKindOfTheSameSetIsPlannedAndMarked(t *testing.T) {
	assert.DeepEqual(t, planned(t, caseFile(t, "B13-crd-and-cr.yaml")), []string{
		"+ CustomResourceDefinition.apiextensions.k8s.io/widgets.demo.example.com (create)",
		"+ team-a/Widget.demo.example.com/b13 (create) its kind is defined by this plan",
		"! team-a/Gadget.demo.example.com/b13-no-crd-anywhere UnknownKind: the server does not know the kind Gadget of demo.example.com/v1, and no definition of it is in the manifests",
	})
}

func TestAnObjectThatIsAsItShouldBeIsUnchanged(t *testing.T) {
	for _, name := range []string{"B18-port-default-protocol", "B31-empty-vs-absent"} {
		live(t, name)
		deployment := strings.ToLower(name[:3])
		assert.DeepEqual(t, planned(t, caseFile(t, name+".yaml")), []string{"= team-a/Deployment.apps/" + deployment + " (none)"})
	}
}

func TestEmptyMembersDoNotChangeTheHash(t *testing.T) {
	live(t, "B31-empty-vs-absent")
	_, with := observation{}.plan(t, caseFile(t, "B31-empty-vs-absent.yaml"))
	_, without := observation{}.plan(t, caseFile(t, "B31-empty-vs-absent.live.yaml"))
	assert.Equal(t, with, without)
}

func TestTheServerDecidesWhetherQuantitiesAreEqual(t *testing.T) {
	live(t, "B25-quantities")
	assert.DeepEqual(t, planned(t, caseFile(t, "B25-quantities.yaml")), []string{
		"~ team-a/Deployment.apps/b25 (update)",
		`spec.template.spec.containers[name="c"].resources.limits.memory: "1Gi" → "1073741824"`,
	})
}

func TestReplicasThatNobodyElseHoldsFallToTheDefault(t *testing.T) {
	live(t, "B26-hpa-replicas")
	assert.DeepEqual(t, planned(t, caseFile(t, "B26-hpa-replicas-removed.yaml")), []string{
		"~ team-a/Deployment.apps/b26 (update)", "spec.replicas: 2 → 1",
	})
}

func TestReplicasOfAnAutoscalerConflictOrAreTakenOver(t *testing.T) {
	named := func(name string) string { return strings.ReplaceAll(caseFile(t, name), "b26", "b26-scaled") }
	c := cluster(t)
	c.Apply(t, kubetest.Admin, "changeward", named("B26-hpa-replicas.live.yaml"))
	_, err := c.Client(kubetest.Admin).AppsV1().Deployments("team-a").Patch(t.Context(), "b26-scaled", types.MergePatchType,
		[]byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{FieldManager: "kubectl"}, "scale")
	assert.NilError(t, err)
	assert.DeepEqual(t, planned(t, named("B26-hpa-replicas-removed.yaml")), []string{"= team-a/Deployment.apps/b26-scaled (none)"})
	assert.DeepEqual(t, planned(t, named("B26-hpa-replicas.yaml")), []string{
		"! team-a/Deployment.apps/b26-scaled Conflict: spec.replicas is held by kubectl (subresource scale)",
		"  spec.replicas, held by kubectl (subresource scale), would become 2",
	})
	lines, _ := observation{force: true}.plan(t, named("B26-hpa-replicas.yaml"))
	assert.DeepEqual(t, lines, []string{
		"~ team-a/Deployment.apps/b26-scaled (update)", "spec.replicas: 7 → 2",
		"  takes over spec.replicas from kubectl (subresource scale)",
	})
}

func TestAConflictNamesFieldManagerAndWhatTheValueWouldBecome(t *testing.T) {
	createAs(t, "kubectl-client-side-apply", caseFile(t, "B22-conflict.live.yaml"))
	const path = `spec.template.spec.containers[name="c"].env[name="LEVEL"].value`
	assert.DeepEqual(t, planned(t, caseFile(t, "B22-conflict.yaml")), []string{
		"! team-a/Deployment.apps/b22 Conflict: " + path + " is held by kubectl-client-side-apply",
		"  " + path + `, held by kubectl-client-side-apply, would become "debug"`,
	})
	seen := observation{}.observe(t, caseFile(t, "B22-conflict.yaml"))
	holder := seen[0].Holders[path]
	assert.Equal(t, holder.Manager, "kubectl-client-side-apply")
	assert.Assert(t, !holder.Time.IsZero())
	lines, _ := observation{force: true}.plan(t, caseFile(t, "B22-conflict.yaml"))
	assert.DeepEqual(t, lines, []string{
		"~ team-a/Deployment.apps/b22 (update)", path + `: "info" → "debug"`,
		"  takes over " + path + " from kubectl-client-side-apply",
	})
}

func TestOneEntryTwiceInTheManifestNamesListAndKey(t *testing.T) {
	createAs(t, "kubectl-create", caseFile(t, "B20-duplicate-env.live.yaml"))
	assert.DeepEqual(t, planned(t, caseFile(t, "B20-duplicate-env.yaml")), []string{
		`! team-a/Deployment.apps/b20 Invalid: spec.template.spec.containers[name="c"].env: duplicate entries for key [name="MODE"]`,
	})
}

func TestOneEntryTwiceInLiveLosesNothing(t *testing.T) {
	renamed := func(name string) string { return strings.ReplaceAll(caseFile(t, name), "b20", "b20-fixed") }
	createAs(t, "kubectl-create", renamed("B20-duplicate-env.live.yaml"))
	lines := planned(t, renamed("B20-duplicate-env-fixed.yaml"))
	assert.Assert(t, len(lines) >= 2 && strings.Contains(lines[0], "Conflict") && strings.Contains(lines[1], "held by kubectl-create"), "%v", lines)
	seen := observation{force: true}.observe(t, renamed("B20-duplicate-env-fixed.yaml"))
	env := envOf(seen[0].Merged)
	assert.DeepEqual(t, env, []any{
		map[string]any{"name": "MODE", "value": "b"}, map[string]any{"name": "ZONE", "value": "z1"},
	})
}

func TestHooksAreNotDryRun(t *testing.T) {
	asked := 0
	config := meddled(t, http.MethodPatch, func(int64) { asked++ })
	lines, _ := observation{config: config}.plan(t, `
apiVersion: batch/v1
kind: Job
metadata: {generateName: migrate-, namespace: team-a, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "a:1"}]}}}
`)
	assert.DeepEqual(t, lines, []string{"> team-a/Job.batch/migrate- (hook PreSync)"})
	assert.Equal(t, asked, 0)
}
