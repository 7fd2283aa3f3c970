package sign

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/state"
)

// MaxClockDifference is how far the time that a record states may be from the
// server's creation time.
const MaxClockDifference = 5 * time.Minute

// Entry is one enrolled key.
type Entry struct {
	Person      string // username
	Logins      []string
	Key         ssh.PublicKey
	Fingerprint string
	From        time.Time  // server time of the enrolment
	Revoked     *time.Time // server time of the revocation; nil: not revoked
	Record      string     // name of the enrolment record
	// Signer is the fingerprint that vouched: the key itself for a person's
	// first key, else an earlier key of the person, or an admin's.
	Signer string
	// Doubt says why nothing proves that the key is the person's, as a reason
	// constant: what the API server vouched for when it was enrolled is not to be
	// relied on. "" is none.
	Doubt string
}

// ValidAt says whether the key could sign at a time: a revoked key could at
// none, since revocation counts at once.
func (e Entry) ValidAt(t time.Time) bool { return e.Revoked == nil && !t.Before(e.From) }

// Rejected is a key record that counts for nothing, and why.
type Rejected struct {
	Record string // name
	Err    *Error
	// Asked is the enrolment of a person's further key that nobody has signed for
	// yet; nil for all else.
	Asked *Asked
}

// Asked is a key that its owner wants enrolled.
type Asked struct {
	Fingerprint string
	Key         state.Key // with its proof of possession
	At          time.Time // server time
}

// Ring is the keys that people have enrolled. The zero value is empty, and can
// only be read; NewRing makes one to Take records into.
type Ring struct{ entries map[string]Entry }

// NewRing makes an empty ring.
func NewRing() Ring { return Ring{entries: map[string]Entry{}} }

// Lookup finds a key by its fingerprint, revoked or not.
func (r Ring) Lookup(fingerprint string) (Entry, bool) {
	entry, ok := r.entries[fingerprint]
	return entry, ok
}

// Entries lists all keys, revoked ones too, by person and age.
func (r Ring) Entries() []Entry {
	all := make([]Entry, 0, len(r.entries))
	for _, entry := range r.entries {
		all = append(all, entry)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Person, b.Person), a.From.Compare(b.From), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return all
}

// Logins are the forge logins of a person, with whichever key they were stated.
func (r Ring) Logins(username string) []string {
	var all []string
	for _, e := range r.Person(username) {
		all = append(all, e.Logins...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Person lists the keys of one person, revoked ones too, oldest first.
func (r Ring) Person(username string) []Entry {
	return slices.DeleteFunc(r.Entries(), func(e Entry) bool { return e.Person != username })
}

// Trust is what key records are judged against. A function that is nil knows
// of nothing: of no admin, no doubt, no earlier key.
type Trust struct {
	ClusterUID string
	// Admin says whether the writer of a record may enroll and revoke for
	// others, and if so, why nothing proves that (a reason constant, or "").
	Admin func(writer state.Claims, key Entry, at time.Time) (is bool, doubt string)
	// Attested says why the API server's word about who wrote a record at a time
	// is not to be relied on; "" means that it is.
	Attested func(fingerprint string, at time.Time) (doubt string)
	// Earlier names a key that a person signed with before a time, other than
	// this one and whoever enrolled it; "" is none.
	Earlier func(person, fingerprint string, before time.Time) string
}

// Holds says whether a key is enrolled for a person, and not revoked.
func (r Ring) Holds(person, fingerprint string) bool {
	entry, ok := r.entries[fingerprint]
	return ok && entry.Person == person && entry.Revoked == nil
}

// Take takes the next key record into the ring. Records come in the order of
// Created, within a second that of Rank.
func (r Ring) Take(k KeyRecord, trust Trust) *Error {
	known, enrolled := r.entries[k.fingerprint]
	person := k.key.Person.Username
	if enrolled && known.Person != person {
		return fail(ReasonKeyOfAnother, "%s belongs to %s", k.fingerprint, known.Person)
	}
	if k.key.Action == state.KeyRevoke {
		return r.revoke(k, known, enrolled, trust)
	}
	if enrolled && known.Revoked != nil {
		return fail(ReasonKeyRevoked, "%s was revoked", k.fingerprint)
	}
	doubt, err := r.vouched(k, trust)
	if err != nil {
		return err
	}
	switch countersigned := known.Signer == k.fingerprint && k.signer != k.fingerprint; {
	case enrolled && countersigned:
		known.Signer, known.Doubt = k.signer, min(known.Doubt, doubt)
		known.Logins = append(slices.Clone(known.Logins), k.key.Logins...)
		r.entries[k.fingerprint] = known
		return nil
	case enrolled && (known.Doubt == "" || doubt != ""):
		return r.addLogins(k, known)
	}
	r.entries[k.fingerprint] = Entry{Person: person, Logins: k.key.Logins, Key: k.public, Fingerprint: k.fingerprint,
		From: k.record.Created, Record: k.record.Name, Signer: k.signer, Doubt: doubt}
	return nil
}

// addLogins is a second enrolment of a key: it may state more forge logins, and
// takes none away.
func (r Ring) addLogins(k KeyRecord, known Entry) *Error {
	merged := slices.Concat(known.Logins, k.key.Logins)
	slices.Sort(merged)
	if merged = slices.Compact(merged); len(merged) == len(known.Logins) {
		return fail(ReasonDuplicateKey, "%s is enrolled by %s", k.fingerprint, known.Record)
	}
	known.Logins = merged
	r.entries[k.fingerprint] = known
	return nil
}

// List takes a key that an admin listed into the ring, as one that the admin
// signed for. A key that is there stays whose and as old as it is, but is
// beyond doubt now; one that is another's, or was revoked, is an error.
func (r Ring) List(listed Entry) *Error {
	known, enrolled := r.entries[listed.Fingerprint]
	switch {
	case enrolled && known.Person != listed.Person:
		return fail(ReasonKeyOfAnother, "%s belongs to %s", listed.Fingerprint, known.Person)
	case enrolled && known.Revoked != nil:
		return fail(ReasonKeyRevoked, "%s was revoked", listed.Fingerprint)
	case enrolled:
		known.Logins = append(slices.Clone(known.Logins), listed.Logins...)
		known.Doubt = min(known.Doubt, listed.Doubt) // "" before any reason
		listed = known
	}
	r.entries[listed.Fingerprint] = listed
	return nil
}

// vouched says whether an enrolment is signed by who may, and what doubt that
// leaves.
func (r Ring) vouched(k KeyRecord, trust Trust) (doubt string, err *Error) {
	person := k.key.Person.Username
	if k.record.Claims.Actor != person {
		if by, doubt := r.byAdmin(k, trust); by {
			return doubt, nil
		}
		return "", fail(ReasonNotCountersigned, "%s, who signed for %s, is no admin, or that is not a key of theirs", k.record.Claims.Actor, k.fingerprint)
	}
	switch signer := r.entries[k.signer]; {
	case r.Holds(person, k.signer) && (k.signer != k.fingerprint || signer.Doubt == ""):
		return signer.Doubt, nil
	case k.signer != k.fingerprint:
		return "", fail(ReasonNotCountersigned, "neither a key of %s nor an admin signed for %s", person, k.fingerprint)
	}
	doubt = trust.attested(k.fingerprint, k.record.Created)
	if doubt != "" && r.Holds(person, k.fingerprint) {
		return doubt, nil // no less in doubt than before
	}
	return doubt, r.First(person, k.fingerprint, k.record.Created, trust)
}

// First says why a key that signs for itself would not be enrolled for a person
// at a time; nil: it would.
func (r Ring) First(person, fingerprint string, at time.Time, trust Trust) *Error {
	if settled := r.settled(person, trust.attested(fingerprint, at) == ""); settled != "" {
		return fail(ReasonNotCountersigned, "%s has keys already (%s), and none of them, nor an admin, signed for %s", person, settled, fingerprint)
	}
	if trust.Earlier == nil {
		return nil
	}
	if earlier := trust.Earlier(person, fingerprint, at); earlier != "" {
		return fail(ReasonNotCountersigned, "%s signed with another key before (%s), so only an admin can enroll %s", person, earlier, fingerprint)
	}
	return nil
}

// settled names a key of a person that must sign for a further one. Keys that
// are in doubt do not, if the new one is not, unless one was revoked.
func (r Ring) settled(person string, beyondDoubt bool) string {
	for _, e := range r.Person(person) {
		if e.Doubt == "" || e.Revoked != nil || !beyondDoubt {
			return e.Fingerprint
		}
	}
	return ""
}

func (t Trust) attested(fingerprint string, at time.Time) string {
	if t.Attested == nil {
		return ""
	}
	return t.Attested(fingerprint, at)
}

func (r Ring) revoke(k KeyRecord, known Entry, enrolled bool, trust Trust) *Error {
	person := k.key.Person.Username
	own := k.record.Claims.Actor == person && r.Holds(person, k.signer)
	byAdmin, _ := r.byAdmin(k, trust) // a doubt costs a key, no more
	switch {
	case !enrolled:
		return fail(ReasonUnknownKey, "%s is not enrolled", k.fingerprint)
	case !own && !byAdmin:
		return fail(ReasonNotAllowedRevoker, "%s may not revoke a key of %s with %s", k.record.Claims.Actor, person, k.signer)
	case known.Revoked == nil:
		at := k.record.Created
		known.Revoked = &at
		r.entries[k.fingerprint] = known
	}
	return nil
}

// byAdmin says whether an admin wrote a record, and signed it as such.
func (r Ring) byAdmin(k KeyRecord, trust Trust) (by bool, doubt string) {
	if trust.Admin == nil || !r.Holds(k.record.Claims.Actor, k.signer) {
		return false, ""
	}
	return trust.Admin(k.record.Claims, r.entries[k.signer], k.record.Created)
}
