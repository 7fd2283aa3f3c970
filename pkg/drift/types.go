package drift

import (
	"time"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// State of a direct change. The words are API.
type State string

// The states.
const (
	// Unreconciled: the cluster has it, and nothing proves that Git has it.
	Unreconciled State = "unreconciled"
	// Reconciled: Git has it, the owner has applied that, and the cluster still
	// has it.
	Reconciled State = "reconciled"
	// Reverted: the cluster no longer has it.
	Reverted State = "reverted"
)

// Change is one object that was changed past Git.
type Change struct {
	Key       manifest.Key
	Version   string
	Operation plan.Operation
	Since     time.Time // when it was written
	Owner     string    // KIND/NAMESPACE/NAME; "" is nobody
	Revision  string    // of Git that was looked at; "" is none
	State     State
	Why       string  // of the state, for people
	Fields    []Field // of an update
	// Manager is the field manager of a change past changeward; "" of one that
	// it wrote itself.
	Manager string
}

// Field is one field of a change.
type Field struct {
	Path  string
	State State
	Why   string
}

// Applied is what applies an object, and did so last.
type Applied struct {
	Owner    string // as in Change
	Revision string
	// Objects are the desired ones of that revision, masked.
	Objects map[manifest.Key]map[string]any
	// Reconciled is when the owner last applied that revision in full; without
	// an owner it is not asked for.
	Reconciled time.Time
	// Unknown says why Objects are not known; "" means that they are.
	Unknown string
}
