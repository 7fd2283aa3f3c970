package sign

import (
	"bytes"
	"context"
	"maps"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// flips calls try with each variant of the bytes that differs in one bit of
// one byte: the lowest, the one that tells the cases of letters apart, and the
// highest.
func flips(good []byte, try func(at int, bad []byte)) {
	for i := range good {
		for _, bit := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= bit
			try(i, bad)
		}
	}
}

func TestNoByteOfAnyRecordOfVersion1CanBeFlipped(t *testing.T) {
	t.Parallel()
	for _, kind := range state.Types() {
		empty, signed := predicates()[kind]
		if !signed {
			continue
		}
		for _, record := range list(t, kind) {
			flips(record.Data[state.DataEnvelope], func(at int, bad []byte) {
				_, err := Open(kind, bad, empty())
				assert.Assert(t, err != nil, "%s opens with another byte %d", record.Name, at)
			})
		}
	}
}

// exchanged is a store in which each chunk holds these bytes.
type exchanged struct {
	state.Store
	part []byte
}

func (e exchanged) Get(ctx context.Context, t state.Type, name string) (state.Record, error) {
	record, err := e.Store.Get(ctx, t, name)
	if err == nil && t == state.TypeChunk {
		record.Data = map[string][]byte{state.DataPart: e.part}
	}
	return record, err
}

// told is the plan and before-state that a plan record proves: they are read,
// and are those that its signed header and its hash name. "": it proves none.
func told(t *testing.T, store state.Store, record state.Record) string {
	t.Helper()
	var header state.Plan
	opened, err := Open(state.TypePlan, record.Data[state.DataEnvelope], &header)
	assert.NilError(t, err)
	body, before, err := state.GetBody(t.Context(), store, record, header)
	if err != nil {
		return ""
	}
	p, err := plan.Decode(body)
	if err != nil || p.Hash != opened.Hash {
		return ""
	}
	return string(body) + "\n" + string(before)
}

// The envelope and a chunk are bound byte for byte. What is packed in the
// record is bound as it unpacks: some bits of a gzip stream mean nothing.
func TestNoByteOfAPlanOfVersion1CanBeFlipped(t *testing.T) {
	t.Parallel()
	store := examples(t)
	for _, record := range list(t, state.TypePlan) {
		good := told(t, store, record)
		assert.Assert(t, good != "", record.Name)
		for _, key := range []string{state.DataPlan, state.DataBefore} {
			flips(record.Data[key], func(at int, bad []byte) {
				edited := record
				edited.Data = maps.Clone(record.Data)
				edited.Data[key] = bad
				tells := told(t, store, edited)
				assert.Assert(t, tells == "" || tells == good, "%s: byte %d of %s", record.Name, at, key)
			})
		}
		if record.Data[state.DataPlan] == nil {
			flips(list(t, state.TypeChunk)[0].Data[state.DataPart], func(at int, bad []byte) {
				assert.Equal(t, told(t, exchanged{store, bad}, record), "", "%s: byte %d of its chunk", record.Name, at)
			})
		}
	}
}
