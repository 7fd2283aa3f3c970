package edit_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/reconcile/edit"
)

// replaced edits the first document of a text.
func replaced(t *testing.T, before string, change func(m map[string]any)) (string, error) {
	t.Helper()
	text, err := edit.Open("x.yaml", []byte(before))
	if err != nil {
		return "", err
	}
	want := copied(object(t, text)).(map[string]any)
	change(want)
	got, err := text.Replace(0, want)
	return string(got), err
}

type row struct {
	name, before, after string
	change              func(m map[string]any)
}

func (r row) holds(t *testing.T) {
	t.Helper()
	got, err := replaced(t, r.before, r.change)
	assert.NilError(t, err, r.name)
	assert.Equal(t, got, r.after, r.name)
}

func set(key string, value any) func(map[string]any) {
	return func(m map[string]any) { m[key] = value }
}

func drop(keys ...string) func(map[string]any) {
	return func(m map[string]any) {
		for _, key := range keys {
			delete(m, key)
		}
	}
}

func TestAScalarKeepsTheStyleOfTheOneBefore(t *testing.T) {
	for _, r := range []row{
		{"plain", "a: x # c\nb: 1\n", "a: z # c\nb: 1\n", set("a", "z")},
		{"single", "a: 'x'   # c\n", "a: 'it''s'   # c\n", set("a", "it's")},
		{"double", `a: "x"`, `a: "q\"\n"`, set("a", "q\"\n")},
		{"single with a line break", "a: 'x'\n", "a: \"x\\ty\\u0007\"\n", set("a", "x\ty\a")},
		{"number", "a: 0644\n", "a: 384\n", set("a", int64(384))},
		{"number to string", "a: 1\n", "a: \"2\"\n", set("a", "2")},
		{"string to number", "a: \"1\"\n", "a: 2\n", set("a", int64(2))},
		{"null", "a: # c\nb:\n", "a: x # c\nb:\n", set("a", "x")},
		{"to null", "a: x\n", "a: null\n", set("a", nil)},
		{"anchored", "a: &x x # c\n", "a: &x z # c\n", set("a", "z")},
		{"plain over lines", "a: one\n  two # c\nb: 1\n", "a: three # c\nb: 1\n", set("a", "three")},
		{"double over lines", "a: \"one\n  two\"\nb: 1\n", "a: \"three\"\nb: 1\n", set("a", "three")},
		{"empty string", "a: ''\n", "a: 'x'\n", set("a", "x")},
		{"to a map", "a: x # c\nb: 1\n", "a: # c\n  k: v\nb: 1\n", set("a", map[string]any{"k": "v"})},
		{"to a list", "a: x\nb: 1\n", "a:\n- v\nb: 1\n", set("a", []any{"v"})},
		{"from a map", "a: # c\n  k: v\nb: 1\n", "a: x # c\nb: 1\n", set("a", "x")},
		{"from a list", "a:\n- v\n- w\nb: 1\n", "a: x\nb: 1\n", set("a", "x")},
	} {
		r.holds(t)
	}
}

func TestWhatSomeReaderTakesForAnotherTypeIsQuoted(t *testing.T) {
	for _, value := range []string{"y", "No", "on", "true", "null", "~", "", "0644", "0o17", "1e3", "12:30:45", "1_000", "2024-01-02", ".inf", "0x1F",
		" a", "a ", "a: b", "a #b", "#a", "- a", "[a", "{a", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "=", "<<", "a\nb", "'a", "\"a", "{{ .x }}", "?", "1.5", "+1"} {
		got, err := replaced(t, "a: x\n", set("a", value))
		assert.NilError(t, err, value)
		assert.Assert(t, strings.HasPrefix(got, `a: "`) || value == "a\nb", got)
	}
	for _, value := range []string{"a", "1.2.3", "a/b:c", "500m", "10Gi", "x=y", "a,b", "a b", "v1"} {
		got, err := replaced(t, "a: x\n", set("a", value))
		assert.NilError(t, err, value)
		assert.Equal(t, got, "a: "+value+"\n")
	}
}

func TestKeysComeAndGoWhereTheyStand(t *testing.T) {
	for _, r := range []row{
		{"added", "a: 1 # c\n# end\n", "a: 1 # c\nb: 2\n# end\n", set("b", int64(2))},
		{"added without final newline", "a: 1", "a: 1\nb: 2", set("b", int64(2))},
		{"removed", "a: 1\n# above b\nb: 2 # gone\nc: 3\n", "a: 1\n# above b\nc: 3\n", drop("b")},
		{"the first removed", "# top\na: 1\nb: 2\n", "# top\nb: 2\n", drop("a")},
		{"the last removed", "a: 1\nb:\n  c: 1\n  d: 2\n", "a: 1\n", drop("b")},
		{"parent missing", "a: 1\n", "a: 1\nb:\n  c:\n    d: x\n", set("b", map[string]any{"c": map[string]any{"d": "x"}})},
		{"one for another", "a:\n  x: 1\n", "a:\n  z: 2\n", set("a", map[string]any{"z": int64(2)})},
		{"the last of a map", "a: # c\n  x: 1 # d\n  # e\nb: 1\n", "a: {} # c\n  # e\nb: 1\n", set("a", map[string]any{})},
		{"into an empty flow map", "a: {} # c\nb: 1\n", "a: {x: 1} # c\nb: 1\n", set("a", map[string]any{"x": int64(1)})},
		{"into an empty flow list", "a: [ ]\n", "a: [x]\n", set("a", []any{"x"})},
		{"into nothing", "a: # c\nb: 1\n", "a: # c\n  x: 1\nb: 1\n", set("a", map[string]any{"x": int64(1)})},
		{"with an odd key", "a: 1\n", "a: 1\n\"on\": true\n", set("on", true)},
		{"below wide steps", "a:\n    x: 1\n", "a:\n    x: 1\n    w:\n        z: 1\n", set("a", map[string]any{"x": int64(1), "w": map[string]any{"z": int64(1)}})},
	} {
		r.holds(t)
	}
}
