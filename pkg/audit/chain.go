package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/state"
)

// maxSkew is how far two clocks of one control plane may be apart.
const maxSkew = 5 * time.Minute

// walk goes along the chain of entries.
type walk struct {
	archived []state.Range // by the newest checkpoint
	last     *Entry        // the newest that holds
	junk     []string      // digests of entries since then that do not hold
	findings []Finding
	notes    []Finding
}

// walkChain says what is wrong with the order of the entries. Each names the
// digest of the one before: so an entry that is missing, edited or moved shows.
func walkChain(f Facts) *walk {
	w := &walk{}
	if c := f.checkpoint(); c != nil {
		w.archived = c.Archive.Ranges
	}
	for i := range f.Entries {
		w.step(&f.Entries[i])
	}
	return w
}

func (w *walk) find(reason, record, format string, args ...any) {
	w.findings = append(w.findings, Finding{Reason: reason, Record: record, Message: fmt.Sprintf(format, args...)})
}

func (w *walk) step(e *Entry) {
	if e.Void != "" {
		w.find(EntryInvalid, e.Name, "%s: %s", e.Void, e.Detail)
		w.junk = append(w.junk, e.Digest)
		return
	}
	w.follow(e)
	if e.Archive != nil && !e.Admin {
		w.find(CheckpointUntrusted, e.Name, "%s says that entries were archived, and is no admin whom the policy names", e.Actor.Username)
	}
	if w.last != nil && earlier(e.Time, w.last.Time) {
		w.find(TimeReversed, e.Name, "of %s, though %s before it is of %s", e.Time, w.last.Name, w.last.Time)
	}
	w.last, w.junk = e, nil
}

// follow checks that an entry follows the one that it names.
func (w *walk) follow(e *Entry) {
	before, head := 0, ""
	if w.last != nil {
		before, head = w.last.Number, w.last.Digest
	}
	gap := e.Number - before - 1 - len(w.junk)
	if e.Previous == head { // also across numbers that never were entries
		if gap > 0 {
			w.notes = append(w.notes, Finding{Reason: NumberSkipped, Record: e.Name,
				Message: fmt.Sprintf("follows number %d: %d numbers between were never entries", before, gap)})
		}
		return
	}
	missing := w.missing(before+1, e.Number-1)
	switch {
	case missing == "" && gap > 0 && (inRanges(w.archived, e.Number) || w.archivedHead(e.Number-1) == e.Previous):
	case missing != "" && w.last == nil:
		w.find(ChainStart, e.Name, "the chain starts here: %s missing, and no checkpoint names them", missing)
	case missing != "" && gap > 0:
		w.find(EntryMissing, e.Name, "%s missing before it", missing)
	case slices.Contains(w.junk, e.Previous): // the entry itself is the finding
	default:
		w.find(ChainBroken, e.Name, "names %s as the entry before, which is not what lies there: edited, reordered or renumbered", none(e.Previous))
	}
}

func none(digest string) string {
	if digest == "" {
		return "none"
	}
	return digest
}

// missing are the numbers from first to last that no checkpoint accounts for,
// in words; "" if there are none.
func (w *walk) missing(first, last int) string {
	text := ""
	add := func(from, to int) {
		switch {
		case from > to:
			return
		case text != "":
			text += ", "
		}
		if text += fmt.Sprintf("%d", from); to > from {
			text += fmt.Sprintf("–%d", to)
		}
	}
	for _, r := range w.archived {
		if r.Last < first || r.First > last {
			continue
		}
		add(first, min(last, r.First-1))
		first = max(first, r.Last+1)
	}
	add(first, last)
	return text
}

// inRanges says that an entry is among archived ones.
func inRanges(ranges []state.Range, number int) bool {
	return slices.ContainsFunc(ranges, func(r state.Range) bool { return r.First <= number && number <= r.Last })
}

// archivedHead is the digest of an archived entry that ends a range.
func (w *walk) archivedHead(number int) string {
	for _, r := range w.archived {
		if r.Last == number {
			return r.Head
		}
	}
	return ""
}

// earlier says that one time is before another by more than clocks differ.
func earlier(a, b string) bool {
	at, err := state.ParseTime(a)
	before, err2 := state.ParseTime(b)
	return err == nil && err2 == nil && before.Sub(at) > maxSkew
}
