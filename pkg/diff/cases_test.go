package diff_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
)

// caseFile is one of the real inputs in testdata/cases.
func caseFile(t *testing.T, name string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../testdata/cases", name))
	assert.NilError(t, err)
	return decoded(t, string(data))
}

// The server's part of these cases, defaults and merge, is tested against a
// real one elsewhere; here the manifest stands for MERGED.
func TestRealCasesReadAsPeopleExpect(t *testing.T) {
	schema := realSchemas(t).of(t, "apps/v1", "Deployment")
	for _, c := range []struct {
		live, merged string
		want         []string
	}{
		{"B18-port-default-protocol.live.yaml", "B18-port-default-protocol.yaml", []string{}},
		{"B20-duplicate-env.live.yaml", "B20-duplicate-env.yaml", []string{}},
		{"B20-duplicate-env.live.yaml", "B20-duplicate-env-fixed.yaml", []string{
			`spec.template.spec.containers[name="c"].env: [{"name":"MODE","value":"a"},{"name":"ZONE","value":"z1"},{"name":"MODE","value":"b"}]` +
				` → [{"name":"MODE","value":"b"},{"name":"ZONE","value":"z1"}]`}},
		{"B24-list-change.live.yaml", "B24-list-change.yaml", []string{
			`+ spec.template.spec.containers[name="c"].env[name="FOO"]: {"name":"FOO","value":"bar"}`,
			`+ spec.template.spec.containers[name="c"].ports[containerPort=3000,protocol="TCP"]: {"containerPort":3000,"name":"http"}`}},
		{"B68-order-only.live.yaml", "B68-order-only.yaml", []string{
			`order spec.template.spec.containers[name="c"].env: ["A","B"] → ["B","A"]`,
			`order spec.template.spec.initContainers: ["first","second"] → ["second","first"]`}},
	} {
		t.Run(c.merged, func(t *testing.T) {
			got := diff.Objects(caseFile(t, c.live), caseFile(t, c.merged), nil, schema)
			assert.DeepEqual(t, lines(t, got), c.want)
		})
	}
}
