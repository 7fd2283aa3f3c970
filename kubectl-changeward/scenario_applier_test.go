package main

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/kubetest"
)

// lastApplied makes the shop's ConfigMap what kubectl apply would have made it:
// with one key more than the manifest, and its bookkeeping.
func (s shop) lastApplied(t *testing.T) {
	t.Helper()
	maps := s.Dynamic(kubetest.Admin).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(s.namespace)
	assert.NilError(t, maps.Delete(t.Context(), "shop-config", metav1.DeleteOptions{}))
	object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"currency": "EUR", "legacy": "1"},
		"metadata": map[string]any{"name": "shop-config", "namespace": s.namespace, "annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": s.yaml(
				`{"apiVersion":"v1","data":{"currency":"EUR","legacy":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"shop-config","namespace":"NS"}}`),
		}}}
	_, err := maps.Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"})
	assert.NilError(t, err)
}

func TestEachApplierGetsThePlanOfWhatItWouldDo(t *testing.T) {
	s := shared(t).open(t)
	s.lastApplied(t)
	const legacy = `data.legacy: - "1"`
	for _, c := range []struct {
		flags    string
		prints   []string
		without  string
		appliers string // in JSON
	}{
		{"--applier changeward", []string{"note: live has data.legacy, held by kubectl-client-side-apply, not in the manifest"}, legacy,
			`"name": "changeward", "mode": "server-side", "manager": "changeward", "force": false`},
		{"--applier kubectl-server", []string{legacy, "note: data.legacy goes: it is held by kubectl-client-side-apply"}, "not in the manifest",
			`"name": "kubectl-server", "mode": "server-side", "manager": "kubectl", "force": false`},
		{"--applier kubectl-server --field-manager ci --force-conflicts", []string{legacy, "last-applied-configuration will be gone", "(update, force)"}, "not in the manifest",
			`"name": "kubectl-server", "mode": "server-side", "manager": "ci", "force": true`},
		{"--applier flux", []string{legacy, "note: data.legacy goes: it is held by kubectl-client-side-apply", "note: its Kustomization is not known"}, "not in the manifest",
			`"name": "flux", "mode": "server-side", "manager": "kustomize-controller", "force": true`},
		{"--applier argocd", []string{legacy, "(update, client-side)", "note: its Application is not known"}, "not in the manifest",
			`"name": "argocd", "mode": "client-side", "manager": "argocd-controller", "force": false`},
		{"--applier kubectl-client --force", []string{legacy, "(update, client-side, force)"}, "note:",
			`"name": "kubectl-client", "mode": "client-side", "manager": "kubectl-client-side-apply", "force": true`},
		{"", []string{legacy, "(update, client-side)", "note: planned as `kubectl apply`, which was the last to apply it: a guess"}, "not in the manifest",
			`"name": "kubectl-client", "mode": "client-side", "manager": "kubectl-client-side-apply", "force": false`},
	} {
		args := append([]string{"plan", "-f", s.dir}, strings.Fields(c.flags)...)
		text := s.as("bob").run(t, args...).exits(t, 0).prints(t, c.prints...)
		assert.Assert(t, !strings.Contains(text.stdout, c.without), text.stdout)
		json := s.as("bob").run(t, append(args, "-o", "json")...).exits(t, 0)
		assert.Assert(t, strings.Contains(strings.Join(strings.Fields(json.stdout), " "), c.appliers), "%s in %s", c.appliers, json.stdout)
	}
}

func TestAnApprovalForOneApplierDoesNotOpenAnother(t *testing.T) {
	s := shared(t).open(t)
	fresh := s.write(t, "fresh.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: fresh, namespace: NS}}")
	hashes := map[string]bool{}
	for _, flags := range []string{"--applier=changeward", "--applier=changeward --force-conflicts", "--applier=kubectl-server",
		"--applier=kubectl-server --field-manager=ci", "--applier=kubectl-client", "--applier=kubectl-client --force", "--applier=flux", "--applier=argocd"} {
		answer := s.as("bob").run(t, append([]string{"plan", "-f", fresh, "-o", "json"}, strings.Fields(flags)...)...)
		_, hash, _ := strings.Cut(answer.stdout, `"hash": "`)
		hash, _, _ = strings.Cut(hash, `"`)
		assert.Assert(t, !hashes[hash] && hash != "", "%s: %s", flags, answer.stdout)
		hashes[hash] = true
	}
}

func TestFlagsOfAppliersThatDoNotGoTogetherAreRefused(t *testing.T) {
	s := shared(t).open(t)
	for flags, problem := range map[string]string{
		"--applier helm":                                              "--applier helm: there are auto, changeward, kubectl-client, kubectl-server, argocd, flux",
		"--field-manager ci":                                          "--field-manager goes with --applier kubectl-client or kubectl-server: auto has its own",
		"--applier changeward --field-manager ci":                     "--field-manager goes with --applier kubectl-client or kubectl-server: changeward has its own",
		"--applier kubectl-server --field-manager=":                   "--field-manager is empty",
		"--applier kubectl-client --force-conflicts":                  "--force-conflicts: a client-side apply knows no conflicts",
		"--applier flux --force-conflicts":                            "--force-conflicts: flux takes fields over in its own way",
		"--applier argocd --force":                                    "--force goes with --applier kubectl-client",
		"--applier argocd --field-manager ci":                         "--field-manager goes with --applier kubectl-client or kubectl-server: argocd has its own",
		"--applier kubectl-server --force":                            "--force goes with --applier kubectl-client",
		"--force":                                                     "--force goes with --applier kubectl-client",
		"--applier changeward --owner kustomization/flux-system/apps": "--applier and --owner: the owner says how it applies",
		"--force-conflicts --owner application/argocd/shop":           "--force-conflicts and --owner: the owner says how it applies",
	} {
		for _, verb := range []string{"plan", "gate"} {
			s.as("bob").run(t, append([]string{verb, "-f", s.dir}, strings.Fields(flags)...)...).exits(t, 1).tells(t, problem)
		}
	}
	s.as("bob").complete(t, "plan", "--applier", "").exits(t, 0).prints(t, "auto\n", "changeward\n", "kubectl-client\n", "kubectl-server\n", "argocd\n", "flux\n")
}

func TestAnObjectOfAControllerIsPlannedAsThatWouldAndKeepsItsMarks(t *testing.T) {
	s := shared(t).open(t)
	const object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NS%s}, data: {a: VALUE}}"
	of := func(name, value, marks string) string {
		return s.yaml(strings.NewReplacer("NAME", name, "VALUE", value).Replace(fmt.Sprintf(object, marks)))
	}
	s.Apply(t, kubetest.Admin, "kustomize-controller", of("fluxed", `"1"`,
		", labels: {kustomize.toolkit.fluxcd.io/name: ghost, kustomize.toolkit.fluxcd.io/namespace: flux-system}"))
	s.Apply(t, kubetest.Admin, "argocd-controller", of("synced", `"1"`, `, annotations: {argocd.argoproj.io/tracking-id: "ghost:/ConfigMap:NS/synced"}`))
	file := s.write(t, "owned.yaml", of("fluxed", `"2"`, "")+"\n---\n"+of("synced", `"2"`, ""))
	text := s.as("bob").run(t, "plan", "-f", file).exits(t, 0).prints(t,
		"planned as by kustomize-controller, which was the last to apply it: a guess, to be settled with --owner", "its Kustomization is not known",
		"planned as by argocd-controller, which was the last to apply it: a guess, to be settled with --owner", "its Application is not known",
		"gitops-owned: kustomization/flux-system/ghost (claimed, not verified)")
	for _, mark := range []string{"labels", "tracking-id: -", "never touches", "reverts"} {
		assert.Assert(t, !strings.Contains(text.stdout, mark), "%s in %s", mark, text.stdout)
	}
}
