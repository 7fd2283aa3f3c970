package policy_test

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/policy"
)

func TestTheExamplesOfTheDocumentationHold(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	assert.NilError(t, err)
	blocks := strings.Split(string(text), "```yaml\n")
	assert.Equal(t, len(blocks), 3)
	for i := range blocks {
		blocks[i], _, _ = strings.Cut(blocks[i], "```")
	}
	p, err := policy.Parse([]byte(blocks[1]))
	assert.NilError(t, err)
	assert.Equal(t, len(p.Warnings()), 0)
	cases, err := policy.ParseTests([]byte(blocks[2]), open, noon())
	assert.NilError(t, err)
	for _, result := range p.Test(cases) {
		assert.Assert(t, result.OK, "%s: want %s, got %s", result.Name, result.Want, result.Got)
	}
}

func TestTheDocumentationNamesEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	assert.NilError(t, err)
	for _, line := range strings.Split(string(file(t, "everything.yaml")), "\n") {
		key, _, found := strings.Cut(strings.TrimLeft(line, " -"), ":")
		if found && !strings.ContainsAny(key, " {(\"") {
			assert.Assert(t, strings.Contains(string(text), key), key)
		}
	}
}
