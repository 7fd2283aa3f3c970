// Package statetest is the suite that every state.Store passes: enter at Run.
package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/state"
)

// Run checks that a store keeps the promises of state.Store. open gives a new,
// empty store each time it is called. actor is who the store's caller is: what
// admission lets be named as the writer.
func Run(t *testing.T, actor string, open func(t *testing.T) state.Store) {
	suite := suite{actor: actor}
	for _, test := range []struct {
		promise string
		check   func(*testing.T, state.Store)
	}{
		{"a record reads back as it was created", suite.roundTrip},
		{"records list by name, and by plan and scope", suite.lists},
		{"a name is taken once, also by twenty at a time", suite.oneWinner},
		{"what is not there is not found", suite.notFound},
		{"a name that belongs to no record is refused", suite.wrongNames},
		{"a deleted record is gone", suite.deletes},
		{"a large body survives in chunks", suite.largeBody},
		{"a body whose chunk is missing does not read", suite.missingChunk},
		{"a name of a chunk that other content took blocks no plan", suite.takenChunk},
		{"the clock does not run backwards, and dates records", suite.clock},
	} {
		t.Run(test.promise, func(t *testing.T) { test.check(t, open(t)) })
	}
}

// Record is an example of a record of type t, as actor may write it.
func Record(t state.Type, name, actor string) state.Record {
	record := state.Record{Type: t, Name: name, Plan: state.PlanLabel(hash), Scope: state.ScopeLabel("apps/shop"),
		Data: map[string][]byte{state.DataEnvelope: []byte(`{"payload":"e30="}`)}, Claims: state.Claims{Actor: actor}}
	if t == state.TypeDecision {
		record.Claims.PlanHash = hash
	}
	return record
}

const hash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

type suite struct{ actor string }

func (s suite) create(t *testing.T, store state.Store, record state.Record) state.Record {
	t.Helper()
	made, err := store.Create(context.Background(), record)
	assert.NilError(t, err)
	return made
}

func (s suite) roundTrip(t *testing.T, store state.Store) {
	for _, kind := range state.Types() {
		record := Record(kind, "cw-"+string(kind)+"-000001", s.actor)
		made := s.create(t, store, record)
		assert.Assert(t, made.Immutable && made.UID != "" && !made.Created.IsZero())
		read, err := store.Get(context.Background(), kind, record.Name)
		assert.NilError(t, err)
		assert.DeepEqual(t, read, made)
		record.Created, record.UID, record.Immutable = made.Created, made.UID, true
		assert.DeepEqual(t, made, record)
	}
}

func (s suite) lists(t *testing.T, store state.Store) {
	none, err := store.List(context.Background(), state.TypePlan, state.Selector{})
	assert.NilError(t, err)
	assert.Equal(t, len(none), 0)

	other := Record(state.TypePlan, state.NumberedName(state.TypePlan, 3), s.actor)
	other.Plan, other.Scope = state.PlanLabel(state.Digest(nil)), state.ScopeLabel("apps/other")
	s.create(t, store, other)
	s.create(t, store, Record(state.TypePlan, state.NumberedName(state.TypePlan, 10), s.actor))
	s.create(t, store, Record(state.TypePlan, state.NumberedName(state.TypePlan, 2), s.actor))
	s.create(t, store, Record(state.TypeAudit, state.NumberedName(state.TypeAudit, 1), s.actor))

	for _, test := range []struct {
		selector state.Selector
		want     []string
	}{
		{state.Selector{}, []string{"cw-plan-000002", "cw-plan-000003", "cw-plan-000010"}},
		{state.Selector{Plan: other.Plan}, []string{"cw-plan-000003"}},
		{state.Selector{Scope: state.ScopeLabel("apps/shop")}, []string{"cw-plan-000002", "cw-plan-000010"}},
		{state.Selector{Plan: other.Plan, Scope: state.ScopeLabel("apps/shop")}, nil},
	} {
		records, err := store.List(context.Background(), state.TypePlan, test.selector)
		assert.NilError(t, err)
		var names []string
		for _, record := range records {
			names = append(names, record.Name)
			read, err := store.Get(context.Background(), state.TypePlan, record.Name)
			assert.NilError(t, err)
			assert.DeepEqual(t, record, read)
		}
		assert.DeepEqual(t, names, test.want)
		index, err := store.Index(context.Background(), state.TypePlan, test.selector)
		assert.NilError(t, err)
		for i := range records {
			records[i].Data, records[i].UID, records[i].Immutable = nil, "", false
		}
		assert.DeepEqual(t, index, records)
	}
}

func (s suite) oneWinner(t *testing.T, store state.Store) {
	const racers = 20
	errs := make([]error, racers)
	var wait sync.WaitGroup
	for i := range racers {
		wait.Go(func() {
			record := Record(state.TypePlan, state.NumberedName(state.TypePlan, 1), s.actor)
			record.Data[state.DataEnvelope] = fmt.Appendf(nil, "racer %d", i)
			_, errs[i] = store.Create(context.Background(), record)
		})
	}
	wait.Wait()
	winner := -1
	for i, err := range errs {
		if err == nil {
			assert.Equal(t, winner, -1, "racers %d and %d both won", winner, i)
			winner = i
			continue
		}
		assert.ErrorIs(t, err, state.ErrExists)
	}
	assert.Assert(t, winner >= 0, "nobody won")
	record, err := store.Get(context.Background(), state.TypePlan, state.NumberedName(state.TypePlan, 1))
	assert.NilError(t, err)
	assert.Equal(t, string(record.Data[state.DataEnvelope]), fmt.Sprintf("racer %d", winner))
}

func (s suite) notFound(t *testing.T, store state.Store) {
	for _, kind := range []state.Type{state.TypePlan, state.TypeDecision} {
		name := "cw-" + string(kind) + "-000404"
		_, err := store.Get(context.Background(), kind, name)
		assert.ErrorIs(t, err, state.ErrNotFound)
		assert.ErrorContains(t, err, name)
		assert.ErrorIs(t, store.Delete(context.Background(), kind, name), state.ErrNotFound)
	}
}

func (s suite) wrongNames(t *testing.T, store state.Store) {
	for _, record := range []state.Record{
		Record(state.TypePlan, "cw-audit-000001", s.actor),
		Record(state.TypePlan, "plan-000001", s.actor),
		Record("poem", "cw-poem-000001", s.actor),
		Record(state.TypePlan, "cw-plan-../../000001", s.actor),
	} {
		_, err := store.Create(context.Background(), record)
		assert.Assert(t, err != nil, "created %s", record.Name)
		assert.Assert(t, !errors.Is(err, state.ErrExists))
	}
}

func (s suite) deletes(t *testing.T, store state.Store) {
	for _, kind := range []state.Type{state.TypePlan, state.TypeDecision} {
		record := Record(kind, "cw-"+string(kind)+"-000001", s.actor)
		s.create(t, store, record)
		assert.NilError(t, store.Delete(context.Background(), kind, record.Name))
		_, err := store.Get(context.Background(), kind, record.Name)
		assert.ErrorIs(t, err, state.ErrNotFound)
	}
}

func (s suite) clock(t *testing.T, store state.Store) {
	before, err := store.Now(context.Background())
	assert.NilError(t, err)
	made := s.create(t, store, Record(state.TypePlan, state.NumberedName(state.TypePlan, 1), s.actor))
	after, err := store.Now(context.Background())
	assert.NilError(t, err)
	assert.Equal(t, before.Location(), time.UTC)
	assert.Equal(t, made.Created.Location(), time.UTC)
	assert.Assert(t, !made.Created.Before(before) && !after.Before(made.Created), "%s, %s, %s", before, made.Created, after)
	assert.Assert(t, after.Sub(before) < time.Minute)
}

// noise does not compress, so its gzip is larger than one record.
func noise(size int) []byte {
	source, data := rand.New(rand.NewPCG(1, 2)), make([]byte, size)
	for i := range data {
		data[i] = byte(source.Uint32())
	}
	return data
}

func (s suite) putLarge(t *testing.T, store state.Store) (record state.Record, header state.Plan, plan, before []byte) {
	t.Helper()
	plan, before = noise(state.MaxInline*2), noise(state.MaxInline/2)
	body, err := state.PackBody(plan, before)
	assert.NilError(t, err)
	body.Describe(&header)
	assert.Assert(t, cmp.Len(header.Parts, 3))
	record, err = state.PutPlan(context.Background(), store,
		Record(state.TypePlan, state.NumberedName(state.TypePlan, 7), s.actor), body)
	assert.NilError(t, err)
	return record, header, plan, before
}

func (s suite) largeBody(t *testing.T, store state.Store) {
	record, header, plan, before := s.putLarge(t, store)
	gotPlan, gotBefore, err := state.GetBody(context.Background(), store, record, header)
	assert.NilError(t, err)
	assert.Assert(t, bytes.Equal(gotPlan, plan) && bytes.Equal(gotBefore, before))

	// The same body again, under another number, uses the same chunks.
	body, err := state.PackBody(plan, before)
	assert.NilError(t, err)
	_, err = state.PutPlan(context.Background(), store, Record(state.TypePlan, state.NumberedName(state.TypePlan, 8), s.actor), body)
	assert.NilError(t, err)
	chunks, err := store.List(context.Background(), state.TypeChunk, state.Selector{})
	assert.NilError(t, err)
	assert.Assert(t, cmp.Len(chunks, len(header.Parts)+len(header.BeforeParts)))
}

func (s suite) missingChunk(t *testing.T, store state.Store) {
	record, header, _, _ := s.putLarge(t, store)
	assert.NilError(t, store.Delete(context.Background(), state.TypeChunk, state.ChunkName(header.Parts[1])))
	_, _, err := state.GetBody(context.Background(), store, record, header)
	assert.ErrorIs(t, err, state.ErrNotFound)
	assert.ErrorContains(t, err, header.Parts[1])
}

func (s suite) takenChunk(t *testing.T, store state.Store) {
	body, err := state.PackBody(noise(state.MaxInline*2), nil)
	assert.NilError(t, err)
	var foreseen state.Plan
	body.Describe(&foreseen)
	for _, digest := range foreseen.Parts {
		junk := Record(state.TypeChunk, state.ChunkName(digest), s.actor)
		junk.Data = map[string][]byte{state.DataPart: []byte("junk")}
		s.create(t, store, junk)
	}
	record, header, plan, before := s.putLarge(t, store)
	gotPlan, gotBefore, err := state.GetBody(context.Background(), store, record, header)
	assert.NilError(t, err)
	assert.Assert(t, bytes.Equal(gotPlan, plan) && bytes.Equal(gotBefore, before))
}
