package diff_test

import (
	"fmt"
	"os"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

// schemas are the real list kinds of some built-in kinds.
type schemas struct {
	Types []schema.TypeDef
	Roots map[string]string // apiVersion/kind to type
}

func realSchemas(t *testing.T) schemas {
	t.Helper()
	data, err := os.ReadFile("../../testdata/schema/builtin.yaml")
	assert.NilError(t, err)
	var s schemas
	assert.NilError(t, yamlv3.Unmarshal(data, &s))
	return s
}

func (s schemas) of(t *testing.T, apiVersion, kind string) *diff.Schema {
	t.Helper()
	root, ok := s.Roots[apiVersion+"/"+kind]
	assert.Assert(t, ok, "no schema of %s", kind)
	return &diff.Schema{Types: &schema.Schema{Types: s.Types}, Root: schema.TypeRef{NamedType: &root}}
}

// decoded reads YAML as the Go types that objects have here.
func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	assert.NilError(t, err)
	var out map[string]any
	assert.NilError(t, json.Unmarshal(data, &out))
	return out
}

// lines are transitions as the tables write them.
func lines(t *testing.T, transitions []diff.Transition) []string {
	t.Helper()
	out := []string{}
	for _, tr := range transitions {
		old, now := text(t, tr.Old), text(t, tr.New)
		switch tr.Action {
		case diff.Add:
			out = append(out, fmt.Sprintf("+ %s: %s", tr.Path, now))
		case diff.Remove:
			out = append(out, fmt.Sprintf("- %s: %s", tr.Path, old))
		case diff.Order:
			out = append(out, fmt.Sprintf("order %s: %s → %s", tr.Path, old, now))
		default:
			out = append(out, fmt.Sprintf("%s: %s → %s", tr.Path, old, now))
		}
	}
	return out
}

func text(t *testing.T, value any) string {
	t.Helper()
	data, err := state.Canonical(value)
	assert.NilError(t, err)
	return string(data)
}
