package flux_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
)

func TestTheFlagsOfTheControllerAreRead(t *testing.T) {
	for args, want := range map[string]flux.Controller{
		"--log-level=info --events-addr=http://x.$(RUNTIME_NAMESPACE).svc":      {},
		"--override-manager=helm --override-manager ci":                         {Overrides: []string{"helm", "ci"}},
		"--default-service-account=default":                                     {ServiceAccount: "default"},
		"--feature-gates=A=true,MigrateAPIVersion=true --feature-gates=B=false": {MigratesVersions: true},
		"--feature-gates MigrateAPIVersion=true,MigrateAPIVersion=false":        {},
	} {
		got, err := flux.ReadController(deployment(t, "manager", args))
		assert.NilError(t, err)
		assert.Equal(t, got.ServiceAccount, want.ServiceAccount)
		assert.Equal(t, got.MigratesVersions, want.MigratesVersions)
		assert.DeepEqual(t, got.Overrides, want.Overrides)
	}
	for args, want := range map[string]string{
		"--override-manager=$(WHO)":               "--override-manager: its value comes from the environment: $(WHO)",
		"--feature-gates=MigrateAPIVersion=maybe": `--feature-gates: MigrateAPIVersion is no truth value: "maybe"`,
	} {
		_, err := flux.ReadController(deployment(t, "manager", args))
		assert.Error(t, err, want)
	}
	_, err := flux.ReadController(deployment(t, "proxy", ""))
	assert.Error(t, err, "it has no container manager")
	_, err = flux.ReadController(map[string]any{"spec": "x"})
	assert.ErrorContains(t, err, "spec is of the wrong type")
}

func TestWhatTheControllerLetsABuildDoIsRead(t *testing.T) {
	for args, want := range map[string]flux.Controller{
		"--log-level=info": {},
		"--no-remote-bases --events-addr=http://x.$(RUNTIME_NAMESPACE).svc":                 {NoRemoteBases: true},
		"--no-remote-bases=false --no-cross-namespace-refs=true":                            {NoForeignSources: true},
		"--feature-gates=StrictPostBuildSubstitutions=false":                                {Lenient: true},
		"--feature-gates=StrictPostBuildSubstitutions=false,StrictPostBuildSubstitutions=1": {},
	} {
		got, err := flux.ReadController(deployment(t, "manager", args))
		assert.NilError(t, err)
		assert.DeepEqual(t, got, want)
	}
	for image, lenient := range map[string]bool{"ghcr.io/fluxcd/kustomize-controller:v1.9.6": false, "x/y:v1.8.4@sha256:ab": true, "x/y:v0.35.1": true, "x:5000/y@sha256:ab": false, "x/y:v2.0.0": false, "": false} {
		got, err := flux.ReadController(content(t, `{spec: {template: {spec: {containers: [{name: manager, image: "`+image+`"}]}}}}`))
		assert.NilError(t, err)
		assert.Equal(t, got.Lenient, lenient, image)
	}
}

func deployment(t *testing.T, container, args string) map[string]any {
	t.Helper()
	return content(t, `{spec: {template: {spec: {containers: [{name: sidecar, args: [--override-manager=x]}, {name: `+container+`, args: ["`+
		strings.Join(strings.Fields(args), `", "`)+`"]}]}}}}`)
}

func TestAnObjectIsAskedForTooEarlyWithinAStage(t *testing.T) {
	custom, err := flux.ReadController(deployment(t, "manager", "--custom-apply-stage-kinds=ServiceAccount,example.com/Crate"))
	assert.NilError(t, err)
	pod := object(t, `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a}}`)
	for _, c := range []struct {
		controller flux.Controller
		needed     manifest.Key
		late       bool
	}{
		{flux.Controller{}, manifest.Key{Kind: "Namespace", Name: "a"}, false},
		{flux.Controller{}, manifest.Key{Group: "scheduling.k8s.io", Kind: "PriorityClass", Name: "a"}, false},
		{flux.Controller{}, manifest.Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "a"}, false},
		{flux.Controller{}, manifest.Key{Kind: "ServiceAccount", Name: "a"}, true},
		{custom, manifest.Key{Kind: "ServiceAccount", Name: "a"}, false},
	} {
		treatment, err := flux.Unowned(c.controller).Treat(pod, nil)
		assert.NilError(t, err)
		assert.Equal(t, treatment.Late(c.needed), c.late, "%s", c.needed)
	}
}

func TestManagersThatTheControllerIsToldToOverrideAreTakenOver(t *testing.T) {
	for name, c := range map[string]struct {
		controller flux.Controller
		want       string
	}{
		"by default": {flux.Controller{}, `ci-bot Apply v1 ci-bot Update v1 helm Update v1 `},
		"overridden": {flux.Controller{Overrides: []string{"ci"}}, `helm Update v1 kustomize-controller Apply v1 `},
		"migrated":   {flux.Controller{MigratesVersions: true}, `ci-bot Apply v2 ci-bot Update v2 helm Update v2 `},
	} {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: content(t, `{apiVersion: v2, metadata: {name: c}}`)}
			live.SetManagedFields(append(live.GetManagedFields(), entry("ci-bot", "Apply", "", "f:a"), entry("ci-bot", "Update", "", "f:b"), entry("helm", "Update", "", "f:c")))
			treatment, err := flux.Unowned(c.controller).Treat(object(t, `{apiVersion: v2}`), live)
			assert.NilError(t, err)
			assert.NilError(t, treatment.Before(live))
			var held strings.Builder
			for _, e := range live.GetManagedFields() {
				held.WriteString(e.Manager + " " + string(e.Operation) + " " + e.APIVersion + " ")
			}
			assert.Equal(t, held.String(), c.want)
		})
	}
	merging := object(t, `{apiVersion: v2, metadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}}}`)
	live := &unstructured.Unstructured{Object: content(t, `{apiVersion: v2, metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}}`)}
	live.SetManagedFields(append(live.GetManagedFields(), entry("kubectl", "Update", "", "f:a")))
	treatment, err := flux.Unowned(flux.Controller{MigratesVersions: true}).Treat(merging, live)
	assert.NilError(t, err)
	assert.NilError(t, treatment.Before(live))
	assert.Equal(t, len(live.GetAnnotations()), 1)
	assert.Equal(t, live.GetManagedFields()[0].Manager+live.GetManagedFields()[0].APIVersion, "kubectlv2")
}
