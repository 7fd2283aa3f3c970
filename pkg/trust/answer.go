package trust

import (
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Unvouched says why the newest version of policy or roster may not be the
// admins', or "".
func (b *Book) Unvouched(t state.Type) string {
	d, doubtful := b.doubts[t]
	if !doubtful {
		return ""
	}
	return fmt.Sprintf("%s version %d was set by %s, and nothing proves that they are an admin (%s); an admin must look at it and set it again", t, d.version, d.person, d.reason)
}

// First says why a key that its owner alone signs for would not count for them,
// if it were enrolled now; "": it would.
func (b *Book) First(person, fingerprint string, now time.Time) string {
	if err := b.Ring.First(person, fingerprint, now, b.trust()); err != nil {
		return err.Err.Error()
	}
	return ""
}

// AdminByName says that a person is known as an admin by more than a group that
// they claim: a version that is vouched for names them, or they have set one.
func (b *Book) AdminByName(username string) bool { return b.known[username] || b.named[username] }

// Roster is the newest roster, and until when it holds; zero: for ever. false:
// there is none.
func (b *Book) Roster() (roster state.Roster, until time.Time, there bool) {
	if len(b.Rosters) == 0 {
		return state.Roster{}, time.Time{}, false
	}
	roster = b.Rosters[len(b.Rosters)-1].Predicate
	return roster, end(roster), true
}

// end is until when a roster holds; zero: for ever.
func end(roster state.Roster) time.Time {
	if roster.Expires == "" {
		return time.Time{}
	}
	until, err := state.ParseTime(roster.Expires)
	if err != nil {
		return time.Unix(0, 0) // long over
	}
	return until
}

// Reign is one version of the roster in its time.
type Reign struct {
	From, Until time.Time         // Until is its own end, zero: none; the next version ends it, too
	People      map[string]string // by fingerprint of their keys
}

// Reigns are all versions of the roster, oldest first.
func (b *Book) Reigns() []Reign {
	var all []Reign
	for _, v := range b.Rosters {
		r := Reign{From: v.Record.Created, Until: end(v.Predicate), People: map[string]string{}}
		for _, k := range v.Predicate.Keys {
			if key, err := sign.ParseKey(k.PublicKey); err == nil {
				r.People[ssh.FingerprintSHA256(key)] = k.Person
			}
		}
		all = append(all, r)
	}
	return all
}

// Listed says since when a key has been on the roster as a person's.
func (b *Book) Listed(fingerprint, person string) (since time.Time, listed bool) {
	l, ok := b.listed[fingerprint]
	return l.since, ok && l.person == person
}

// Asked are the further keys that people want enrolled, and that nobody has
// signed for yet.
func (b *Book) Asked() []sign.Asked {
	var all []sign.Asked
	for _, r := range b.Rejected {
		if r.Asked == nil {
			continue
		}
		if _, enrolled := b.Ring.Lookup(r.Asked.Fingerprint); !enrolled {
			all = append(all, *r.Asked)
		}
	}
	return all
}
