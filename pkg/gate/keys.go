package gate

import (
	"time"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
)

// What an enrolled key is worth. They are API: in JSON output, and never
// renamed.
const (
	KeyValid    = "valid"
	KeyYoung    = "young"         // valid, for less than a day
	KeyRevoked  = "revoked"       // for good
	KeyInDoubt  = "in-doubt"      // enrolled while the fence may have been down: to be enrolled again
	KeyUnlisted = "not-on-roster" // policy asks for a roster, and it is not on it, or that has expired
	KeyWaiting  = "waiting"       // a further key that nobody has signed for
)

// Youth is how long a key is shown as young: who approves with a key of today
// is looked at twice.
const Youth = 24 * time.Hour

// Key is a key and what it is worth.
type Key struct {
	sign.Entry
	Status string // a Key constant
}

// Keys are all keys, revoked ones and those that wait, too, by person and age.
func (l *Ledger) Keys() []Key {
	var all []Key
	for _, e := range l.book.Ring.Entries() {
		all = append(all, Key{Entry: e, Status: l.worth(e)})
	}
	for _, a := range l.book.Asked() {
		key, err := sign.ParseKey(a.Key.PublicKey)
		if err == nil {
			all = append(all, Key{Status: KeyWaiting, Entry: sign.Entry{Person: a.Key.Person.Username, Logins: a.Key.Logins,
				Key: key, Fingerprint: a.Fingerprint, From: a.At}})
		}
	}
	return all
}

func (l *Ledger) worth(e sign.Entry) string {
	_, unlisted := l.onRoster(e.Fingerprint, e.Person)
	switch {
	case e.Revoked != nil:
		return KeyRevoked
	case l.policy.Approvals.Enrollment == policy.EnrollmentRoster && unlisted != "":
		return KeyUnlisted
	case !l.settled(e):
		return KeyInDoubt
	case l.now.Sub(e.From) < Youth:
		return KeyYoung
	}
	return KeyValid
}
