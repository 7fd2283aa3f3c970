package dir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/statetest"
)

// flushes notes what is flushed, and whether the record had its name by then.
func flushes(store *Store, place string) *[]string {
	var all []string
	store.flush = func(file *os.File) error {
		name := filepath.Base(file.Name())
		if strings.HasPrefix(name, draftPrefix) {
			name = "the draft"
		}
		if _, err := os.Lstat(place); err == nil {
			name += ", named"
		}
		all = append(all, name)
		return file.Sync()
	}
	return &all
}

func TestARecordIsOnTheDiskBeforeItHasItsNameAndTheNameBeforeItIsReported(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "records")
	store, err := Create(root, time.Now)
	assert.NilError(t, err)
	record := statetest.Record(state.TypePlan, "cw-plan-000001", "alice")
	place := filepath.Join(root, "plan", record.Name)
	flushed := flushes(store, place)
	_, err = store.Create(context.Background(), record)
	assert.NilError(t, err)
	assert.DeepEqual(t, *flushed, []string{metaFile, state.DataEnvelope, "the draft", "records", "plan, named"})

	*flushed = nil
	assert.NilError(t, store.Delete(context.Background(), record.Type, record.Name))
	assert.DeepEqual(t, *flushed, []string{"plan"})
}

func TestWhatCannotBeFlushedIsNotReportedAsWritten(t *testing.T) {
	full := errors.New("no space left on device")
	for fails := range 5 {
		store, err := Create(filepath.Join(t.TempDir(), "records"), time.Now)
		assert.NilError(t, err)
		done := 0
		store.flush = func(file *os.File) error {
			if done++; done > fails {
				return full
			}
			return file.Sync()
		}
		_, err = store.Create(context.Background(), statetest.Record(state.TypePlan, "cw-plan-000001", "alice"))
		assert.ErrorIs(t, err, full)
		store.flush = (*os.File).Sync
		records, err := store.List(context.Background(), state.TypePlan, state.Selector{})
		assert.NilError(t, err)
		named := 0
		if fails == 4 { // it has its name, and may lose it when the power fails
			named = 1
		}
		assert.Equal(t, len(records), named)
	}
}
