package state

import (
	"context"
	"errors"
	"time"
)

// Answers of a store that callers tell apart. Anything else is "unreadable".
var (
	// ErrExists: a record of this type and name exists already.
	ErrExists = errors.New("record exists")
	// ErrNotFound: there is no such record.
	ErrNotFound = errors.New("record not found")
	// ErrForbidden: the caller may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrNoStore: the store itself does not exist (no namespace, no folder).
	ErrNoStore = errors.New("no changeward install")
)

// Selector narrows a List; an empty field matches all.
type Selector struct {
	Plan  string // label value, see PlanLabel
	Scope string // label value, see ScopeLabel
}

// Store keeps records. Implementations are state/cluster and state/dir; both
// pass state/statetest.
type Store interface {
	// Create writes a record whole or not at all. Of two callers with one
	// name exactly one succeeds, the other gets ErrExists: that is the lock
	// behind every number.
	Create(ctx context.Context, record Record) (Record, error)
	// Get reads one record; ErrNotFound if it is not there.
	Get(ctx context.Context, t Type, name string) (Record, error)
	// List reads all records of a type, sorted by name. Objects in the store
	// that are no records of this type (wrong kind, label or Secret type) are
	// left out.
	List(ctx context.Context, t Type, selector Selector) ([]Record, error)
	// Index lists as List does, without Data, UID and Immutable, and may name
	// what List leaves out: it tells which names are taken, and where to look.
	Index(ctx context.Context, t Type, selector Selector) ([]Record, error)
	// Delete removes a record; only uninstall and archive call it.
	Delete(ctx context.Context, t Type, name string) error
	// Now is the store's clock: for a cluster, the API server's Date header.
	Now(ctx context.Context) (time.Time, error)
}
