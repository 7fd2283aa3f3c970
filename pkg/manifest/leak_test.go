package manifest_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestNoProblemRepeatsAValueOfASecret(t *testing.T) {
	const start = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	for _, body := range []string{
		"data: {pw: hunter2!}", "stringData: hunter2", "stringData: [hunter2]", "stringData: {pw: [hunter2]}", "stringData: {pw: {hunter2: 1}}",
		"stringData: {pw: !hunter2 x}", "stringData: {pw: !!int hunter2}", "stringData: {pw: *hunter2}", "stringData: {pw: &hunter2 [*hunter2]}",
		"stringData: {pw: !!binary hunter2}", "stringData: {pw: hunter2: x}", "stringData: {pw: @hunter2}", "stringData: {pw: `hunter2}", "stringData: {pw: %hunter2}",
		"stringData: {pw: \"hunter2}", "stringData: {pw: 'hunter2}", "stringData:\n  pw: \"hunter2\\q\"", "stringData:\n  pw: |\n   hunter2\n  x", "stringData: {? [hunter2] : x}",
		"stringData: {pw: {~: hunter2}}", "data: {pw: hunter2}\ndata: {pw: hunter2}", "x: &x {pw: hunter2}\nstringData: {pw: a, <<: *x}",
		"stringData: {pw: 99999999999999999999}\n# hunter2", "stringData:\n\tpw: hunter2", "--- hunter2", "{\"pw\": hunter2}", "stringData: {pw: \"\\ud800hunter2\"}", "items: [hunter2]",
	} {
		_, objects, problems := parse("f", start+body+"\n")
		got := strings.Join(problems, "\n")
		assert.Assert(t, len(problems) > 0 || len(objects) > 0, body)
		assert.Assert(t, !strings.Contains(got, "hunter2") && !strings.Contains(got, "999999"), "%s: %s", body, got)
	}
	for _, text := range []string{
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"pw":hunter2,,}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"pw":"hunter2`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"pw":"hunter2!"}} hunter2`,
	} {
		_, _, problems := parse("f", text)
		assert.Assert(t, len(problems) > 0, text)
		assert.Assert(t, !strings.Contains(strings.Join(problems, "\n"), "hunter2"), "%v", problems)
	}
}
