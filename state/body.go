package state

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Body is what a plan record carries beside its envelope: the canonical plan
// and the before-state, packed, each in the record itself or in chunks.
type Body struct {
	plan, before packed
	digest       string // of the before-state, unpacked; "" if there is none
}

type packed struct {
	inline []byte   // gzip, nil if it is in parts or absent
	parts  [][]byte // its pieces
}

// bodyStore is what bodies need of a Store.
type bodyStore interface {
	Create(ctx context.Context, record Record) (Record, error)
	Get(ctx context.Context, t Type, name string) (Record, error)
}

// PackBody packs a plan and its before-state (nil if there is none). Together
// they must fit in one record, so the before-state is the first to go into
// chunks, then the plan.
func PackBody(plan, before []byte) (Body, error) {
	var body Body
	data, err := Compress(plan)
	if err != nil {
		return body, fmt.Errorf("plan: %w", err)
	}
	body.plan = packed{inline: data}
	if len(data) > MaxInline {
		body.plan = packed{parts: split(data)}
	}
	if before == nil {
		return body, nil
	}
	body.digest = Digest(before)
	if data, err = Compress(before); err != nil {
		return body, fmt.Errorf("before-state: %w", err)
	}
	body.before = packed{inline: data}
	if len(body.plan.inline)+len(data) > MaxInline {
		body.before = packed{parts: split(data)}
	}
	return body, nil
}

// Describe enters the digests of the body into the header that is to be
// signed.
func (b Body) Describe(header *Plan) {
	header.Before, header.Parts, header.BeforeParts = b.digest, digests(b.plan.parts), digests(b.before.parts)
}

// PutPlan writes the chunks of a body, then the plan record: creating that is
// the commit, and takes the number. record holds the signed envelope, whose
// header Describe has filled. ErrExists: another plan has the number; the
// chunks stay, and serve the next try.
func PutPlan(ctx context.Context, store bodyStore, record Record, body Body) (Record, error) {
	if record.Data[DataEnvelope] == nil {
		return Record{}, fmt.Errorf("plan %s: no signed envelope", record.Name)
	}
	for _, part := range slices.Concat(body.plan.parts, body.before.parts) {
		if err := putChunk(ctx, store, record, part); err != nil {
			return Record{}, err
		}
	}
	record.Data = maps.Clone(record.Data)
	if body.plan.inline != nil {
		record.Data[DataPlan] = body.plan.inline
	}
	if body.before.inline != nil {
		record.Data[DataBefore] = body.before.inline
	}
	return store.Create(ctx, record)
}

// putChunk writes a part under the first of its names that is free, or holds it
// already, left by another try.
func putChunk(ctx context.Context, store bodyStore, plan Record, part []byte) error {
	claims := plan.Claims
	claims.PlanHash = ""
	var taken error
	for _, name := range ChunkNames(Digest(part), plan.Data[DataEnvelope]) {
		_, err := store.Create(ctx, Record{Type: TypeChunk, Name: name, Plan: plan.Plan, Scope: plan.Scope,
			Claims: claims, Data: map[string][]byte{DataPart: part}})
		if !errors.Is(err, ErrExists) {
			return err
		}
		if _, taken = readChunk(ctx, store, name, Digest(part)); taken == nil {
			return nil
		}
	}
	return taken
}

// GetBody reads the plan and before-state of a plan record whose header has
// been verified, and checks every digest that the header gives. before is nil
// if the header names none. Whether the plan is the one that the record is
// about, its hash tells (pkg/plan).
func GetBody(ctx context.Context, store bodyStore, record Record, header Plan) (plan, before []byte, err error) {
	plan, err = unpack(ctx, store, record, DataPlan, header.Parts)
	if err != nil {
		return nil, nil, fmt.Errorf("plan of %s: %w", record.Name, err)
	}
	if header.Before == "" {
		if len(header.BeforeParts) > 0 || record.Data[DataBefore] != nil {
			return nil, nil, fmt.Errorf("before-state of %s: not in the signed header", record.Name)
		}
		return plan, nil, nil
	}
	before, err = unpack(ctx, store, record, DataBefore, header.BeforeParts)
	if err == nil && Digest(before) != header.Before {
		err = errors.New("digest differs from the signed one")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("before-state of %s: %w", record.Name, err)
	}
	return plan, before, nil
}

func unpack(ctx context.Context, store bodyStore, record Record, key string, parts []string) ([]byte, error) {
	inline := record.Data[key]
	switch {
	case inline == nil && len(parts) == 0:
		return nil, errors.New("missing")
	case inline != nil && len(parts) > 0:
		return nil, errors.New("both in the record and in chunks")
	case len(parts) > MaxBody/MaxInline+1:
		return nil, fmt.Errorf("%d chunks are more than a body can have", len(parts))
	}
	data := inline
	for _, digest := range parts {
		part, err := getChunk(ctx, store, record.Data[DataEnvelope], digest)
		if err != nil {
			return nil, err
		}
		data = append(data, part...)
	}
	return Decompress(data, MaxBody)
}

// getChunk reads a part of the plan with this envelope. What its names lead to
// counts only with the right digest; the error is that of the plain name.
func getChunk(ctx context.Context, store bodyStore, envelope []byte, digest string) ([]byte, error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("chunk %q: no digest", digest)
	}
	var first error
	for _, name := range ChunkNames(digest, envelope) {
		part, err := readChunk(ctx, store, name, digest)
		if err == nil {
			return part, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

func readChunk(ctx context.Context, store bodyStore, name, digest string) ([]byte, error) {
	record, err := store.Get(ctx, TypeChunk, name)
	if err != nil {
		return nil, fmt.Errorf("chunk %s: %w", digest, err)
	}
	part := record.Data[DataPart]
	if Digest(part) != digest {
		return nil, fmt.Errorf("chunk %s: content has another digest", digest)
	}
	return bytes.Clone(part), nil
}

// split cuts data into parts of MaxInline bytes; the last may be shorter.
func split(data []byte) [][]byte { return slices.Collect(slices.Chunk(data, MaxInline)) }

func digests(parts [][]byte) []string {
	var all []string
	for _, part := range parts {
		all = append(all, Digest(part))
	}
	return all
}
