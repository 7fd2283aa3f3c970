package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

// inNamespace moves a case out of the namespace that it shares with others.
func inNamespace(t *testing.T, text string) string {
	t.Helper()
	return strings.ReplaceAll(text, "namespace: team-a", "namespace: "+kubetest.Shared(t).Namespace(t))
}

// fluxCase loads what was there, by one hand and then another, and proves the
// plan of a text in the same namespace.
func fluxCase(t *testing.T, k *flux.Kustomization, before, text string, hands func(t *testing.T, namespace, before string)) map[string]plan.Observation {
	t.Helper()
	const border = "\n#border\n"
	both := inNamespace(t, before+border+text)
	before, text, _ = strings.Cut(both, border)
	_, rest, _ := strings.Cut(both, "namespace: ")
	hands(t, rest[:strings.IndexAny(rest, ",}\n")], before)
	out := map[string]plan.Observation{}
	for _, o := range proveFlux(t, k, text) {
		out[o.Object.Name()] = o
	}
	return out
}

func byFlux(t *testing.T, _, before string) { fluxApply(t, apps(), before)() }

func byKubectl(t *testing.T, _, before string) { real(t, before)() }

func TestAKeyThatClientSideApplyLeftBehindGoesWhenFluxApplies(t *testing.T) {
	seen := fluxCase(t, apps(), caseFile(t, "B21-csa-leftover.live.yaml"), caseFile(t, "B21-csa-leftover.yaml"), byKubectl)["b21"]
	assert.Assert(t, slices.Contains(texts(t, seen), `- data.legacy: "old"`), "%v", texts(t, seen))
	assert.Assert(t, strings.Contains(strings.Join(seen.Notes, "\n"), "data.legacy goes: it is held by kubectl-client-side-apply"), "%v", seen.Notes)
}

func TestARenamedKeyOfStringDataGoesWhenFluxApplies(t *testing.T) {
	seen := fluxCase(t, apps(), caseFile(t, "B27-stringdata.live.yaml"), caseFile(t, "B27-stringdata.yaml"), byFlux)["b27"]
	joined := strings.Join(texts(t, seen), "\n")
	assert.Assert(t, strings.Contains(joined, "data.user:") && strings.Contains(joined, "data.username:"), joined)
	assert.Assert(t, !strings.Contains(joined, "stringData"), joined)
}

func TestFluxReplacesWhereItIsToldToForce(t *testing.T) {
	live := caseFile(t, "B36-job-immutable.live.yaml")
	plainly := fluxCase(t, apps(), live, caseFile(t, "B36-job-immutable.yaml"), byFlux)["b36"]
	assert.Assert(t, plainly.Failure != nil && !plainly.Replace, "%+v", plainly.Failure)
	annotated := fluxCase(t, apps(), live, caseFile(t, "B36-job-immutable-force.yaml"), byFlux)["b36"]
	assert.Assert(t, annotated.Failure == nil && annotated.Replace, "%+v", annotated.Failure)
	bySpec := apps()
	bySpec.Force = true
	seen := fluxCase(t, bySpec, live, caseFile(t, "B36-job-immutable.yaml"), byFlux)["b36"]
	assert.Assert(t, seen.Failure == nil && seen.Replace, "%+v", seen.Failure)
}

const forcedDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: b36d, namespace: team-a, annotations: {kustomize.toolkit.fluxcd.io/force: enabled}}
spec:
  replicas: 0
  selector: {matchLabels: {app: b36d}}
  template:
    metadata: {labels: {app: b36d}}
    spec: {containers: [{name: c, image: "registry.example/c:1"}]}
`

func TestFluxWouldDeleteWhatItCannotCreateAgainAndThePlanSaysSo(t *testing.T) {
	both := inNamespace(t, forcedDeployment)
	fluxApply(t, apps(), both)()
	invalid := strings.ReplaceAll(both, "replicas: 0", "replicas: -1")
	seen := observe(t, fluxApplier(t, apps()), invalid)[0]
	assert.Assert(t, seen.Failure != nil && !seen.Replace)
	assert.Assert(t, strings.Contains(seen.Failure.Message, "would delete this object and fail to create it again"), seen.Failure.Message)
	assert.Assert(t, newReader(t).live(t, seen) != nil)
	fluxApply(t, apps(), invalid)()
	assert.Assert(t, newReader(t).live(t, seen) == nil, "Flux has deleted it, and not created it again")
}

func TestFluxSkipsWhatItsAnnotationsSay(t *testing.T) {
	seen := fluxCase(t, apps(), caseFile(t, "B49-flux-ssa-annotations.live.yaml"), caseFile(t, "B49-flux-ssa-annotations.yaml"),
		func(t *testing.T, _, before string) {
			real(t, before, "--server-side", "--field-manager=kustomize-controller")()
		})
	assert.Assert(t, strings.Contains(seen["b49-ifnotpresent"].Skip, "it exists"), seen["b49-ifnotpresent"].Skip)
	assert.Assert(t, strings.Contains(seen["b49-ignore"].Skip, "ssa: ignore"), seen["b49-ignore"].Skip)
	assert.Assert(t, seen["b49-live-only"].Skip == "" && len(texts(t, seen["b49-live-only"])) > 0)
	assert.Assert(t, seen["b49-absent"].Skip == "" && seen["b49-absent"].Live == nil)
}

func TestANewOrderIsAChangeForFlux(t *testing.T) {
	seen := fluxCase(t, apps(), caseFile(t, "B68-order-only.live.yaml"), caseFile(t, "B68-order-only.yaml"), byFlux)["b68"]
	assert.Equal(t, len(texts(t, seen)), 2, "%v", texts(t, seen))
}

func TestAHandEditGoesWhenFluxApplies(t *testing.T) {
	text := caseFile(t, "B69-hand-edit.yaml")
	for _, c := range []struct {
		name, ssa, want string
	}{
		{"plainly", "", `- data.hotfix: "1"`},
		{"unless live merges", "metadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := fluxCase(t, apps(), text, text, func(t *testing.T, namespace, before string) {
				byFlux(t, namespace, before)
				kubectl(t, "patch", "configmap/b69", "-n", namespace, "--type=merge", "-p", `{"data":{"hotfix":"1"}}`)
				if c.ssa != "" {
					kubectl(t, "annotate", "configmap/b69", "-n", namespace, "--field-manager=somebody", "kustomize.toolkit.fluxcd.io/ssa=merge")
				}
			})["b69"]
			assert.Equal(t, strings.Join(texts(t, seen), "\n"), c.want)
		})
	}
}
