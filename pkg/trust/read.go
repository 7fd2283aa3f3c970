package trust

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Fence says why the API server's word about who wrote a record at a time is
// not to be relied on, as a reason constant; "" means that it is.
type Fence func(at time.Time) string

// Book is what the records amount to.
type Book struct {
	Ring     sign.Ring
	Policies []Version[state.Policy]
	Settings []*policy.Policy // of each version, without rules that could judge
	Rosters  []Version[state.Roster]
	Epochs   []Version[state.Epoch]
	// Rejected are the records that count for nothing.
	Rejected []Rejected

	opened *Opened
	fence  Fence
	// Admins of the policy in force, and of the newest that is vouched for.
	inForce, vouched policy.Admins
	named            map[string]bool      // people whom any policy that is vouched for names as admins
	known            map[string]bool      // people who have proved by key that they are admins
	doubts           map[state.Type]doubt // about the newest version of each chain
	listed           map[string]listing   // by fingerprint: keys on the newest roster
}

type doubt struct {
	person, reason string
	version        int
}

type listing struct {
	person string
	since  time.Time
}

// Read replays all records. epochs are those that count. The error is an
// *Error: a chain with a gap.
func (o *Opened) Read(epochs []Version[state.Epoch], fence Fence) (*Book, error) {
	b := &Book{Ring: sign.NewRing(), Epochs: epochs, opened: o, fence: fence, Rejected: slices.Clone(o.rejected),
		named: map[string]bool{}, known: map[string]bool{}, doubts: map[state.Type]doubt{}, listed: map[string]listing{}}
	return b, b.replay(func(item) bool { return true })
}

func (b *Book) replay(wanted func(item) bool) error {
	for _, i := range b.opened.items {
		if !wanted(i) {
			continue
		}
		if err := b.take(i); err != nil {
			return err
		}
	}
	return nil
}

func (b *Book) take(i item) error {
	switch {
	case i.key != nil:
		if err := b.Ring.Take(*i.key, b.trust()); err != nil {
			r := i.key.Rejected(err)
			b.Rejected = append(b.Rejected, Rejected{Type: state.TypeKey, Name: r.Record, Reason: r.Err.Reason, Detail: r.Err.Error(), Asked: r.Asked})
		}
		return nil
	case i.version.record.Type == state.TypeEpoch:
		b.takeEpoch(i.version)
		return nil
	case i.version.record.Type == state.TypePolicy:
		return b.takePolicy(i.version)
	}
	return b.takeRoster(i.version)
}

func (b *Book) trust() sign.Trust {
	return sign.Trust{ClusterUID: b.opened.cluster, Attested: b.attested, Earlier: b.earlier,
		Admin: func(writer state.Claims, key sign.Entry, at time.Time) (bool, string) {
			who := state.Person{Username: writer.Actor, Groups: writer.Groups}
			return b.isAdmin(who), b.unproved(who.Username, key, at)
		}}
}

// attested takes the key that signed the first epoch for its writer's: all
// trust in a cluster begins there. Where no cluster keeps the records there are
// no epochs, and it begins with the first policy.
func (b *Book) attested(fingerprint string, at time.Time) string {
	if fingerprint == b.root() {
		return ""
	}
	return b.fence(at)
}

func (b *Book) root() string {
	if len(b.Epochs) > 0 {
		return b.Epochs[0].Fingerprint
	}
	for _, i := range b.opened.items {
		if v := i.version; v != nil && v.void == "" && v.record.Name == state.NumberedName(state.TypePolicy, 1) {
			return v.fingerprint
		}
	}
	return ""
}

// earlier finds a key that a person signed with, and that no record enrolls any
// more: its record was deleted, and the next key must not pass for a first one.
func (b *Book) earlier(person, fingerprint string, before time.Time) string {
	for _, record := range b.opened.said[person] {
		if !record.Created.Before(before) {
			continue
		}
		envelope, err := state.ParseEnvelope(record.Data[state.DataEnvelope])
		if err != nil {
			continue
		}
		key := envelope.Signatures[0].KeyID
		if _, known := b.Ring.Lookup(key); !known && key != fingerprint {
			return key
		}
	}
	return ""
}

// isAdmin says whether the policy in force lets a person change it. One that
// names no admins leaves that to admission, which asks for the verb administer.
func (b *Book) isAdmin(who state.Person) bool {
	return len(b.Policies) > 0 && (b.inForce.Empty() || b.inForce.Includes(who))
}

// unproved says why nothing proves that a person, with this key, was an admin
// then. Who set an earlier version, or is named by one, is known by key. An
// admin by group alone is one by the API server's word: where that cannot be
// relied on, anyone who could write the record could have claimed the group.
func (b *Book) unproved(username string, key sign.Entry, at time.Time) string {
	switch {
	case key.Doubt != "":
		return key.Doubt
	case b.known[username], slices.Contains(b.vouched.Users, username):
		return ""
	}
	return b.fence(at)
}

// holder is the enrolled key of a version's signer; false where it is nobody's,
// another's, or revoked by then.
func (b *Book) holder(c *candidate) (sign.Entry, bool) {
	key, _ := b.Ring.Lookup(c.fingerprint)
	return key, b.Ring.Holds(c.link.actor.Username, c.fingerprint)
}

// next says whether a version is the next of its chain. One that counts for
// nothing is named, and stops nothing; one that does not follow is an error.
func next[P any](b *Book, c *candidate, chain []Version[P], founding bool) (bool, error) {
	last := ""
	if n := len(chain); n > 0 {
		last = chain[n-1].Digest
	}
	why := b.entitled(c, founding)
	if why == "" && slices.ContainsFunc(chain, func(v Version[P]) bool { return v.Digest == c.digest }) {
		why = "a copy of another version"
	}
	switch {
	case why != "":
		b.reject(c, why)
		return false, nil
	case !follows(c, len(chain), last):
		return false, &Error{c.record.Type, c.record.Name, fmt.Sprintf("version %d does not follow version %d", c.link.version, len(chain))}
	}
	return true, nil
}

// entitled says why a version counts for nothing, whatever it says, or "".
func (b *Book) entitled(c *candidate, first bool) string {
	_, held := b.holder(c)
	switch {
	case c.void != "":
		return c.void
	case !held:
		return fmt.Sprintf("signed with key %s, which is not enrolled for %s", c.fingerprint, c.link.actor.Username)
	case !first && !b.isAdmin(c.link.actor):
		return fmt.Sprintf("set by %s, who is no admin in policy version %d", c.link.actor.Username, len(b.Policies))
	}
	return ""
}

func (b *Book) reject(c *candidate, why string) {
	b.Rejected = append(b.Rejected, Rejected{Type: c.record.Type, Name: c.record.Name, Reason: ReasonNotEntitled, Detail: why})
}

func (b *Book) takePolicy(c *candidate) error {
	first := len(b.Policies) == 0
	if counts, err := next(b, c, b.Policies, first); !counts || err != nil {
		return err
	}
	if c.unreadable != nil {
		return &Error{c.record.Type, c.record.Name, c.unreadable.Error()}
	}
	if b.vouch(c, first) {
		b.vouched = c.settings.Admins
		for _, name := range c.settings.Admins.Users {
			b.named[name] = true
		}
	}
	b.inForce = c.settings.Admins
	b.Settings = append(b.Settings, c.settings)
	b.Policies = append(b.Policies, version(c, c.policy))
	return nil
}

// vouch notes whether the API server, or a key, proves who set a version. One
// that is vouched for vouches for those before it.
func (b *Book) vouch(c *candidate, first bool) bool {
	key, _ := b.holder(c)
	name := c.link.actor.Username
	if why := b.unproved(name, key, c.record.Created); why != "" && !first {
		b.doubts[c.record.Type] = doubt{name, why, c.link.version}
		return false
	}
	delete(b.doubts, c.record.Type)
	b.known[name] = true
	return true
}

func (b *Book) takeRoster(c *candidate) error {
	if counts, err := next(b, c, b.Rosters, false); !counts || err != nil {
		return err
	}
	b.vouch(c, false)
	b.Rosters = append(b.Rosters, version(c, c.roster))
	b.list(c)
	return nil
}

// list takes the keys of a roster as ones that an admin signed for.
func (b *Book) list(c *candidate) {
	before := b.listed
	b.listed = map[string]listing{}
	for _, k := range c.roster.Keys {
		public, err := sign.ParseKey(k.PublicKey)
		if err != nil {
			b.reject(c, fmt.Sprintf("the key of %s: %v", k.Person, err))
			continue
		}
		fingerprint := ssh.FingerprintSHA256(public)
		entry := sign.Entry{Person: k.Person, Logins: k.Logins, Key: public, Fingerprint: fingerprint, From: c.record.Created,
			Record: c.record.Name, Signer: c.fingerprint, Doubt: b.doubts[state.TypeRoster].reason}
		if err := b.Ring.List(entry); err != nil {
			b.reject(c, fmt.Sprintf("the key of %s: %v", k.Person, err))
			continue
		}
		since := c.record.Created
		if old, ok := before[fingerprint]; ok && old.person == k.Person {
			since = old.since
		}
		b.listed[fingerprint] = listing{k.Person, since}
	}
}

func version[P any](c *candidate, predicate P) Version[P] {
	return Version[P]{Predicate: predicate, Record: c.record, Digest: c.digest, Fingerprint: c.fingerprint}
}

// follows says that a version is the next of its chain, by number, name and
// digest of the one before.
func follows(c *candidate, count int, last string) bool {
	return c.link.version == count+1 && c.link.previous == last && c.record.Name == state.NumberedName(c.record.Type, count+1)
}
