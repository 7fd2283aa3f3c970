package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/changeward/changeward/state"
)

// shortest is the fewest hex digits of an id that are looked up.
const shortest = 4

// Requests are all change requests, newest first.
func (l *Ledger) Requests() []Request {
	out := slices.Clone(l.requests)
	slices.Reverse(out)
	return out
}

// Find resolves c_… (or a prefix of it), p_… (the newest request of that
// plan), #3, 3, or a full plan hash. An ambiguous prefix is an error that
// lists what it fits; so is an id that fits nothing.
func (l *Ledger) Find(ref string) (Request, error) {
	matches := l.matching(ref)
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) == 0:
		return Request{}, &Fault{Reason: ReasonNotFound, Message: fmt.Sprintf("no change request %s", ref)}
	}
	var ids []string
	for _, r := range matches {
		ids = append(ids, fmt.Sprintf("%s (#%d)", r.ID, r.Number))
	}
	return Request{}, &Fault{Reason: ReasonAmbiguous, Message: fmt.Sprintf("%s fits several change requests: %s", ref, strings.Join(ids, ", "))}
}

func (l *Ledger) matching(ref string) []Request {
	if number, err := strconv.Atoi(strings.TrimPrefix(ref, "#")); err == nil {
		return l.where(func(r Request) bool { return r.Number == number })
	}
	if len(ref) < len("c_")+shortest {
		return nil
	}
	switch {
	case strings.HasPrefix(ref, "c_"):
		return l.where(func(r Request) bool { return strings.HasPrefix(r.ID, ref) })
	case strings.HasPrefix(ref, "p_"):
		return newestOfEach(l.where(func(r Request) bool { return strings.HasPrefix(state.PlanID(r.Hash), ref) }))
	default:
		return newestOfEach(l.where(func(r Request) bool { return r.Hash != "" && state.Hex(r.Hash) == state.Hex(ref) }))
	}
}

// newestOfEach keeps, of the requests of one plan, the one with the highest
// number.
func newestOfEach(list []Request) []Request {
	var out []Request
	for i, r := range list {
		if !slices.ContainsFunc(list[i+1:], func(later Request) bool { return later.Hash == r.Hash }) {
			out = append(out, r)
		}
	}
	return out
}

func (l *Ledger) where(match func(Request) bool) []Request {
	var out []Request
	for _, r := range l.requests {
		if match(r) {
			out = append(out, r)
		}
	}
	return out
}
