package dryrun

import (
	"errors"
	"net/url"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/diff"
)

func TestPathsOfTheServerBecomePathsOfThePlan(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"a.b/c": "1", "a": "2"}, "finalizers": []any{"x.y/z"}},
		"data":     map[string]any{"key.with.dots": "3", "key": "4", "odd[0]": "5"},
		"spec": map[string]any{
			"ports": []any{map[string]any{"port": int64(80), "nodePort": int64(30000)}},
			"env":   []any{map[string]any{"name": `a"],b`, "value": "6"}},
			"rules": []any{map[string]any{"host": "h"}},
		},
	}
	for _, c := range []struct {
		text, path string
		value      any
	}{
		{".metadata.annotations.a.b/c", `metadata.annotations["a.b/c"]`, "1"},
		{".metadata.annotations.a", "metadata.annotations.a", "2"},
		{`.metadata.finalizers[="x.y/z"]`, `metadata.finalizers[="x.y/z"]`, "x.y/z"},
		{".data.key.with.dots", `data["key.with.dots"]`, "3"},
		{".data.key", "data.key", "4"},
		{".data.odd[0]", `data["odd[0]"]`, "5"},
		{`.spec.ports[port=80,protocol="TCP"].nodePort`, `spec.ports[port=80,protocol="TCP"].nodePort`, int64(30000)},
		{`.spec.env[name="a\"],b"].value`, `spec.env[name="a\"],b"].value`, "6"},
		{".spec.rules[0].host", "spec.rules[0].host", "h"},
		{".spec.rules[7].host", "spec.rules[7].host", nil},
		{".spec.unknown.field", "spec.unknown.field", nil},
		{"", "", any(object)},
	} {
		path, value := parsePath(c.text, object)
		assert.Equal(t, formatPath(path, nil), c.path)
		assert.DeepEqual(t, value, c.value)
	}
}

func TestKeysOfASelectorFollowTheSchema(t *testing.T) {
	element := smd.TypeRef{Inlined: smd.Atom{Map: &smd.Map{}}}
	list := smd.TypeRef{Inlined: smd.Atom{List: &smd.List{ElementRelationship: smd.Associative, Keys: []string{"zone", "app"}, ElementType: element}}}
	s := &diff.Schema{Types: &smd.Schema{}, Root: smd.TypeRef{Inlined: smd.Atom{Map: &smd.Map{
		Fields: []smd.StructField{{Name: "items", Type: list}},
	}}}}
	path := fieldpath.MakePathOrDie("items", fieldpath.KeyByFields("app", "a", "zone", 1), "x")
	assert.Equal(t, formatPath(path, s), `items[zone=1,app="a"].x`)
	assert.Equal(t, formatPath(path, nil), `items[app="a",zone=1].x`)
}

func FuzzPathsOfTheServerAreReadToTheirEnd(f *testing.F) {
	f.Add(`.spec.ports[port=80,protocol="TCP"].nodePort`)
	f.Add(`[="`)
	f.Add(`.a[b=",`)
	object := map[string]any{"a": []any{map[string]any{"b": "c"}}, "": map[string]any{"": nil}}
	f.Fuzz(func(_ *testing.T, text string) {
		path, _ := parsePath(text, object)
		formatPath(path, nil)
	})
}

func TestValuesAreCutOutOfErrorTextsUnlessShort(t *testing.T) {
	for text, want := range map[string]string{
		`Invalid value: "UPPER": a lowercase RFC 1123 label: must consist of …`: `Invalid value: "UPPER": a lowercase RFC 1123 label: must consist of …`,
		`Invalid value: -1: must be greater than or equal to 0`:                 `Invalid value: -1: must be greater than or equal to 0`,
		`Invalid value: {"env":[{"name":"A","value":"s"}]}: field is immutable`: "field is immutable",
		`Invalid value: core.PodTemplateSpec{Env: "s: t"}: field is immutable`:  "field is immutable",
		"Required value: name": "Required value: name",
	} {
		assert.Equal(t, withoutDump(text), want)
	}
}

func TestManagersOfSubresourcesAreToldApart(t *testing.T) {
	assert.Equal(t, managerOf(`conflict with "kubectl" using apps/v1`), "kubectl")
	assert.Equal(t, managerOf(`conflict with "kubectl" with subresource "scale" using apps/v1 at 2026-01-01T00:00:00Z`), "kubectl (subresource scale)")
}

func TestACredentialPluginThatFailsIsNoDeadServer(t *testing.T) {
	err := &url.Error{Op: "Get", URL: "https://server.example", Err: errors.New("getting credentials: exec: executable aws failed")}
	assert.Equal(t, reasonOf(err), Unauthorized)
}

func TestSchemasOfDocumentsThatAreNoneAreErrors(t *testing.T) {
	for _, text := range []string{"", "[]", `{"components":{"schemas":{"a":{"type":"wrong"}}}}`, `{"components":{"schemas":{"a":null}}}`} {
		_, err := parseSchemas([]byte(text))
		assert.Assert(t, err != nil, text)
	}
}

func FuzzSchemasAreReadOrRefused(f *testing.F) {
	f.Add([]byte(`{"components":{"schemas":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"string"}}}}}}}`))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = parseSchemas(data) })
}
