package gate_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestWhatARequestNeedsTellsTheSameOfItAsAllRecords(t *testing.T) {
	w, emergency := glass(t)
	w.change("cart", 3)
	w.run(flag("cart", "v7", "v8"))
	w.run(flag("shop", "v20", "v21"))
	w.now = w.now.Add(time.Hour)
	all := w.load()
	g := w.as(ci())
	g.Store = frugal{w.store}
	for _, want := range all.Requests() {
		for _, ref := range []string{want.ID, fmt.Sprint(want.Number), fmt.Sprintf("#%d", want.Number)} {
			part, err := g.LoadAbout(context.Background(), ref)
			assert.NilError(t, err)
			same, err := part.Find(ref)
			assert.NilError(t, err)
			assert.Equal(t, same.ID, want.ID)
			assert.Equal(t, same.Status, want.Status)
			assert.Equal(t, len(same.Decisions), len(want.Decisions))
			assert.Equal(t, len(same.Audit), len(want.Audit))
			assert.Assert(t, same.Expires.Equal(want.Expires))
			assert.Equal(t, part.ChainHead(), all.ChainHead())
			assert.Equal(t, same.Unreviewed(), want.ID == emergency)
		}
	}
}

func TestARequestThatIsNamedOtherwiseIsFoundAmongAll(t *testing.T) {
	w := story(t)
	for n := range 33 { // more than are looked at one by one
		w.run(flag("shop", "x", fmt.Sprint(n)))
	}
	oldest := w.load().Requests()
	first := oldest[len(oldest)-1]
	for _, ref := range []string{first.ID, first.ID[:8], first.Hash} {
		l, err := w.as(ci()).LoadAbout(context.Background(), ref)
		assert.NilError(t, err)
		found, err := l.Find(ref)
		assert.NilError(t, err)
		assert.Equal(t, found.ID, first.ID)
	}
	l, err := w.as(ci()).LoadAbout(context.Background(), "#4711")
	assert.NilError(t, err)
	_, err = l.Find("#4711")
	assert.ErrorContains(t, err, "no change request")
}
