package dir

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/statetest"
)

func TestAFolderKeepsThePromisesOfAStore(t *testing.T) {
	statetest.Run(t, "alice", func(t *testing.T) state.Store {
		store, err := Create(filepath.Join(t.TempDir(), "records"), time.Now)
		assert.NilError(t, err)
		return store
	})
}

func TestAFolderThatIsNotThereIsNoStore(t *testing.T) {
	store := Open(filepath.Join(t.TempDir(), "none"), time.Now)
	_, err := store.List(context.Background(), state.TypePlan, state.Selector{})
	assert.ErrorIs(t, err, state.ErrNoStore)
	_, err = store.Get(context.Background(), state.TypePlan, "cw-plan-000001")
	assert.ErrorIs(t, err, state.ErrNoStore)
	_, err = store.Create(context.Background(), statetest.Record(state.TypePlan, "cw-plan-000001", "alice"))
	assert.ErrorIs(t, err, state.ErrNoStore)
}

func TestForeignFilesAreNoRecordsAndBrokenRecordsAreErrors(t *testing.T) {
	root := t.TempDir()
	store, err := Create(root, time.Now)
	assert.NilError(t, err)
	made, err := store.Create(context.Background(), statetest.Record(state.TypePlan, "cw-plan-000001", "alice"))
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(root, "plan", "README"), nil, 0o600))
	assert.NilError(t, os.Mkdir(filepath.Join(root, "plan", "notes"), 0o700))
	records, err := store.List(context.Background(), state.TypePlan, state.Selector{})
	assert.NilError(t, err)
	assert.DeepEqual(t, records, []state.Record{made})

	assert.NilError(t, os.Remove(filepath.Join(root, "plan", "cw-plan-000001", metaFile)))
	_, err = store.List(context.Background(), state.TypePlan, state.Selector{})
	assert.ErrorContains(t, err, "cw-plan-000001")
}

func TestAFileThatLeadsElsewhereOrHasNoEndIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"link":    func(file string) error { return os.Symlink("/dev/zero", file) },
		"too big": func(file string) error { return os.WriteFile(file, make([]byte, maxFile+1), 0o600) },
	} {
		root := t.TempDir()
		store, err := Create(root, time.Now)
		assert.NilError(t, err)
		_, err = store.Create(context.Background(), statetest.Record(state.TypePlan, "cw-plan-000001", "alice"))
		assert.NilError(t, err)
		assert.NilError(t, spoil(filepath.Join(root, "plan", "cw-plan-000001", "extra")))
		_, err = store.List(context.Background(), state.TypePlan, state.Selector{})
		assert.ErrorContains(t, err, "extra", name)
	}
}
