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
}

// ValidAt says whether the key could sign at a time: a revoked key could at
// none, since revocation counts at once.
func (e Entry) ValidAt(t time.Time) bool { return e.Revoked == nil && !t.Before(e.From) }

// Rejected is a key record that counts for nothing, and why.
type Rejected struct {
	Record string // name
	Err    *Error
}

// Ring is the keys that people have enrolled. The zero value is empty.
type Ring struct{ entries map[string]Entry }

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

// Person lists the keys of one person, revoked ones too, oldest first.
func (r Ring) Person(username string) []Entry {
	return slices.DeleteFunc(r.Entries(), func(e Entry) bool { return e.Person != username })
}

// Trust is what key records are judged against.
type Trust struct {
	ClusterUID string
	// Admin says whether the writer of a record, as admission attested it, may
	// enroll and revoke for others. nil: nobody may.
	Admin func(writer state.Claims) bool
}

// BuildRing replays key records in the order in which the server created them.
// A person's first key vouches for itself, beside the attested name of who
// wrote the record; every further one is signed by an earlier valid key of
// that person, or by an admin's. The first enrolment of a key stands, and a
// revoked key never returns. What breaks a rule counts for nothing and is
// named in the second result.
func BuildRing(records []state.Record, trust Trust) (Ring, []Rejected) {
	ring := Ring{entries: map[string]Entry{}}
	var read []keyRecord
	var rejected []Rejected
	for _, record := range records {
		k, err := readKey(record, trust)
		if err != nil {
			rejected = append(rejected, Rejected{Record: record.Name, Err: err})
			continue
		}
		read = append(read, k)
	}
	slices.SortFunc(read, inOrder)
	for _, k := range read {
		if err := ring.take(k, trust); err != nil {
			rejected = append(rejected, Rejected{Record: k.record.Name, Err: err})
		}
	}
	return ring, rejected
}

// keyRecord is a key record whose signature and form hold.
type keyRecord struct {
	record      state.Record
	key         state.Key
	public      ssh.PublicKey
	fingerprint string // of the key that the record is about
	signer      string // fingerprint of the key that signed
}

// inOrder sorts by server time; within its grain of one second a self-signed
// enrolment comes first, other enrolments next, revocations last.
func inOrder(a, b keyRecord) int {
	return cmp.Or(a.record.Created.Compare(b.record.Created), cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.record.Name, b.record.Name))
}

func (k keyRecord) rank() int {
	switch {
	case k.key.Action == state.KeyRevoke:
		return 2
	case k.signer != k.fingerprint:
		return 1
	}
	return 0
}

func (r Ring) take(k keyRecord, trust Trust) *Error {
	known, enrolled := r.entries[k.fingerprint]
	person := k.key.Person.Username
	if enrolled && known.Person != person {
		return fail(ReasonKeyOfAnother, "%s belongs to %s", k.fingerprint, known.Person)
	}
	if k.key.Action == state.KeyRevoke {
		return r.revoke(k, known, enrolled, trust)
	}
	switch {
	case enrolled && known.Revoked != nil:
		return fail(ReasonKeyRevoked, "%s was revoked", k.fingerprint)
	case enrolled:
		return fail(ReasonDuplicateKey, "%s is enrolled by %s", k.fingerprint, known.Record)
	case !r.vouched(k, trust):
		return fail(ReasonNotCountersigned, "%s has keys already, and none of them, nor an admin, signed for %s", person, k.fingerprint)
	}
	r.entries[k.fingerprint] = Entry{Person: person, Logins: k.key.Logins, Key: k.public, Fingerprint: k.fingerprint,
		From: k.record.Created, Record: k.record.Name, Signer: k.signer}
	return nil
}

// vouched says whether an enrolment is signed by who may.
func (r Ring) vouched(k keyRecord, trust Trust) bool {
	person := k.key.Person.Username
	if k.record.Claims.Actor != person {
		return r.byAdmin(k, trust)
	}
	if len(r.Person(person)) == 0 {
		return k.signer == k.fingerprint
	}
	return r.validOf(k.signer, person)
}

func (r Ring) revoke(k keyRecord, known Entry, enrolled bool, trust Trust) *Error {
	person := k.key.Person.Username
	own := k.record.Claims.Actor == person && r.validOf(k.signer, person)
	switch {
	case !enrolled:
		return fail(ReasonUnknownKey, "%s is not enrolled", k.fingerprint)
	case !own && !r.byAdmin(k, trust):
		return fail(ReasonNotAllowedRevoker, "%s may not revoke a key of %s with %s", k.record.Claims.Actor, person, k.signer)
	case known.Revoked == nil:
		at := k.record.Created
		known.Revoked = &at
		r.entries[k.fingerprint] = known
	}
	return nil
}

// byAdmin says whether an admin wrote a record, and signed it as such.
func (r Ring) byAdmin(k keyRecord, trust Trust) bool {
	return trust.Admin != nil && trust.Admin(k.record.Claims) && r.validOf(k.signer, k.record.Claims.Actor)
}

func (r Ring) validOf(fingerprint, person string) bool {
	entry, ok := r.entries[fingerprint]
	return ok && entry.Person == person && entry.Revoked == nil
}
