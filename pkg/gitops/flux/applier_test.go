package flux_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
)

func desired(t *testing.T, k *flux.Kustomization, text string) manifest.Object {
	t.Helper()
	applier, err := flux.NewApplier(k)
	assert.NilError(t, err)
	given := object(t, text)
	before := runtime.DeepCopyJSON(given.Content)
	out, err := applier.Desired(given)
	assert.NilError(t, err)
	assert.DeepEqual(t, given.Content, before)
	return out
}

func TestObjectsAreSentAsFluxNormalisesThem(t *testing.T) {
	k := &flux.Kustomization{Namespace: "flux-system", Name: "apps",
		CommonLabels: map[string]string{"team": "a"}, CommonAnnotations: map[string]string{"note": "b"}}
	marks := `annotations: {note: b}, labels: {team: a, kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}`
	for name, c := range map[string]struct{ given, want, note string }{
		"clear text becomes data": {`{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: b}}`,
			`{apiVersion: v1, kind: Secret, metadata: {name: s, ` + marks + `}, data: {a: Yg==}}`, ""},
		"unknown fields go": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, dta: {a: b}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: s, ` + marks + `}}`, `unknown field "dta"`},
		"protocols are filled in": {`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: s, ` + marks + `}, spec: {ports: [{port: 80, protocol: TCP, targetPort: 0}]}}`, ""},
		"roles stay as they are": {`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: s}, rules: null, odd: 1}`,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: s, ` + marks + `}, rules: null, odd: 1}`, ""},
		"custom resources stay as they are": {`{apiVersion: example.com/v1, kind: Crate, metadata: {name: s}, spec: {a: 1}}`,
			`{apiVersion: example.com/v1, kind: Crate, metadata: {name: s, ` + marks + `}, spec: {a: 1}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := desired(t, k, c.given)
			want := object(t, c.want)
			for _, content := range []map[string]any{got.Content, want.Content} { // what yaml and the converter call a number
				delete(content, "status")
			}
			assert.Equal(t, text(t, got.Content), text(t, want.Content))
			assert.Assert(t, strings.Contains(strings.Join(got.Notes, "\n"), c.note) && (c.note != "" || len(got.Notes) == 0), "%v", got.Notes)
		})
	}
	plain := desired(t, &flux.Kustomization{}, `{apiVersion: v1, kind: ConfigMap, metadata: {name: s}}`)
	assert.Equal(t, len(plain.Labels()), 0)
}

func text(t *testing.T, content map[string]any) string {
	t.Helper()
	out, err := (&unstructured.Unstructured{Object: content}).MarshalJSON()
	assert.NilError(t, err)
	return string(out)
}

func TestWhatOnlyFluxCanDecryptIsRefused(t *testing.T) {
	applier, err := flux.NewApplier(&flux.Kustomization{})
	assert.NilError(t, err)
	for annotation, refused := range map[string]bool{"disabled": false, "Disabled": false, "enabled": true} {
		_, err := applier.Desired(object(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {kustomize.toolkit.fluxcd.io/decrypt: `+annotation+`}}, sops: {}}`))
		assert.Equal(t, err != nil, refused, "%s: %v", annotation, err)
	}
}

func TestAnIgnoreRuleThatCannotBeReadIsRefused(t *testing.T) {
	_, err := flux.NewApplier(&flux.Kustomization{Ignore: []flux.IgnoreRule{{Target: &flux.IgnoreScope{Name: "("}}}})
	assert.ErrorContains(t, err, "spec.ignore: ")
}

func TestTheManagersOfKubectlAreTakenOverUnlessAnObjectMerges(t *testing.T) {
	applier, err := flux.NewApplier(&flux.Kustomization{})
	assert.NilError(t, err)
	merge := `{metadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: merge}}}`
	for name, c := range map[string]struct {
		desired, live string
		takes         bool
	}{
		"plain":              {"{}", "{}", true},
		"live merges":        {"{}", merge, false},
		"the manifest does":  {merge, "{}", false},
		"it does not exist":  {"{}", "", false},
		"it does, both ways": {merge, merge, false},
	} {
		t.Run(name, func(t *testing.T) {
			var live *unstructured.Unstructured
			if c.live != "" {
				live = &unstructured.Unstructured{Object: content(t, c.live)}
			}
			treatment, err := applier.Treat(object(t, c.desired), live)
			assert.NilError(t, err)
			assert.Equal(t, treatment.Before != nil, c.takes)
		})
	}
	live := &unstructured.Unstructured{Object: content(t, `{metadata: {
  annotations: {kubectl.kubernetes.io/last-applied-configuration: x, kustomize.toolkit.fluxcd.io/checksum: x, fluxcd.io/sync-checksum: x, stays: x},
  labels: {fluxcd.io/sync-gc-mark: x, stays: x}}}`)}
	live.SetManagedFields([]metav1.ManagedFieldsEntry{
		entry("kustomize-controller", "Apply", "", "f:a"), entry("kubectl", "Apply", "", "f:b"), entry("kubectl-edit", "Update", "", "f:c"),
		entry("kubectl", "Update", "status", "f:d"), entry("kustomize-controller", "Update", "", "f:e"),
		entry("before-first-apply", "Update", "", "f:f"), entry("before-first-apply", "Apply", "", "f:g"), entry("helm", "Update", "", "f:h")})
	treatment, err := applier.Treat(object(t, "{}"), live)
	assert.NilError(t, err)
	assert.NilError(t, treatment.Before(live))
	assert.DeepEqual(t, live.GetAnnotations(), map[string]string{"stays": "x"})
	assert.DeepEqual(t, live.GetLabels(), map[string]string{"stays": "x"})
	var held []string
	for _, e := range live.GetManagedFields() {
		held = append(held, e.Manager+" "+string(e.Operation)+" "+e.Subresource+string(e.FieldsV1.GetRawBytes()))
	}
	assert.DeepEqual(t, held, []string{`kubectl Update status{"f:d":{}}`, `before-first-apply Apply {"f:g":{}}`, `helm Update {"f:h":{}}`,
		`kustomize-controller Apply {"f:a":{},"f:b":{},"f:c":{},"f:e":{},"f:f":{}}`})
}

func entry(manager, operation, subresource, field string) metav1.ManagedFieldsEntry {
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes([]byte(`{"` + field + `":{}}`))
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation),
		APIVersion: "v1", Subresource: subresource, FieldsType: "FieldsV1", FieldsV1: fields}
}

func TestObjectsOfAKustomizationThatIsNotKnownKeepItsLabels(t *testing.T) {
	applier := flux.Unowned(flux.Controller{})
	live := &unstructured.Unstructured{Object: content(t, `{metadata: {labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system, other: y}}}`)}
	given := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: b}}}`)
	got, err := applier.Treat(given, live)
	assert.NilError(t, err)
	assert.DeepEqual(t, manifest.Object{Content: got.Content}.Labels(),
		map[string]string{"a": "b", "kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"})
	assert.DeepEqual(t, given.Labels(), map[string]string{"a": "b"})
	fresh, err := applier.Treat(given, nil)
	assert.NilError(t, err)
	for _, treatment := range []dryrun.Treatment{got, fresh} {
		assert.Assert(t, strings.Contains(strings.Join(treatment.Notes, "\n"), "its Kustomization is not known"), "%v", treatment.Notes)
	}
}
