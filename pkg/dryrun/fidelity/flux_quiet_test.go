package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/kubetest"
)

const ignoring = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "registry.example/c:1", resources: {limits: {cpu: "1"}}}]}
`

func TestWhatAKustomizationIgnoresStaysAsItIs(t *testing.T) {
	k := apps()
	k.Ignore = []flux.IgnoreRule{{Paths: []string{"/spec/replicas", "/spec/template/spec/containers/0/resources/limits/cpu"},
		Target: &flux.IgnoreScope{Kind: "Deploy.*"}}}
	image := strings.ReplaceAll(ignoring, "c:1", "c:2")
	scaled := func(args ...string) func(t *testing.T, namespace, before string) {
		return func(t *testing.T, namespace, before string) {
			byFlux(t, namespace, before)
			kubectl(t, append(args, "deployment/web", "-n", namespace)...)
		}
	}
	byHand := scaled("scale", "--replicas=7")
	byController := scaled("patch", "--subresource=scale", "--type=merge", "-p", `{"spec":{"replicas":7}}`)
	byApply := func(manager string) func(t *testing.T, namespace, before string) {
		return func(t *testing.T, namespace, before string) {
			byFlux(t, namespace, before)
			said := try(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: `+namespace+`}, spec: {`+
				`replicas: 7, template: {spec: {containers: [{name: c, resources: {limits: {cpu: "2"}}}]}}, selector: {matchLabels: {app: web}}}}`,
				"apply", "-f", "-", "--server-side", "--force-conflicts", "--field-manager="+manager)
			assert.Equal(t, said.ExitCode, 0, said.Combined())
		}
	}
	replicas, cpu := "  spec.replicas: 7 → 2", `limits.cpu: "2" → "1"`
	for _, c := range []struct {
		name          string
		k             *flux.Kustomization
		manifest      string
		hands         func(t *testing.T, namespace, before string)
		contains, not string
	}{
		{"nobody ignores", apps(), ignoring, byHand, replicas, ""},
		{"scaled by a controller", k, ignoring, byController, "", "spec"},
		{"scaled by kubectl", k, ignoring, byHand, "", "spec"},
		{"scaled, and something else is new", k, image, byHand, "c:2", "replicas"},
		{"applied by another", k, ignoring, byApply("vpa"), "", "spec"},
		{"applied by another, and something else is new", k, image, byApply("vpa"), "c:2", replicas},
		{"applied by another, which counts", k, image, byApply("vpa"), "c:2", cpu},
		{"applied by kubectl, and something else is new", k, image, byApply("kubectl"), "c:2", replicas},
		{"never in Git, and nobody touches it", k, strings.ReplaceAll(image, `replicas: 2`, ""), byFlux, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := fluxCase(t, c.k, ignoring, c.manifest, c.hands)["web"]
			got := strings.Join(texts(t, seen), "\n")
			assert.Assert(t, strings.Contains(got, c.contains), got)
			assert.Assert(t, c.not == "" || !strings.Contains(got, c.not), got)
		})
	}
}

func TestFluxSendsNothingForWhatItDoesNotCompare(t *testing.T) {
	before := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a}\ndata: {a: b}\n"
	finalizer := strings.ReplaceAll(before, "namespace: team-a", `namespace: team-a, finalizers: ["example.com/keep"]`)
	assert.Equal(t, len(texts(t, fluxCase(t, apps(), before, finalizer, byFlux)["c"])), 0)
	labelled := strings.ReplaceAll(finalizer, "namespace: team-a", "namespace: team-a, labels: {a: b}")
	got := strings.Join(texts(t, fluxCase(t, apps(), before, labelled, byFlux)["c"]), "\n")
	assert.Assert(t, strings.Contains(got, "metadata.labels.a") && strings.Contains(got, "metadata.finalizers"), got)
}

func TestObjectsThatPeopleHaveWrittenBecomeWhatThePlanForFluxSays(t *testing.T) {
	settle(t)
	for _, c := range []struct {
		name string
		made func(t *testing.T, text string)
		same bool // nothing new in the manifests
	}{
		{"made by Flux", func(t *testing.T, text string) { fluxApply(t, apps(), text)() }, false},
		{"made by Flux, nothing new", func(t *testing.T, text string) { fluxApply(t, apps(), text)() }, true},
		{"made by kubectl", func(t *testing.T, text string) { kubectlApply(t, text) }, false},
		{"made by kubectl, server-side", func(t *testing.T, text string) { kubectlApply(t, text, "--server-side") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			namespace := kubetest.Shared(t).Namespace(t)
			first, second := handled(t, namespace)
			if c.same {
				second = first
			}
			c.made(t, first)
			for name, touch := range hands() {
				touch(t, namespace, name)
			}
			proveFlux(t, apps(), second)
		})
	}
}
