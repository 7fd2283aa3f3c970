package manifest_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
)

// A Secret keeps its value to itself, whatever else is said in it: in
// annotations and labels, by any applier, well-formed or not.
func FuzzNoAnnotationBringsOutTheValueOfASecret(f *testing.F) {
	const value = "marker-4f1e0c77-value"
	plain := base64.StdEncoding.EncodeToString([]byte(value))
	f.Add("kubectl.kubernetes.io/last-applied-configuration", `{"data":{"k":"`, `"}}`)
	f.Add("checksum/secret", "", "")
	f.Add("kapp.k14s.io/original", "{", "")
	f.Add("x", "\xff", "\x00")
	f.Fuzz(func(t *testing.T, key, before, after string) {
		for _, form := range []string{value, plain} {
			text := before + form + after
			masked := manifest.NewMasker([]byte("key"), "uid", false).Object(map[string]any{"apiVersion": "v1", "kind": "Secret",
				"metadata": map[string]any{"name": "s", "annotations": map[string]any{key: text}, "labels": map[string]any{key: text}},
				"data":     map[string]any{"k": plain}})
			out, err := json.Marshal(masked)
			assert.NilError(t, err)
			assert.Assert(t, strings.Contains(key, form) || !strings.Contains(string(out), form), "%s", out)
		}
	})
}
