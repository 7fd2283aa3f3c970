package diff_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

func TestCleanTakesAwayWhatNoApplierDecides(t *testing.T) {
	object := `
apiVersion: v1
kind: Widget
metadata:
  name: w
  uid: u
  managedFields: [{manager: m}]
  resourceVersion: "1"
  generation: 3
  creationTimestamp: 2026-01-01T00:00:00Z
  deletionTimestamp: 2026-01-01T00:00:00Z
  selfLink: /x
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
spec: {template: {metadata: {creationTimestamp: null, annotations: {}}}}
status: {ready: true}`
	in := decoded(t, object)
	kept := `
apiVersion: v1
kind: Widget
metadata: {name: w, deletionTimestamp: 2026-01-01T00:00:00Z}
spec: {template: {metadata: {creationTimestamp: null, annotations: {}}}}`
	assert.DeepEqual(t, diff.Clean(in, true), decoded(t, kept))
	assert.DeepEqual(t, diff.Clean(in, false), decoded(t, kept+"\nstatus: {ready: true}"))
	assert.DeepEqual(t, in, decoded(t, object))
}

func TestCleanLeavesNoTraceOfLastApplied(t *testing.T) {
	bare := decoded(t, `metadata: {name: a}`)
	for _, text := range []string{
		`metadata: {name: a, annotations: {}}`,
		`metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}`,
	} {
		assert.DeepEqual(t, diff.Clean(decoded(t, text), true), bare)
	}
	kept := diff.Clean(decoded(t, `metadata: {annotations: {a: b, kubectl.kubernetes.io/last-applied-configuration: x}}`), true)
	assert.DeepEqual(t, kept, decoded(t, `metadata: {annotations: {a: b}}`))
}

func TestTheServersCountOfADaemonSetsTemplatesIsNoPartOfIt(t *testing.T) {
	counted := decoded(t, `{kind: DaemonSet, metadata: {name: a, annotations: {deprecated.daemonset.template.generation: "2"}}}`)
	assert.DeepEqual(t, diff.Clean(counted, true), decoded(t, `{kind: DaemonSet, metadata: {name: a}}`))
	counted["kind"] = "Deployment"
	assert.DeepEqual(t, diff.Clean(counted, true), counted)
}

func TestEqualGoesByTheCanonicalForm(t *testing.T) {
	for _, c := range []struct {
		a, b  any
		equal bool
	}{
		{int64(1), 1.0, true},
		{int64(1), int64(2), false},
		{1.5, 1.5, true},
		{int64(1), "1", false},
		{int64(1), true, false},
		{nil, map[string]any{}, false},
		{map[string]any{}, []any{}, false},
		{map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		{state.Masked{Tag: "k:1"}, state.Masked{Tag: "k:1"}, true},
		{state.Masked{Tag: "k:1"}, state.Masked{Tag: "k:2"}, false},
		{state.Masked{Tag: "k:1"}, "k:1", false},
	} {
		assert.Equal(t, diff.Equal(c.a, c.b), c.equal, "%v %v", c.a, c.b)
		assert.Equal(t, diff.Equal(c.b, c.a), c.equal, "%v %v", c.b, c.a)
	}
}
