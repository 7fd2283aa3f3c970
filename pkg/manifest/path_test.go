package manifest_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
)

func TestPathsHaveOneFixedForm(t *testing.T) {
	for _, c := range []struct{ parent, key, want string }{
		{"", "data", "data"},
		{"data", "feature_new-cart1", "data.feature_new-cart1"},
		{"data", "tls.crt", `data["tls.crt"]`},
		{"metadata.annotations", "example.com/keep", `metadata.annotations["example.com/keep"]`},
		{"", "", `[""]`},
		{"data", `a"b\c`, `data["a\"b\\c"]`},
		{"data", "<&>", `data["<&>"]`},
		{"data", "größe", `data["größe"]`},
		{"data", "a\nb\u2028", `data["a\u000ab` + "\u2028" + `"]`},
		{"data", "a b", `data["a b"]`},
		{"data", "a.b-", `data["a.b-"]`},
		{"data", "-", `data.-`},
	} {
		assert.Equal(t, manifest.Child(c.parent, c.key), c.want)
	}
	assert.Equal(t, manifest.Item("spec.containers", 0), "spec.containers[0]")
}

func TestABracketIsClosedPastThoseInStrings(t *testing.T) {
	for text, want := range map[string]int{`[0]`: 2, `[name="c"].image`: 9, `[="a]b"]`: 7, `["a\"]b"]`: 8, `[`: -1, `[name="c]`: -1, `["a\`: -1} {
		assert.Equal(t, manifest.Closing(text), want, text)
	}
}
