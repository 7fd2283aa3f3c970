package flux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// scenario is one Kustomization, of a folder of cases: `spec` is the rest of
// its spec, 1 and 2 are its files before and after, `setup` is there before Flux,
// `hands` are arguments of kubectl, a line each, that people run between the two,
// `want` is what the plan says, `fails` is what a plan says that cannot be made.
type scenario struct {
	name, spec, setup, fails string
	hands, want              []string
}

func scenarios(t *testing.T) []scenario {
	t.Helper()
	entries, err := os.ReadDir("cases")
	assert.NilError(t, err)
	var out []scenario
	for _, entry := range entries {
		read := func(name string) string {
			data, err := os.ReadFile(filepath.Join("cases", entry.Name(), name))
			if os.IsNotExist(err) {
				return ""
			}
			assert.NilError(t, err)
			return strings.TrimSpace(string(data))
		}
		lines := func(text string) []string {
			return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		}
		out = append(out, scenario{name: entry.Name(), spec: read("spec"), setup: read("setup"), fails: read("fails"),
			hands: lines(read("hands")), want: lines(read("want"))})
	}
	return out
}

// text is the Kustomization.
func (c scenario) text() string {
	path := "  path: ./" + c.name + "\n"
	if strings.Contains(c.spec, "path: ./") {
		path = ""
	}
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + c.name + ", namespace: flux-system}\n" +
		"spec:\n  interval: 1h\n  retryInterval: 1h\n  sourceRef: {kind: GitRepository, name: repository}\n" + path +
		"  " + strings.ReplaceAll(c.spec, "\n", "\n  ") + "\n"
}

// put brings one of its two sets of files into the checkout, in place of the
// other.
func (c scenario) put(t *testing.T, s stage, version string) {
	t.Helper()
	assert.NilError(t, os.RemoveAll(filepath.Join(s.repository.Dir, c.name)))
	from, files := filepath.Join("cases", c.name, version), map[string]string{}
	assert.NilError(t, filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		files[filepath.Join(c.name, relative)] = string(data)
		return err
	}))
	s.repository.Write(t, files)
}
