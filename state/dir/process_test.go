package dir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/statetest"
)

// writerVariable makes a process of this test binary a writer: it holds the
// folder and how many records to write, "0" for no end, where every second one is
// deleted again.
const writerVariable = "STATE_DIR_WRITER"

func TestMain(m *testing.M) {
	if work, set := os.LookupEnv(writerVariable); set {
		if err := writeRecords(work); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeRecords takes the next free number, again and again, as gates do.
func writeRecords(work string) error {
	root := filepath.Dir(work)
	wanted, err := strconv.Atoi(filepath.Base(work))
	if err != nil {
		return err
	}
	store := Open(root, time.Now)
	for number, written := 1, 0; wanted == 0 || written < wanted; number++ {
		record := statetest.Record(state.TypePlan, state.NumberedName(state.TypePlan, number), "alice")
		record.Data[state.DataPlan] = make([]byte, 64<<10)
		switch _, err := store.Create(context.Background(), record); {
		case err == nil:
			written++
			if wanted == 0 && written%2 == 0 {
				err = store.Delete(context.Background(), record.Type, record.Name)
			}
			if err != nil {
				return err
			}
		case !errors.Is(err, state.ErrExists):
			return err
		}
	}
	return nil
}

func writer(t *testing.T, root string, wanted int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), writerVariable+"="+filepath.Join(root, strconv.Itoa(wanted)))
	cmd.Stderr = os.Stderr
	assert.NilError(t, cmd.Start())
	return cmd
}

// whole reads all records, each of which must be all there.
func whole(t *testing.T, store *Store) []state.Record {
	t.Helper()
	records, err := store.List(context.Background(), state.TypePlan, state.Selector{})
	assert.NilError(t, err)
	for _, r := range records {
		assert.Equal(t, len(r.Data[state.DataPlan]), 64<<10, r.Name)
		assert.Assert(t, r.Data[state.DataEnvelope] != nil && !r.Created.IsZero(), r.Name)
	}
	return records
}

func TestWritersInSeveralProcessesShareTheNumbers(t *testing.T) {
	store, err := Create(filepath.Join(t.TempDir(), "records"), time.Now)
	assert.NilError(t, err)
	const writers, each = 4, 25
	var all []*exec.Cmd
	for range writers {
		all = append(all, writer(t, store.root, each))
	}
	for _, cmd := range all {
		assert.NilError(t, cmd.Wait())
	}
	records := whole(t, store)
	assert.Equal(t, len(records), writers*each)
	assert.Equal(t, state.LastNumber(state.TypePlan, records), writers*each, "no number was lost")
}

func TestAWriterThatIsKilledWhileItWritesOrDeletesLeavesNoHalfRecord(t *testing.T) {
	store, err := Create(filepath.Join(t.TempDir(), "records"), time.Now)
	assert.NilError(t, err)
	for range 5 {
		before := len(whole(t, store))
		cmd := writer(t, store.root, 0)
		poll.WaitOn(t, func(poll.LogT) poll.Result {
			if len(whole(t, store)) > before+2 {
				return poll.Success()
			}
			return poll.Continue("nothing was written yet")
		}, poll.WithDelay(time.Millisecond), poll.WithTimeout(20*time.Second))
		assert.NilError(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		whole(t, store)
	}
	draft := filepath.Join(store.root, draftPrefix+"left")
	assert.NilError(t, os.Mkdir(draft, 0o700))
	past := time.Now().Add(-2 * maxDraft)
	assert.NilError(t, os.Chtimes(draft, past, past))
	count := len(whole(t, store))
	_, err = store.Create(context.Background(), statetest.Record(state.TypePlan, state.NumberedName(state.TypePlan, 100_000), "alice"))
	assert.NilError(t, err)
	_, err = os.Stat(draft)
	assert.ErrorIs(t, err, os.ErrNotExist)
	all, err := store.List(context.Background(), state.TypePlan, state.Selector{})
	assert.NilError(t, err)
	assert.Equal(t, len(all), count+1)
}
