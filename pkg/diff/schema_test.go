package diff_test

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

// schemas are the real list kinds of the kinds that Kubernetes has built in.
type schemas struct{ converter managedfields.TypeConverter }

func realSchemas() schemas {
	return schemas{applyconfigurations.NewTypeConverter(scheme.Scheme)}
}

func (s schemas) of(t *testing.T, apiVersion, kind string) *diff.Schema {
	t.Helper()
	typed, err := s.converter.ObjectToTyped(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
	}})
	assert.NilError(t, err)
	return &diff.Schema{Types: typed.Schema(), Root: typed.TypeRef()}
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
