package edit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/reconcile/edit"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "cases", name))
	assert.NilError(t, err)
	return data
}

// object is the value of the first document, to be changed and wanted.
func object(t *testing.T, text *edit.Text) map[string]any {
	t.Helper()
	value, ok := text.Values()[0].(map[string]any)
	assert.Assert(t, ok)
	return value
}

// member is the map or list entry at keys and indexes of a value.
func member(value any, path ...any) map[string]any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			value = value.(map[string]any)[s]
		case int:
			value = value.([]any)[s]
		}
	}
	return value.(map[string]any)
}

func copied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			out[key] = copied(member)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, copied(item))
		}
		return out
	default:
		return value
	}
}

func TestOneValueChangesOneLineAndNothingElse(t *testing.T) {
	before, after := read(t, "B60-writeback-comments.yaml"), read(t, "B60-writeback-comments.expected.yaml")
	for name, form := range map[string]func([]byte) []byte{
		"as it is":              func(b []byte) []byte { return b },
		"with CRLF":             func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "\n", "\r\n")) },
		"with a BOM":            func(b []byte) []byte { return append([]byte("\ufeff"), b...) },
		"without final newline": func(b []byte) []byte { return []byte(strings.TrimSuffix(string(b), "\n")) },
	} {
		text, err := edit.Open("b60.yaml", form(before))
		assert.NilError(t, err, name)
		want := copied(object(t, text))
		member(want, "spec")["replicas"] = int64(3)
		member(want, "spec", "template", "spec", "containers", 0)["image"] = "registry.example/app:2"
		got, err := text.Replace(0, want)
		assert.NilError(t, err, name)
		assert.Equal(t, string(got), string(form(after)), name)
	}
}
