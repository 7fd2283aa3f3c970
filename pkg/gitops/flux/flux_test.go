package flux_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
)

func content(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var out map[string]any
	assert.NilError(t, yaml.Unmarshal([]byte(text), &out))
	return out
}

func object(t *testing.T, text string) manifest.Object {
	return manifest.Object{Content: content(t, text)}
}

func TestFluxSkipsAsItsControllerDoes(t *testing.T) {
	annotated := func(value string) string {
		return `{metadata: {annotations: {kustomize.toolkit.fluxcd.io/` + value + `}}}`
	}
	labelled := func(value string) string {
		return `{metadata: {labels: {kustomize.toolkit.fluxcd.io/` + value + `}}}`
	}
	for name, c := range map[string]struct{ desired, live, why string }{
		"nothing said":                       {"{}", "{}", ""},
		"new":                                {"{}", "", ""},
		"ignore on the manifest, any case":   {annotated("ssa: ignore"), "{}", "the manifest has kustomize.toolkit.fluxcd.io/ssa: ignore"},
		"ignore on a new object":             {annotated("ssa: Ignore"), "", "the manifest has"},
		"ignore on live":                     {"{}", annotated("ssa: IGNORE"), "the live object has"},
		"ignore as a label":                  {labelled("ssa: Ignore"), "{}", "label kustomize.toolkit.fluxcd.io/ssa: Ignore"},
		"ignore as a label of live":          {"{}", labelled("ssa: Ignore"), "the live object has label"},
		"reconcile disabled":                 {annotated("reconcile: Disabled"), "{}", "reconcile: Disabled"},
		"reconcile disabled on live":         {"{}", labelled("reconcile: disabled"), "the live object has label"},
		"reconcile enabled":                  {annotated("reconcile: enabled"), "{}", ""},
		"if not present, and it is":          {annotated("ssa: ifnotpresent"), "{}", "it exists, and the manifest has"},
		"if not present, and it is not":      {annotated("ssa: IfNotPresent"), "", ""},
		"if not present on live alone":       {"{}", annotated("ssa: IfNotPresent"), ""},
		"if not present as a label":          {labelled("ssa: IfNotPresent"), "{}", "label kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"},
		"merge":                              {annotated("ssa: Merge"), annotated("ssa: Merge"), ""},
		"an empty value":                     {annotated(`ssa: ""`), "{}", ""},
		"override":                           {annotated("ssa: Override"), "{}", ""},
		"prune disabled skips no apply":      {annotated("prune: disabled"), annotated("prune: disabled"), ""},
		"of another tool":                    {`{metadata: {annotations: {helm.toolkit.fluxcd.io/ssa: Ignore}}}`, "{}", ""},
		"a value with a space around is not": {annotated(`ssa: " Ignore"`), "{}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := flux.Skip(object(t, c.desired), content(t, c.live))
			assert.Equal(t, got != "", c.why != "", got)
			assert.Assert(t, strings.Contains(got, c.why), got)
		})
	}
	assert.Assert(t, flux.Forced(object(t, "{}"), content(t, annotated("force: Enabled"))))
	assert.Assert(t, flux.Forced(object(t, labelled("force: enabled")), nil))
	assert.Assert(t, !flux.Forced(object(t, annotated("force: disabled")), nil))
	assert.Assert(t, flux.Merges(content(t, annotated("ssa: merge"))) && !flux.Merges(nil))
}

func TestFluxKeepsWhatTheLiveObjectGuards(t *testing.T) {
	k := &flux.Kustomization{Namespace: "flux-system", Name: "apps", Prune: true}
	owned := func(rest string) map[string]any {
		return content(t, `{metadata: {labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system`+rest+`}}`)
	}
	for name, c := range map[string]struct {
		live map[string]any
		why  string
	}{
		"plain":                      {owned("}"), ""},
		"disabled":                   {owned("}, annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}"), "prune: disabled"},
		"Disabled":                   {owned("}, annotations: {kustomize.toolkit.fluxcd.io/prune: Disabled}"), "prune: Disabled"},
		"disabled by a label":        {owned(", kustomize.toolkit.fluxcd.io/prune: DISABLED}"), "label kustomize.toolkit.fluxcd.io/prune: DISABLED"},
		"enabled":                    {owned("}, annotations: {kustomize.toolkit.fluxcd.io/prune: enabled}"), ""},
		"reconcile disabled":         {owned("}, annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}"), "reconcile"},
		"ignored":                    {owned("}, annotations: {kustomize.toolkit.fluxcd.io/ssa: ignore}"), "ssa: ignore"},
		"Helm's word does not count": {owned("}, annotations: {helm.sh/resource-policy: keep}"), ""},
		"of another Kustomization": {content(t, `{metadata: {labels: {kustomize.toolkit.fluxcd.io/name: other, kustomize.toolkit.fluxcd.io/namespace: flux-system}}}`),
			"does not name the Kustomization"},
		"of one of the same name": {content(t, `{metadata: {labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: team-a}}}`),
			"does not name the Kustomization"},
		"without labels": {content(t, `{metadata: {}}`), "does not name the Kustomization"},
	} {
		t.Run(name, func(t *testing.T) {
			got := k.Keep(c.live)
			assert.Equal(t, got != "", c.why != "", got)
			assert.Assert(t, strings.Contains(got, c.why), got)
		})
	}
	off := *k
	off.Prune = false
	assert.Equal(t, off.Keep(owned("}")), "Flux does not delete it: spec.prune of the Kustomization is false")
	assert.DeepEqual(t, flux.Guards(owned("}, annotations: {kustomize.toolkit.fluxcd.io/prune: enabled, helm.sh/resource-policy: keep, other: x}")),
		map[string]string{"kustomize.toolkit.fluxcd.io/prune": "enabled", "helm.sh/resource-policy": "keep"})
}

func TestAKustomizationIsReadWithItsInventory(t *testing.T) {
	k, err := flux.ReadKustomization(content(t, `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system, uid: u1}
spec:
  prune: true
  force: true
  suspend: true
  serviceAccountName: deployer
  targetNamespace: shop
  commonMetadata: {labels: {team: a}}
  ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]
status:
  lastAppliedRevision: main@sha1:abc
  inventory:
    entries:
    - {id: shop_web_apps_Deployment, v: v1}
    - {id: _system__node__reader_rbac.authorization.k8s.io_ClusterRole, v: v1}
`))
	assert.NilError(t, err)
	assert.DeepEqual(t, k, &flux.Kustomization{Namespace: "flux-system", Name: "apps", UID: "u1", Suspended: true, Prune: true, Force: true,
		TargetNamespace: "shop", ServiceAccount: "deployer", CommonLabels: map[string]string{"team": "a"},
		Ignore:              []flux.IgnoreRule{{Paths: []string{"/spec/replicas"}, Target: &flux.IgnoreScope{Kind: "Deployment"}}},
		LastAppliedRevision: "main@sha1:abc",
		Inventory: map[manifest.Key]string{
			{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}:                   "v1",
			{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:node:reader"}: "v1",
		}})
}

func TestWhatIsNoKustomizationOrInventoryIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"prune is a word": {`{spec: {prune: "yes"}}`, "spec.prune is of the wrong type: string"},
		"broken entries": {`{status: {inventory: {entries: [{id: shop_web}, {id: ok_web__ConfigMap}, {id: nothing}]}}}`,
			"inventory entry \"shop_web\" is not namespace_name_group_kind\ninventory entry \"nothing\" is not namespace_name_group_kind"},
		"an inventory of another form": {`{status: {inventory: [a]}}`, "status.inventory is of the wrong type: array"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := flux.ReadKustomization(content(t, c.text))
			assert.ErrorContains(t, err, c.want)
		})
	}
	listed, err := flux.ReadInventory(content(t, `{spec: {interval: 5m}}`))
	assert.NilError(t, err)
	assert.Equal(t, len(listed), 0)
}

func FuzzAnInventoryEntryIsReadAndWrittenTheSame(f *testing.F) {
	for _, id := range []string{"shop_web_apps_Deployment", "_a__b_rbac.authorization.k8s.io_ClusterRole", "___", "a_b__C", "_x___Y"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		key, err := flux.ParseID(id)
		if err != nil {
			return
		}
		if !strings.Contains(id, ":") && !strings.Contains(id, "___") {
			assert.Equal(t, flux.FormatID(key), id)
		}
		again, err := flux.ParseID(flux.FormatID(key))
		assert.NilError(t, err)
		assert.Equal(t, again, key)
	})
}
