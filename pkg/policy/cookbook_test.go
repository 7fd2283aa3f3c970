package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/policy"
)

func TestThePoliciesOfTheCookbookDoWhatTheirCasesSay(t *testing.T) {
	files, err := filepath.Glob("../../docs/cookbook/*.test.yaml")
	assert.NilError(t, err)
	assert.Equal(t, len(files), 10)
	index, err := os.ReadFile("../../docs/cookbook/README.md")
	assert.NilError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".test.yaml")
		assert.Assert(t, strings.Contains(string(index), "["+name+"]("+name+".yaml)"), name)
		source, err := os.ReadFile(strings.TrimSuffix(file, ".test.yaml") + ".yaml")
		assert.NilError(t, err)
		p, err := policy.Parse(source)
		assert.NilError(t, err, name)
		assert.Equal(t, len(p.Warnings()), 0, "%s: %v", name, p.Warnings())
		tests, err := os.ReadFile(file)
		assert.NilError(t, err)
		cases, err := policy.ParseTests(tests, open, noon())
		assert.NilError(t, err, name)
		for _, result := range p.Test(cases) {
			assert.Check(t, result.OK, "%s: %s: want %s, got %s", name, result.Name, result.Want, result.Got)
		}
	}
}
