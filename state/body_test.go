package state

import (
	"bytes"
	"compress/gzip"
	"context"
	"math/rand/v2"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

func TestGzipIsTheSameEachTimeAndReadsBack(t *testing.T) {
	data := bytes.Repeat([]byte(`{"kind":"ConfigMap"}`), 1000)
	first, err := Compress(data)
	assert.NilError(t, err)
	second, err := Compress(data)
	assert.NilError(t, err)
	assert.Assert(t, bytes.Equal(first, second))
	assert.Assert(t, cmp.DeepEqual(first[4:8], []byte{0, 0, 0, 0}), "carries a time")
	back, err := Decompress(first, len(data))
	assert.NilError(t, err)
	assert.Assert(t, bytes.Equal(back, data))
}

func TestABombIsNotUnpacked(t *testing.T) {
	var bomb bytes.Buffer
	writer := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 80 {
		_, err := writer.Write(zeros)
		assert.NilError(t, err)
	}
	assert.NilError(t, writer.Close())
	_, err := Decompress(bomb.Bytes(), MaxBody)
	assert.ErrorContains(t, err, "more than the limit")
	_, err = Compress(make([]byte, MaxBody+1))
	assert.ErrorContains(t, err, "more than the limit")
}

func TestWhatIsNotOneGzipStreamIsRefused(t *testing.T) {
	good, err := Compress([]byte("{}"))
	assert.NilError(t, err)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-6] ^= 1
	for name, data := range map[string][]byte{
		"nothing":       nil,
		"no gzip":       []byte("{}"),
		"cut off":       good[:len(good)-1],
		"checksum":      flipped,
		"data behind":   append(bytes.Clone(good), 0),
		"second stream": append(bytes.Clone(good), good...),
	} {
		_, err := Decompress(data, MaxBody)
		assert.Assert(t, err != nil, name)
	}
}

// memory is the least store that bodies need.
type memory map[string]Record

func (m memory) Create(_ context.Context, record Record) (Record, error) {
	if _, taken := m[record.Name]; taken {
		return Record{}, ErrExists
	}
	m[record.Name] = record
	return record, nil
}

func (m memory) Get(_ context.Context, _ Type, name string) (Record, error) {
	record, ok := m[name]
	if !ok {
		return Record{}, ErrNotFound
	}
	return record, nil
}

func put(t *testing.T, plan, before []byte) (memory, Record, Plan) {
	t.Helper()
	body, err := PackBody(plan, before)
	assert.NilError(t, err)
	var header Plan
	body.Describe(&header)
	kept := memory{}
	record, err := PutPlan(context.Background(), kept, Record{Type: TypePlan, Name: "cw-plan-000001",
		Claims: Claims{Actor: "alice"}, Plan: "p", Scope: "s", Data: map[string][]byte{DataEnvelope: []byte("{}")}}, body)
	assert.NilError(t, err)
	return kept, record, header
}

func noise(size int) []byte {
	source, data := rand.New(rand.NewPCG(1, 2)), make([]byte, size)
	for i := range data {
		data[i] = byte(source.Uint32())
	}
	return data
}

func TestABodyReadsBackWhereverItLies(t *testing.T) {
	for _, test := range []struct {
		name                string
		plan, before        []byte
		parts, beforeChunks int
	}{
		{"small: in the record", []byte("plan"), []byte("before"), 0, 0},
		{"no before-state", []byte("plan"), nil, 0, 0},
		{"an empty before-state", []byte("plan"), []byte{}, 0, 0},
		{"both together too large: the before-state in a chunk", noise(MaxInline * 3 / 4), noise(MaxInline / 2), 0, 1},
		{"a large plan", noise(MaxInline * 2), []byte("before"), 3, 0},
		{"both large", noise(MaxInline * 2), noise(MaxInline * 3 / 2), 3, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept, record, header := put(t, test.plan, test.before)
			assert.Assert(t, cmp.Len(header.Parts, test.parts))
			assert.Assert(t, cmp.Len(header.BeforeParts, test.beforeChunks))
			for _, stored := range kept {
				size := 0
				for _, data := range stored.Data {
					size += len(data)
				}
				assert.Assert(t, size <= MaxInline+2, "%s has %d bytes", stored.Name, size)
				assert.Equal(t, stored.Claims.Actor, "alice")
			}
			plan, before, err := GetBody(context.Background(), kept, record, header)
			assert.NilError(t, err)
			assert.Assert(t, bytes.Equal(plan, test.plan) && bytes.Equal(before, test.before))
		})
	}
}

func TestABodyThatIsNotTheSignedOneIsRefused(t *testing.T) {
	other, err := Compress([]byte("other"))
	assert.NilError(t, err)
	for _, test := range []struct {
		name   string
		tamper func(kept memory, record *Record, header *Plan)
	}{
		{"chunk missing", func(kept memory, _ *Record, header *Plan) { delete(kept, ChunkName(header.Parts[1])) }},
		{"chunk of other content", func(kept memory, _ *Record, header *Plan) {
			kept[ChunkName(header.Parts[1])] = Record{Data: map[string][]byte{DataPart: other}}
		}},
		{"chunks swapped", func(_ memory, _ *Record, header *Plan) {
			header.Parts[0], header.Parts[1] = header.Parts[1], header.Parts[0]
		}},
		{"chunk left out", func(_ memory, _ *Record, header *Plan) { header.Parts = header.Parts[:2] }},
		{"chunk twice", func(_ memory, _ *Record, header *Plan) { header.Parts = append(header.Parts, header.Parts[2]) }},
		{"name of a chunk that is no digest", func(_ memory, _ *Record, header *Plan) { header.Parts[0] = "../x" }},
		{"more chunks than a body has", func(_ memory, _ *Record, header *Plan) { header.Parts = make([]string, 1000) }},
		{"both in chunks and in the record", func(_ memory, record *Record, _ *Plan) { record.Data[DataPlan] = other }},
		{"no plan at all", func(_ memory, _ *Record, header *Plan) { header.Parts = nil }},
		{"another before-state", func(_ memory, record *Record, _ *Plan) { record.Data[DataBefore] = other }},
		{"before-state missing", func(_ memory, record *Record, _ *Plan) { delete(record.Data, DataBefore) }},
		{"before-state that nobody signed", func(_ memory, _ *Record, header *Plan) { header.Before = "" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept, record, header := put(t, noise(MaxInline*2), []byte("before"))
			test.tamper(kept, &record, &header)
			_, _, err := GetBody(context.Background(), kept, record, header)
			assert.ErrorContains(t, err, "cw-plan-000001")
		})
	}
}

func TestChunksOfAnEarlierTryServeTheNextAndForeignOnesDoNot(t *testing.T) {
	body, err := PackBody(noise(MaxInline*2), nil)
	assert.NilError(t, err)
	record := Record{Type: TypePlan, Name: "cw-plan-000001", Data: map[string][]byte{DataEnvelope: []byte("{}")}}
	kept := memory{"cw-plan-000001": {}}
	_, err = PutPlan(context.Background(), kept, record, body)
	assert.ErrorIs(t, err, ErrExists)
	record.Name = "cw-plan-000002"
	_, err = PutPlan(context.Background(), kept, record, body)
	assert.NilError(t, err)

	var header Plan
	body.Describe(&header)
	for _, name := range ChunkNames(header.Parts[0], record.Data[DataEnvelope]) {
		kept[name] = Record{Data: map[string][]byte{DataPart: []byte("junk")}}
	}
	record.Name = "cw-plan-000003"
	_, err = PutPlan(context.Background(), kept, record, body)
	assert.ErrorContains(t, err, "another digest")
	_, committed := kept["cw-plan-000003"]
	assert.Assert(t, !committed, "a plan was written over a broken chunk")
}

func TestTheSecondNameOfAChunkCannotBeForeseen(t *testing.T) {
	one, other := ChunkNames(Digest([]byte("part")), []byte("envelope")), ChunkNames(Digest([]byte("part")), []byte("signed at another time"))
	assert.Equal(t, one[0], other[0])
	assert.Assert(t, one[1] != other[1] && one[1] != one[0])
	assert.Equal(t, len(one[1]), len(one[0]))
}

func FuzzDecompress(f *testing.F) {
	good, err := Compress([]byte("{}"))
	assert.NilError(f, err)
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := Decompress(data, 1<<16)
		assert.Assert(t, err != nil || len(out) <= 1<<16)
	})
}
