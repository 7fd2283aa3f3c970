package argocd_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/manifest"
)

func TestKindsThatTheInstallExcludesAreNotApplied(t *testing.T) {
	object := func(apiVersion, kind string) manifest.Object {
		return manifest.Object{Content: content(t, "{apiVersion: "+apiVersion+", kind: "+kind+", metadata: {name: a, namespace: b}}")}
	}
	const here, elsewhere = `clusters: ["https://kubernetes.default.svc"]`, `clusters: ["https://other.example"]`
	for name, c := range map[string]struct {
		data    map[string]string
		object  manifest.Object
		skipped bool
	}{
		"a ConfigMap":                     {nil, object("v1", "ConfigMap"), false},
		"an Event":                        {nil, object("v1", "Event"), true},
		"an Event of the newer group":     {nil, object("events.k8s.io/v1", "Event"), true},
		"a Lease":                         {nil, object("coordination.k8s.io/v1", "Lease"), true},
		"excluded by group":               {map[string]string{"resource.exclusions": `[{apiGroups: ["*.example.com"]}]`}, object("a.example.com/v1", "Crate"), true},
		"excluded by kind":                {map[string]string{"resource.exclusions": `[{kinds: [Crate]}]`}, object("a.example.com/v1", "Crate"), true},
		"excluded, both must fit":         {map[string]string{"resource.exclusions": `[{apiGroups: [b.example.com], kinds: [Crate]}]`}, object("a.example.com/v1", "Crate"), false},
		"excluded here":                   {map[string]string{"resource.exclusions": `[{kinds: ["*"], ` + here + `}]`}, object("v1", "ConfigMap"), true},
		"excluded elsewhere":              {map[string]string{"resource.exclusions": `[{kinds: ["*"], ` + elsewhere + `}]`}, object("v1", "ConfigMap"), false},
		"not included":                    {map[string]string{"resource.inclusions": `[{apiGroups: [apps]}]`}, object("v1", "ConfigMap"), true},
		"included":                        {map[string]string{"resource.inclusions": `[{apiGroups: [apps, ""]}]`}, object("v1", "ConfigMap"), false},
		"other kinds included elsewhere":  {map[string]string{"resource.inclusions": `[{apiGroups: [apps], ` + elsewhere + `}]`}, object("v1", "ConfigMap"), false},
		"included does not help a Lease":  {map[string]string{"resource.inclusions": `[{kinds: ["*"]}]`}, object("coordination.k8s.io/v1", "Lease"), true},
		"groups may be listed in a brace": {map[string]string{"resource.exclusions": `[{apiGroups: ["{a,b}.example.com"]}]`}, object("a.example.com/v1", "Crate"), true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := argocd.NewApplier(&argocd.Application{}, argocd.ReadSettings("argocd", c.data)).Treat(c.object, nil)
			assert.NilError(t, err)
			assert.Equal(t, strings.Contains(got.Skip, "its settings exclude the kind"), c.skipped, got.Skip)
		})
	}
}

func TestSettingsThatArgoCDCannotReadFailEachObject(t *testing.T) {
	for key, value := range map[string]string{
		"resource.exclusions":                           "a: b",
		"resource.inclusions":                           "[",
		"resource.customizations":                       "[]",
		"resource.compareoptions":                       "[]",
		"resource.customizations.ignoreDifferences.a":   "[]",
		"resource.customizations.ignoreDifferences.a_b": "jsonPointers: 1",
		"resource.customizations.health.a_b_c":          "x",
		"resource.customizations.unknown.a_b":           "x",
	} {
		t.Run(key, func(t *testing.T) {
			applier := argocd.NewApplier(&argocd.Application{}, argocd.ReadSettings("argocd", map[string]string{key: value}))
			_, err := applier.Treat(manifest.Object{Content: configMap(t, "")}, nil)
			assert.ErrorContains(t, err, key+" of ConfigMap argocd-cm")
		})
	}
}
