package trust

import (
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// ReasonBeforeEpoch: written before the admission fence stood as it does.
const ReasonBeforeEpoch = "BeforeEpoch"

// Epochs are those that count, oldest first; what does not is named by Read.
// All trust begins with the first. Every further one must be signed by who is
// proved an admin without it, and without anything written since the one
// before: with the fence down, anyone could have written one that says that it
// stood.
func (o *Opened) Epochs() []Version[state.Epoch] {
	var epochs []Version[state.Epoch]
	for _, i := range o.items {
		if i.version == nil || i.version.record.Type != state.TypeEpoch {
			continue
		}
		b := o.until(i, epochs)
		if b.whyNoEpoch(i.version) == "" {
			epochs = append(epochs, version(i.version, i.version.epoch))
		}
	}
	return epochs
}

// until is the book as it was when a record was written, with the fence proved
// from the start of its unbroken run to the newest of these epochs.
func (o *Opened) until(next item, epochs []Version[state.Epoch]) *Book {
	b := &Book{Ring: sign.NewRing(), Epochs: epochs, opened: o, fence: proved(epochs),
		named: map[string]bool{}, known: map[string]bool{}, doubts: map[state.Type]doubt{}, listed: map[string]listing{}}
	_ = b.replay(func(i item) bool { // a gap in another chain is for Read to tell
		return i.created.Before(next.created) || i.created.Equal(next.created) && i.rank < next.rank
	})
	return b
}

func proved(epochs []Version[state.Epoch]) Fence {
	return func(at time.Time) string {
		if len(epochs) == 0 {
			return ReasonBeforeEpoch
		}
		from, last := epochs[unbroken(epochs)], epochs[len(epochs)-1]
		if at.Before(from.Record.Created) || at.After(last.Record.Created) {
			return ReasonBeforeEpoch
		}
		return ""
	}
}

// Unbroken is the first of the epochs since which nobody but an install has
// changed the fence: from one epoch to the next the objects are the same ones,
// and were written at most once.
func Unbroken(epochs []state.Epoch) int {
	first := len(epochs) - 1
	for first > 0 && unchanged(epochs[first-1].Objects, epochs[first].Objects) {
		first--
	}
	return first
}

func unbroken(versions []Version[state.Epoch]) int {
	var epochs []state.Epoch
	for _, v := range versions {
		epochs = append(epochs, v.Predicate)
	}
	return Unbroken(epochs)
}

func unchanged(before, after []state.AdmissionObject) bool {
	return slices.EqualFunc(before, after, func(a, b state.AdmissionObject) bool {
		return a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
			(b.Generation == a.Generation || b.Generation == a.Generation+1)
	})
}

// whyNoEpoch says why an epoch counts for nothing, or "".
func (b *Book) whyNoEpoch(c *candidate) string {
	key, held := b.holder(c)
	last := ""
	if n := len(b.Epochs); n > 0 {
		last = b.Epochs[n-1].Digest
	}
	switch {
	case c.void != "":
		return c.void
	case !held:
		return fmt.Sprintf("signed with key %s, which is not enrolled for %s", c.fingerprint, c.link.actor.Username)
	case !follows(c, len(b.Epochs), last):
		return fmt.Sprintf("version %d does not follow version %d", c.link.version, len(b.Epochs))
	case last == "":
		return ""
	case !b.isAdmin(c.link.actor):
		return fmt.Sprintf("written by %s, who is no admin in policy version %d", c.link.actor.Username, len(b.Policies))
	case b.unproved(c.link.actor.Username, key, c.record.Created) != "":
		return fmt.Sprintf("written by %s, whom no key proves to be an admin", c.link.actor.Username)
	}
	return ""
}

// takeEpoch names an epoch that does not count. Who wrote one that does is
// known to be an admin.
func (b *Book) takeEpoch(c *candidate) {
	counts := slices.ContainsFunc(b.Epochs, func(v Version[state.Epoch]) bool { return v.Digest == c.digest && v.Record.Name == c.record.Name })
	if counts {
		b.known[c.link.actor.Username] = true
		return
	}
	if c.void != "" {
		b.reject(c, c.void)
		return
	}
	b.reject(c, "not one of the epochs that count: nothing but itself proves that an admin wrote it, or it does not follow the one before")
}

// MayWriteEpoch says why an epoch that this person signed with this key now
// would count for nothing, or "". It is asked before an install changes the
// fence.
func (o *Opened) MayWriteEpoch(who state.Person, fingerprint string, now time.Time) string {
	epochs := o.Epochs()
	if len(epochs) == 0 {
		return ""
	}
	b := o.until(item{created: now, rank: rankRevocation}, epochs)
	key, _ := b.Ring.Lookup(fingerprint)
	switch {
	case !b.Ring.Holds(who.Username, fingerprint):
		return fmt.Sprintf("key %s is not enrolled for %s", fingerprint, who.Username)
	case !b.isAdmin(who):
		return who.Username + " is no admin of the policy in force"
	case b.unproved(who.Username, key, now) != "":
		return fmt.Sprintf("no key proves that %s is an admin: let %s install, or sign for the key of %s and name them in the policy", who.Username, epochs[len(epochs)-1].Predicate.Actor.Username, who.Username)
	}
	return ""
}
