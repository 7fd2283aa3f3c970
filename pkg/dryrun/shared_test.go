package dryrun_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

func TestAValueThatAnotherManagerHasAsWellIsNotedAndMovesNoHash(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	named := func(data string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: " + namespace + "}, data: {" + data + "}}"
	}
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, named("mine: m"))
	cluster(t).Apply(t, kubetest.Admin, "other", named("e: e, d: d, c: c, b: b, mine: m"))
	notes := func(data string) ([]string, string) {
		made := built(t, observation{}.observe(t, named(data)))
		if len(made.Changes) == 0 {
			return made.Unchanged[0].Notes, made.Hash
		}
		return made.Changes[0].Notes, made.Hash
	}
	got, hash := notes("mine: m, new: x, b: b, c: c, d: d, e: e")
	assert.DeepEqual(t, got, []string{"from now on held together with other, which has the same values: data.b, data.c, data.d and 1 more"})
	got, _ = notes("mine: m, b: b")
	assert.Equal(t, len(got), 0, "nothing changes")
	got, _ = notes("mine: m, new: x")
	assert.Equal(t, len(got), 0, "what is shared already is no news")
	cluster(t).Apply(t, kubetest.Admin, "third", named("e: e"))
	got, again := notes("mine: m, new: x, b: b, c: c, d: d, e: e")
	assert.Equal(t, len(got), 2)
	assert.Equal(t, got[1], "from now on held together with third, which has the same values: data.e")
	assert.Equal(t, again, hash)
}
