package diff_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
)

func TestAValueIsFoundAtThePathOfItsTransition(t *testing.T) {
	object := decoded(t, `
metadata: {annotations: {a.b/c: x}, finalizers: [one, two]}
spec:
  ports: [{port: 80, name: web}, {port: 80, protocol: UDP}]
  rows: [[1], [2, 3]]
  containers: [{name: "a,b=\"]", image: i}, {name: c, image: j}]
`)
	for path, want := range map[string]any{
		`metadata.annotations["a.b/c"]`:                 "x",
		`metadata.finalizers[="two"]`:                   "two",
		`spec.ports[port=80,protocol="TCP"].name`:       "web",
		`spec.ports[port=80,protocol="UDP"].protocol`:   "UDP",
		`spec.rows[1][0]`:                               int64(2),
		`spec.containers[name="a,b=\"]"].image`:         "i",
		`spec.containers[name="c"].image`:               "j",
		`spec.containers[name="d"].image`:               nil,
		`spec.rows[2]`:                                  nil,
		`spec.nothing.below`:                            nil,
		`metadata.finalizers[="three"]`:                 nil,
		`metadata.annotations["a.b/c"].below.a["text"]`: nil,
		`no path at all`:                                nil,
	} {
		got, there := diff.At(object, path)
		assert.Equal(t, there, want != nil, path)
		if there {
			assert.Assert(t, diff.Equal(got, want), "%s: %v", path, got)
		}
	}
}

func TestAMemberIsTakenOutOfACopyAtThePathOfItsTransition(t *testing.T) {
	const text = `{metadata: {annotations: {a.b/c: x}}, list: [{name: a, env: [], tty: true}, {name: b, env: []}], rows: [[{k: 1}]]}`
	for path, want := range map[string]string{
		`metadata.annotations["a.b/c"]`: `{metadata: {annotations: {}}, list: [{name: a, env: [], tty: true}, {name: b, env: []}], rows: [[{k: 1}]]}`,
		`list[name="a"].env`:            `{metadata: {annotations: {a.b/c: x}}, list: [{name: a, tty: true}, {name: b, env: []}], rows: [[{k: 1}]]}`,
		`rows[0][0].k`:                  `{metadata: {annotations: {a.b/c: x}}, list: [{name: a, env: [], tty: true}, {name: b, env: []}], rows: [[{}]]}`,
		`list`:                          `{metadata: {annotations: {a.b/c: x}}, rows: [[{k: 1}]]}`,
		`list[name="b"]`:                text, // an entry stays
		`list[name="z"].env`:            text,
		`metadata.nothing.below`:        text,
		`no path at all`:                text,
	} {
		object := decoded(t, text)
		assert.DeepEqual(t, diff.Without(object, path), decoded(t, want))
		assert.DeepEqual(t, object, decoded(t, text))
	}
}
