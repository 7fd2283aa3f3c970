package edit_test

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/reconcile/edit"
)

func TestWhatCannotBeKeptIsRefusedWithItsLineAndReason(t *testing.T) {
	for _, r := range []row{
		{"alias", "x: &v 1\na: *v\n", "x.yaml:2: a: comes from the anchor &v, which other places use, too", set("a", int64(2))},
		{"anchor in use", "a: &v 1\nx: *v\n", "x.yaml:1: a: is the anchor &v, which other places use, too", set("a", int64(2))},
		{"below an anchor in use", "a: &v {k: 1}\nx: *v\n", "x.yaml:1: a: is the anchor &v, which other places use, too", set("a", map[string]any{"k": int64(2)})},
		{"merge key", "x: &v {k: 1}\na:\n  <<: *v\n", "x.yaml:3: a.k: comes from a merge key (<<), whose anchor other places use, too",
			set("a", map[string]any{"k": int64(2)})},
		{"out of a merge key", "x: &v {k: 1}\na:\n  <<: *v\n", "x.yaml:3: a.k: comes from a merge key (<<), whose anchor other places use, too",
			set("a", map[string]any{})},
		{"tag", "a: !!str 5\n", "x.yaml:1: a: has a YAML tag (!), which another value may not fit", set("a", "6")},
		{"pair in a list", "a: [k: v]\n", "x.yaml:1: is a pair inside a list, written without brackets", set("a", []any{map[string]any{}})},
		{"duplicate key", "b:\n  a: 1\n  a: 2\n", "x.yaml:3: b.a: this key stands in line 2, too", set("b", map[string]any{"a": int64(3)})},
		{"comment in flow", "a: [x, # c\n  z]\n", "x.yaml:1: a comment stands beside what goes", set("a", []any{"z"})},
	} {
		_, err := replaced(t, r.before, r.change)
		assert.Error(t, err, r.after)
		assert.Assert(t, errors.As(err, new(*edit.Refusal)))
	}
}

func TestATextThatIsNoManifestIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"k: v\nimage: {{ .Values.image }}\n":     "x.yaml:2: is a template ({{), not a manifest",
		"a: [\n":                                 "x.yaml:1: is neither YAML nor JSON that can be read",
		"a: 1\rb: 2\r":                           "x.yaml:1: holds a line break other than \\n and \\r\\n, which tools count differently",
		"a: \"x\u2028\"\n":                       "x.yaml:1: holds a line break other than \\n and \\r\\n, which tools count differently",
		"\xff\xfea\x00":                          "x.yaml: is no UTF-8",
		"{\"a\":1}{\"a\":2}":                     "x.yaml:1: is neither YAML nor JSON that can be read",
		"a: 1\n---\nmetadata:\n\tname: tabbed\n": "x.yaml:2: is neither YAML nor JSON that can be read",
	} {
		_, err := edit.Open("x.yaml", []byte(text))
		assert.Error(t, err, want)
	}
}

func TestAnUnusedAnchorIsKept(t *testing.T) {
	row{"", "a: &v\n  k: 1\n", "a: &v\n  k: 2\n", set("a", map[string]any{"k": int64(2)})}.holds(t)
	row{"", "a: &v\n  k: 1\n", "a: &v {}\n", set("a", map[string]any{})}.holds(t)
	row{"", "a: &v 1\nb: *v\n", "a: &v 2\nb: *v\n", func(m map[string]any) { m["a"], m["b"] = int64(2), int64(2) }}.holds(t)
	row{"", "x: &v {k: 1}\na:\n  <<: *v\n  l: 1\n", "x: &v {k: 1}\na:\n  <<: *v\n  l: 2\n", set("a", map[string]any{"k": int64(1), "l": int64(2)})}.holds(t)
}

func TestDocumentsComeAndGoWhole(t *testing.T) {
	object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": "on"}, "metadata": map[string]any{"namespace": "b", "name": "a"}}
	added := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\ndata:\n  k: \"on\"\n"
	assert.Equal(t, string(edit.New(object)), added)
	for before, after := range map[string]string{
		"":                added,
		"a: 1\n":          "a: 1\n---\n" + added,
		"a: 1":            "a: 1\n---\n" + added[:len(added)-1],
		"---\na: 1\n":     "---\na: 1\n---\n" + added,
		"# only this\n":   "# only this\n" + added,
		"a: 1\n# after\n": "a: 1\n# after\n---\n" + added,
	} {
		text, err := edit.Open("x.yaml", []byte(before))
		assert.NilError(t, err)
		got, err := text.Append(object)
		assert.NilError(t, err)
		assert.Equal(t, string(got), after)
	}
	for _, r := range []struct {
		before string
		index  int
		after  string
	}{
		{"a: 1\n", 0, ""},
		{"# c\na: 1\n---\n# d\nb: 1\n", 0, "# d\nb: 1\n"},
		{"# c\na: 1\n---\n# d\nb: 1\n", 1, "# c\na: 1\n"},
		{"---\na: 1\n---\nb: 1\n---\nc: 1\n", 1, "---\na: 1\n---\nc: 1\n"},
		{"---\na: 1\n---\nb: 1\n", 0, "---\nb: 1\n"},
		{"a: 1\r\n---\r\nb: 1\r\n", 0, "b: 1\r\n"},
	} {
		text, err := edit.Open("x.yaml", []byte(r.before))
		assert.NilError(t, err)
		got, err := text.Remove(r.index)
		assert.NilError(t, err)
		assert.Equal(t, string(got), r.after)
	}
}
