package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/state"
)

// ErrReadOnly is the answer of a bundle to who wants to change it.
var ErrReadOnly = errors.New("a bundle is never written to")

// Store serves the records of a bundle. It implements state.Store.
type Store struct {
	bundle *Bundle
	byType map[state.Type][]state.Record
}

// Store is the bundle as a store that cannot be written to.
func (b *Bundle) Store() *Store {
	s := &Store{bundle: b, byType: map[state.Type][]state.Record{}}
	for _, r := range b.Records {
		s.byType[r.Type] = append(s.byType[r.Type], r)
	}
	for _, list := range s.byType {
		slices.SortFunc(list, func(a, b state.Record) int { return strings.Compare(a.Name, b.Name) })
	}
	return s
}

// Create implements state.Store: it is refused.
func (s *Store) Create(_ context.Context, record state.Record) (state.Record, error) {
	return state.Record{}, fmt.Errorf("create %s: %w", record.Name, ErrReadOnly)
}

// Delete implements state.Store: it is refused.
func (s *Store) Delete(_ context.Context, _ state.Type, name string) error {
	return fmt.Errorf("delete %s: %w", name, ErrReadOnly)
}

// Get implements state.Store.
func (s *Store) Get(_ context.Context, t state.Type, name string) (state.Record, error) {
	for _, r := range s.byType[t] {
		if r.Name == name {
			return r, nil
		}
	}
	return state.Record{}, fmt.Errorf("get %s %s: %w", t, name, state.ErrNotFound)
}

// List implements state.Store.
func (s *Store) List(_ context.Context, t state.Type, selector state.Selector) ([]state.Record, error) {
	var out []state.Record
	for _, r := range s.byType[t] {
		if (selector.Plan == "" || selector.Plan == r.Plan) && (selector.Scope == "" || selector.Scope == r.Scope) {
			out = append(out, r)
		}
	}
	return out, nil
}

// Index implements state.Store.
func (s *Store) Index(ctx context.Context, t state.Type, selector state.Selector) ([]state.Record, error) {
	out, err := s.List(ctx, t, selector)
	for i := range out {
		out[i].Data, out[i].UID, out[i].Immutable = nil, "", false
	}
	return out, err
}

// Now implements state.Store: the time of the export.
func (s *Store) Now(context.Context) (time.Time, error) {
	return state.ParseTime(s.bundle.Header.Exported)
}

var _ state.Store = (*Store)(nil)
