package gate

import (
	"errors"
	"slices"

	"github.com/changeward/changeward/state"
)

// How far numbers may jump. A number beyond that was not given out by a gate:
// it is left alone, so that nobody can use up all numbers by taking a high one.
const (
	firstJump = 1_000_000 // from nothing: older records were archived
	nextJump  = 1_000
)

// takenError says which name the store refused, since it exists.
type takenError struct {
	name string
	err  error
}

func (e *takenError) Error() string { return e.err.Error() }

func (e *takenError) Unwrap() error { return e.err }

// lostRace says that another took the name, and which.
func lostRace(err error) (name string, lost bool) {
	var taken *takenError
	if errors.As(err, &taken) {
		return taken.name, true
	}
	return "", errors.Is(err, state.ErrExists)
}

func namesOf(all records) map[string]bool {
	names := map[string]bool{}
	for _, t := range []state.Type{state.TypePlan, state.TypeOutcome, state.TypeAudit} {
		for _, record := range all[t] {
			names[record.Name] = true
		}
	}
	return names
}

// free is the first number from n on whose name nobody has taken.
func (l *Ledger) free(n int, name func(int) string) int {
	for l.names[name(n)] {
		n++
	}
	return n
}

// numbers are those whose names are taken, by whatever it is: what holds is not
// known of records that a ledger leaves out.
func (l *Ledger) numbers(t state.Type) []int {
	var all []int
	for name := range l.names {
		if n, ok := state.NumberOf(t, name); ok {
			all = append(all, n)
		}
	}
	return all
}

// nextNumber is the number of the next plan.
func (l *Ledger) nextNumber() int {
	used := l.numbers(state.TypePlan)
	for _, e := range l.audit { // those before were archived
		if e.Archive != nil && l.adminByName(e.Actor.Username) {
			used = append(used, e.Archive.Plan)
		}
	}
	return l.free(last(used)+1, func(n int) string { return state.NumberedName(state.TypePlan, n) })
}

// nextEntry is the number of the next audit entry.
func (l *Ledger) nextEntry() int {
	return l.free(l.lastEntry()+1, func(n int) string { return state.NumberedName(state.TypeAudit, n) })
}

// lastEntry is the number of the newest audit entry, 0 before the first.
func (l *Ledger) lastEntry() int {
	return last(l.numbers(state.TypeAudit))
}

// nextOutcome is the sequence of the next outcome of a request.
func (l *Ledger) nextOutcome(r *Request) int {
	return l.free(len(r.Outcomes)+1, func(n int) string { return state.OutcomeName(r.Number, n) })
}

// last is the highest of the numbers that gates have given out one by one.
func last(used []int) int {
	slices.Sort(used)
	at, jump := 0, firstJump
	for _, n := range used {
		if n > at+jump {
			break
		}
		at, jump = n, nextJump
	}
	return at
}
