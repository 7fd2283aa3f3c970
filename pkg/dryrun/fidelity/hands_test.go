package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// hands are ways in which people write objects past their applier, by the name
// of the object that each is tried on.
func hands() map[string]func(t *testing.T, namespace, name string) {
	run := func(args ...string) func(t *testing.T, namespace, name string) {
		return func(t *testing.T, namespace, name string) {
			filled := slices.Clone(args)
			for i := range filled {
				filled[i] = strings.ReplaceAll(filled[i], "NAME", name)
			}
			kubectl(t, append(filled, "-n", namespace)...)
		}
	}
	return map[string]func(t *testing.T, namespace, name string){
		"untouched": func(*testing.T, string, string) {},
		"edited": func(t *testing.T, namespace, name string) {
			edit(t, `s/^  colour:.*/&\n  hotfix: "1"/`, "configmap/"+name, "-n", namespace)
			edit(t, `s/^  replicas: 2/&\n  minReadySeconds: 7/; s/^      containers:/&\n      - {name: sidecar, image: "registry.example\/proxy:1"}/; `+
				`s/^        - name: LEVEL/        - {name: EXTRA, value: "1"}\n&/`, "deployment/"+name, "-n", namespace)
		},
		"edited-same-field": func(t *testing.T, namespace, name string) {
			edit(t, `s/^  colour:.*/  colour: green/`, "configmap/"+name, "-n", namespace)
			edit(t, `s/value: info/value: trace/`, "deployment/"+name, "-n", namespace)
		},
		"patched":       run("patch", "configmap/NAME", "--type=merge", "-p", `{"data":{"hotfix":"1","legacy":"2"}}`),
		"patched-pod":   run("patch", "deployment/NAME", "-p", `{"spec":{"template":{"spec":{"nodeSelector":{"zone":"a"},"containers":[{"name":"c","args":["x"]}]}}}}`),
		"patched-json":  run("patch", "configmap/NAME", "--type=json", "-p", `[{"op":"remove","path":"/data/legacy"}]`),
		"patched-as-ci": run("patch", "configmap/NAME", "--field-manager=ci", "--type=merge", "-p", `{"data":{"hotfix":"1"}}`),
		"scaled":        run("scale", "deployment/NAME", "--replicas=7"),
		"restarted":     run("rollout", "restart", "deployment/NAME"),
		"labelled":      run("label", "configmap/NAME", "deployment/NAME", "by=hand"),
		"annotated":     run("annotate", "configmap/NAME", "deployment/NAME", "by=hand"),
		"new-image":     run("set", "image", "deployment/NAME", "c=registry.example/web:9"),
		"new-env":       run("set", "env", "deployment/NAME", "ADDED=1", "LEVEL=warn"),
		"limited":       run("set", "resources", "deployment/NAME", "--limits=cpu=1"),
		"paused":        run("rollout", "pause", "deployment/NAME"),
		"forgotten":     run("annotate", "configmap/NAME", "deployment/NAME", "kubectl.kubernetes.io/last-applied-configuration-"),
		"taken": func(t *testing.T, namespace, name string) {
			kubetest.Shared(t).ForceApply(t, kubetest.Admin, "somebody", strings.NewReplacer("NAME", name, "NS", namespace).Replace(
				`{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NS}, data: {colour: red, legacy: "1", theirs: x}}`))
		},
	}
}

// handled are the objects for all hands.
func handled(t *testing.T, namespace string) (first, second string) {
	t.Helper()
	one, two := versions(t, "handled.yaml", namespace)
	for name := range hands() {
		first += "\n---\n" + strings.ReplaceAll(one, "NAME", name)
		second += "\n---\n" + strings.ReplaceAll(two, "NAME", name)
	}
	return first, second
}

func TestObjectsThatPeopleHaveWrittenBecomeWhatThePlanSays(t *testing.T) {
	settle(t)
	server := []string{"--server-side"}
	forced := []string{"--server-side", "--force-conflicts"}
	for _, c := range []struct {
		name          string
		made, applied []string
		applier       dryrun.Applier
		same          bool // nothing new in the manifests
	}{
		{"server-side on server-side", server, server, dryrun.KubectlServer("", false), false},
		{"server-side on client-side", nil, server, dryrun.KubectlServer("", false), false},
		{"server-side on client-side, nothing new", nil, server, dryrun.KubectlServer("", false), true},
		{"forced on server-side", server, forced, dryrun.KubectlServer("", true), false},
		{"forced on client-side", nil, forced, dryrun.KubectlServer("", true), false},
		{"forced by another manager on client-side", nil, append(forced, "--field-manager=ci"), dryrun.KubectlServer("ci", true), false},
		{"forced by another manager on server-side", server, append(forced, "--field-manager=ci"), dryrun.KubectlServer("ci", true), false},
		{"client-side on client-side", nil, nil, dryrun.KubectlClient("", false), false},
		{"client-side on client-side, nothing new", nil, nil, dryrun.KubectlClient("", false), true},
		{"client-side on server-side", server, nil, dryrun.KubectlClient("", false), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			namespace := kubetest.Shared(t).Namespace(t)
			first, second := handled(t, namespace)
			if c.same {
				second = first
			}
			kubectlApply(t, first, c.made...)
			for name, touch := range hands() {
				touch(t, namespace, name)
			}
			prove(t, c.applier, second, real(t, second, c.applied...))
		})
	}
}
