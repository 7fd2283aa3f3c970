package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

func TestManagersThatFluxIsToldToOverrideLoseWhatTheyHold(t *testing.T) {
	before := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a}\ndata: {a: b}\n"
	after := strings.ReplaceAll(before, "a: b", "a: c")
	others := func(t *testing.T, namespace, before string) {
		byFlux(t, namespace, before)
		kubectl(t, "patch", "configmap/c", "-n", namespace, "--field-manager=ci-bot", "--type=merge", "-p", `{"data":{"updated":"1"}}`)
		said := try(t, strings.ReplaceAll(before, "a: b", "applied: d"), "apply", "-f", "-", "--server-side", "--field-manager=ci-server")
		assert.Equal(t, said.ExitCode, 0, said.Combined())
	}
	for name, want := range map[string]int{"": 1, "ci": 3, "ci-server": 2} {
		k := apps()
		if name != "" {
			k.Controller.Overrides = []string{name}
		}
		got := texts(t, fluxCase(t, k, before, after, others)["c"])
		assert.Equal(t, len(got), want, "%s: %v", name, got)
	}
}

// two is a kind of two versions.
const two = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: twos.migrates.example.com}
spec:
  group: migrates.example.com
  scope: Namespaced
  names: {kind: Two, plural: twos}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}}
`

func TestAControllerThatMigratesVersionsDoesWhatThePlanSays(t *testing.T) {
	kubectlApply(t, two)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if said := try(t, "", "get", "twos.v2.migrates.example.com", "-A"); said.ExitCode != 0 {
			return poll.Continue("%s", said.Combined())
		}
		return poll.Success()
	})
	before := "apiVersion: migrates.example.com/v1\nkind: Two\nmetadata: {name: c, namespace: team-a}\nspec: {a: a, b: b}\n"
	after := strings.NewReplacer("/v1", "/v2", ", b: b", "").Replace(before)
	k := apps()
	k.Controller.MigratesVersions = true
	assert.DeepEqual(t, texts(t, fluxCase(t, k, before, after, byFlux)["c"]), []string{`- spec.b: "b"`})
}

func TestAnIgnoredFieldThatLeavesTheManifestStaysOrFailsWithWhatElseIsNew(t *testing.T) {
	k := apps()
	k.Ignore = []flux.IgnoreRule{{Paths: []string{"/spec/replicas"}}}
	left := strings.ReplaceAll(ignoring, "  replicas: 2\n", "")
	assert.Assert(t, left != ignoring)
	alone := fluxCase(t, k, ignoring, left, byFlux)["web"]
	assert.Assert(t, alone.Failure == nil && len(texts(t, alone)) == 0, "%+v", alone.Failure)
	withOthers := fluxCase(t, k, ignoring, strings.ReplaceAll(left, "c:1", "c:2"), byFlux)["web"]
	assert.Assert(t, withOthers.Failure != nil)
	assert.Assert(t, strings.Contains(withOthers.Failure.Message, "/spec/replicas"), withOthers.Failure.Message)
}

func TestFluxFailsWhereAPodNeedsAnAccountOfItsOwnStage(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	text := strings.ReplaceAll(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner, namespace: NS}
---
apiVersion: v1
kind: Pod
metadata: {name: needy, namespace: NS}
spec: {serviceAccountName: runner, containers: [{name: c, image: "registry.example/c:1"}]}
`, "NS", namespace)
	seen := observe(t, fluxApplier(t, apps()), text)
	at := slices.IndexFunc(seen, func(o plan.Observation) bool { return o.Object.Kind() == "Pod" })
	assert.Assert(t, seen[at].Failure != nil && seen[at].Unverified == "")
	assert.Equal(t, seen[at].Failure.Reason, plan.ReasonNotFound)
	assert.Assert(t, strings.Contains(seen[at].Failure.Message, "is created by this plan, but the applier asks for this object first"), seen[at].Failure.Message)

	config := kubetest.Shared(t).Config(kubetest.Admin)
	config.WarningHandler = rest.NoWarnings{}
	writer, err := client.New(config, client.Options{})
	assert.NilError(t, err)
	objects, err := utils.ReadObjects(strings.NewReader(text))
	assert.NilError(t, err)
	_, err = ssa.NewResourceManager(writer, nil, ssa.Owner{Field: "kustomize-controller", Group: flux.Group}).ApplyAllStaged(t.Context(), objects, fluxOptions(apps()))
	assert.ErrorContains(t, err, "service account")
	assert.Assert(t, newReader(t).live(t, seen[1-at]) == nil, "nothing of the stage is applied")
}

func TestWhatFluxMakesInAnEarlierStageArrivesInTime(t *testing.T) {
	text := strings.ReplaceAll(two, "migrates", "arrives") + `
---
{apiVersion: arrives.example.com/v1, kind: Two, metadata: {name: c, namespace: team-a}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: arriving}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: arriving}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: arriving}, value: 7}
---
{apiVersion: v1, kind: Pod, metadata: {name: arriving, namespace: team-a}, spec: {priorityClassName: arriving, containers: [{name: c, image: "registry.example/c:1"}]}}
`
	want := map[string]string{"Two": "its kind is defined by this plan", "ConfigMap": "its namespace is created by this plan",
		"Pod": "the PriorityClass arriving that it has is created by this plan"}
	for _, o := range observe(t, fluxApplier(t, apps()), text) {
		assert.Assert(t, o.Failure == nil, "%s: %+v", o.Object.Key(), o.Failure)
		assert.Equal(t, o.Unverified, want[o.Object.Kind()], "%s", o.Object.Key())
	}
}
