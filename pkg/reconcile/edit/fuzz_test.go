package edit_test

import (
	"math/rand/v2"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/reconcile/edit"
)

// Whatever the text, an edit is right or refused, and nothing panics.
func FuzzReplace(f *testing.F) {
	for seed := range uint64(20) {
		source, _, _, _ := generated(newWriter(rand.New(rand.NewPCG(seed, 2))))
		f.Add([]byte(source), seed)
	}
	for _, text := range []string{"a: &x {k: 1}\nb:\n  <<: *x\n", "? a\n: b\n", "- - a\n  - b\n", "a: [b: c, {d}]\n", "%YAML 1.1\n---\na: >2-\n   x\n...\n", "{\"a\":[]}"} {
		f.Add([]byte(text), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if len(data) > 4096 {
			return
		}
		text, err := edit.Open("fuzz.yaml", data)
		if err != nil || len(text.Values()) == 0 {
			return
		}
		m := &mutation{writer: newWriter(rand.New(rand.NewPCG(seed, 3))), touched: map[int]bool{}}
		index := m.IntN(len(text.Values()))
		want := m.change(copied(text.Values()[index]), "")
		got, err := text.Replace(index, want)
		if err != nil {
			return
		}
		again, err := edit.Open("fuzz.yaml", got)
		assert.NilError(t, err)
		assert.Assert(t, diff.Equal(again.Values()[index], want))
		if rest, err := text.Remove(index); err == nil && rest != nil {
			again, err = edit.Open("fuzz.yaml", rest)
			assert.NilError(t, err)
			assert.Equal(t, len(again.Values()), len(text.Values())-1)
		}
	})
}
