package fidelity_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

// answer is what a plan says: an object a line, below it what differs, and
// notes. The namespace's random name is NS in it.
func answer(t *testing.T, applier dryrun.Applier, namespace, text string) []string {
	t.Helper()
	made, err := plan.Build(plan.Input{Cluster: plan.Cluster{UID: "uid"}, Observations: observe(t, applier, text)})
	assert.NilError(t, err)
	var lines []string
	for _, c := range append(made.Changes, made.Unchanged...) {
		lines = append(lines, plan.Title(c))
		for _, transition := range c.Body.Transitions {
			lines = append(lines, "  "+plan.TransitionText(transition))
		}
		for _, taken := range c.Body.TakesOver {
			lines = append(lines, "  takes over "+taken.Path+" from "+taken.Manager)
		}
		for _, note := range c.Notes {
			lines = append(lines, "  note: "+note)
		}
	}
	for _, failed := range made.Failed {
		lines = append(lines, fmt.Sprintf("! %s %s: %s", failed.Key, failed.Reason, failed.Message))
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], namespace, "NS")
	}
	return lines
}

// inCase gives a case's text in a namespace.
func inCase(t *testing.T, name, namespace string) string {
	t.Helper()
	return strings.ReplaceAll(caseFile(t, name), "team-a", namespace)
}

func TestWhatClientSideApplyLeftBehindGoesOrIsNotedByApplier(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	kubectlApply(t, inCase(t, "B21-csa-leftover.live.yaml", namespace))
	text := inCase(t, "B21-csa-leftover.yaml", namespace)
	assert.DeepEqual(t, answer(t, dryrun.Changeward(false), namespace, text), []string{
		"= NS/ConfigMap/b21 (none)",
		"  note: live has data.legacy, held by kubectl-client-side-apply, not in the manifest",
	})
	assert.DeepEqual(t, answer(t, dryrun.KubectlServer("", false), namespace, text), []string{
		"~ NS/ConfigMap/b21 (update)",
		`  - data.legacy: "old"`,
		"  note: data.legacy goes: it is held by kubectl-client-side-apply, whose fields kubectl takes over first",
	})
	assert.DeepEqual(t, answer(t, dryrun.KubectlServer("ci", false), namespace, text), []string{
		"~ NS/ConfigMap/b21 (update)",
		`  - data.legacy: "old"`,
		"  note: data.legacy goes: it is held by kubectl-client-side-apply, whose fields ci takes over first",
		"  note: the annotation kubectl.kubernetes.io/last-applied-configuration will be gone",
	})
	assert.DeepEqual(t, answer(t, dryrun.KubectlClient("", false), namespace, text), []string{
		"~ NS/ConfigMap/b21 (update)",
		`  - data.legacy: "old"`,
	})
}

func TestAHandEditThatStaysIsNoted(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	text := inCase(t, "B69-hand-edit.yaml", namespace)
	kubetest.Shared(t).Apply(t, kubetest.Admin, "kustomize-controller", text)
	kubectl(t, "patch", "configmap/b69", "--type=merge", "-p", `{"data":{"hotfix":"1"}}`, "-n", namespace)
	for _, applier := range []dryrun.Applier{dryrun.Changeward(false), dryrun.KubectlServer("", false)} {
		assert.DeepEqual(t, answer(t, applier, namespace, text), []string{
			"= NS/ConfigMap/b69 (none)",
			"  note: live has data.hotfix, held by kubectl-patch, not in the manifest",
		})
	}
}

func TestAHandEditIsNotedByItsTopmostFieldsAndNotByDefaults(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	first, _ := handled(t, namespace)
	kubectlApply(t, first)
	hands()["edited"](t, namespace, "edited")
	lines := strings.Join(answer(t, dryrun.Changeward(true), namespace, first), "\n")
	for _, path := range []string{"spec.minReadySeconds", `spec.template.spec.containers[name="sidecar"]`,
		`spec.template.spec.containers[name="c"].env[name="EXTRA"]`} {
		assert.Assert(t, strings.Contains(lines, "live has "+path+", held by kubectl-edit, not in the manifest"), "%s in %s", path, lines)
	}
	assert.Assert(t, !strings.Contains(lines, "terminationMessagePath") && !strings.Contains(lines, "progressDeadline"), lines)
	assert.Equal(t, strings.Count(lines, "  note: live has"), 4, lines) // and the ConfigMap's hotfix
}

func TestDataThatWasOnceStringDataStaysAndIsNoted(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	kubetest.Shared(t).Apply(t, kubetest.Admin, dryrun.Manager, inCase(t, "B27-stringdata.live.yaml", namespace))
	assert.DeepEqual(t, answer(t, dryrun.Changeward(false), namespace, inCase(t, "B27-stringdata.yaml", namespace)), []string{
		"~ NS/Secret/b27 (update)",
		"  + data.username: (masked)",
		"  note: live has data.user, held by changeward, not in the manifest",
	})
	assert.DeepEqual(t, answer(t, dryrun.Changeward(false), namespace, inCase(t, "B27-stringdata.live.yaml", namespace)), []string{
		"= NS/Secret/b27 (none)",
	})
}

func TestAnImmutableJobIsReplacedWithForceAndAnErrorWithout(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	kubectlApply(t, inCase(t, "B36-job-immutable.live.yaml", namespace))
	text := inCase(t, "B36-job-immutable.yaml", namespace)
	for _, applier := range []dryrun.Applier{dryrun.KubectlClient("", false), dryrun.KubectlServer("", true)} {
		lines := answer(t, applier, namespace, text)
		assert.Equal(t, len(lines), 1, "%v", lines)
		assert.Assert(t, strings.HasPrefix(lines[0], "! NS/Job.batch/b36 Immutable: "), lines[0])
	}
	seen := observe(t, dryrun.KubectlClient("", true), text)
	made, err := plan.Build(plan.Input{Cluster: plan.Cluster{UID: "uid"}, Observations: seen})
	assert.NilError(t, err)
	body := made.Changes[0].Body
	assert.Equal(t, body.Operation, plan.Replace)
	assert.Assert(t, body.LiveUID != "")
	assert.DeepEqual(t, body.Applier, plan.HashedApplier{Mode: plan.ModeClientSide, Manager: "kubectl-client-side-apply", Force: true})
	assert.Assert(t, !made.Reversible)
	encoded, err := plan.Encode(made)
	assert.NilError(t, err)
	decoded, err := plan.Decode(encoded)
	assert.NilError(t, err)
	assert.Equal(t, decoded.Hash, made.Hash)
}

func TestAReplaceThatCouldNotBeCreatedAgainIsAnError(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	first, _ := versions(t, "handled.yaml", namespace)
	text := strings.ReplaceAll(first, "NAME", "kept")
	kubectlApply(t, text)
	lines := answer(t, dryrun.KubectlClient("", true), namespace, strings.Replace(text, "replicas: 2", "replicas: -1", 1))
	assert.DeepEqual(t, lines[1:], []string{
		"! NS/Deployment.apps/kept Invalid: the applier would delete this object and fail to create it again: " +
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
	})
	kubectl(t, "get", "deployment/kept", "-n", namespace)
}

func TestAReplaceOfAServiceWithAPortOfItsOwnIsNoConflictWithItself(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	text := `
apiVersion: v1
kind: Service
metadata: {name: fixed, namespace: ` + namespace + `}
spec: {type: NodePort, clusterIP: 10.0.77.7, selector: {a: b}, ports: [{port: 80, nodePort: 30777}]}
`
	kubectlApply(t, text)
	seen := prove(t, replacing(func(error) bool { return true }), text,
		func() string { return try(t, text, "replace", "--force", "-f", "-").Combined() })
	assert.Assert(t, seen[0].Replace)
	assert.Equal(t, len(seen[0].Admission), 3, "%v", seen[0].Admission) // clusterIPs and families
}

func TestAKindWhoseNamesAreBoundCannotBeReplacedUnseen(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	first, _ := versions(t, "objects.yaml", namespace)
	for document := range strings.SplitSeq(first, "\n---\n") {
		if strings.Contains(document, "kind: CustomResourceDefinition") {
			kubectlApply(t, document)
			assert.DeepEqual(t, answer(t, replacing(func(error) bool { return true }), namespace, document), []string{
				"! CustomResourceDefinition.apiextensions.k8s.io/extras.NS.example.com Invalid: " +
					"the applier would delete this object and create it again, which could not be checked: its kind allows no other name",
			})
		}
	}
}

func TestAnObjectTooLargeForLastAppliedIsAnErrorOfClientSideApplyOnly(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large","namespace":"` + namespace + `"},"data":{"a":"` +
		strings.Repeat("x", 400_000) + `"}}`
	lines := answer(t, dryrun.KubectlClient("", false), namespace, text)
	assert.DeepEqual(t, lines, []string{"! NS/ConfigMap/large TooLarge: metadata.annotations: Too long: may not be more than 262144 bytes"})
	assert.DeepEqual(t, answer(t, dryrun.KubectlServer("", false), namespace, text), []string{"+ NS/ConfigMap/large (create)"})
}

func TestAnApplierThatKnowsNoHooksCannotApplyAGeneratedName(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	_, hook, _ := strings.Cut(inCase(t, "B17-generate-name.yaml", namespace), "\n---\n")
	sibling := "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b17-sibling, namespace: " + namespace + "}}\n"
	for _, applier := range []dryrun.Applier{dryrun.KubectlClient("", false), dryrun.KubectlServer("", false), fluxApplier(t, apps())} {
		assert.DeepEqual(t, answer(t, applier, namespace, hook+sibling), []string{
			"+ NS/ConfigMap/b17-sibling (create)",
			"! NS/Job.batch/b17-presync- GenerateName: generateName cannot be applied: apply needs a name, and this applier knows no hooks",
		})
	}
	assert.Equal(t, answer(t, dryrun.Changeward(false), namespace, hook)[0], "> NS/Job.batch/b17-presync- (hook PreSync)")
}
