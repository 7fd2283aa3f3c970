package sign

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
)

// start is when the first key record of each test was made.
func start() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }

// said is one key record as it is to be made: who (by account) says what about
// whose key, signed with which, how many minutes after the start.
type said struct {
	actor  string
	action string
	person string
	key    Signer
	with   Signer
	minute int
}

// buildRing replays key records as the server created them.
func buildRing(records []state.Record, trust Trust) (Ring, []Rejected) {
	ring := NewRing()
	read, rejected := ReadKeys(records, trust.ClusterUID)
	slices.SortFunc(read, func(a, b KeyRecord) int {
		return cmp.Or(a.Created().Compare(b.Created()), cmp.Compare(a.Rank(), b.Rank()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, k := range read {
		if err := ring.Take(k, trust); err != nil {
			rejected = append(rejected, k.Rejected(err))
		}
	}
	return ring, rejected
}

func record(t *testing.T, s said, changes ...func(*state.Key)) state.Record {
	t.Helper()
	created := start().Add(time.Duration(s.minute) * time.Minute)
	predicate := state.Key{Action: s.action, ClusterUID: "uid-1", Person: state.Person{Username: s.person},
		PublicKey: AuthorizedKey(s.key.PublicKey()), Time: state.FormatTime(created)}
	if s.action == state.KeyEnroll {
		proof, err := ProvePossession(s.key, "uid-1", s.person)
		assert.NilError(t, err)
		predicate.Possession = proof
	}
	for _, change := range changes {
		change(&predicate)
	}
	envelope, payload, err := Seal(s.with, state.TypeKey, "", "", predicate)
	assert.NilError(t, err)
	return state.Record{Type: state.TypeKey, Name: state.ContentName(state.TypeKey, payload), Immutable: true, Created: created,
		Claims: state.Claims{Actor: s.actor}, Data: map[string][]byte{state.DataEnvelope: envelope}}
}

func trust() Trust {
	return Trust{ClusterUID: "uid-1", Admin: func(writer state.Claims, _ Entry, _ time.Time) (bool, string) { return writer.Actor == "root", "" }}
}

func enrolled(ring Ring, person string) map[string]bool {
	keys := map[string]bool{}
	for _, entry := range ring.Person(person) {
		keys[entry.Fingerprint] = entry.Revoked == nil
	}
	return keys
}

func TestKeysEnterTheRingOnlyAsTheRulesSay(t *testing.T) {
	one, two, three, root, foreign := newSigner(t), newSigner(t), newSigner(t), newSigner(t), newSigner(t)
	print := func(s Signer) string { return ssh.FingerprintSHA256(s.PublicKey()) }
	const enroll, revoke = state.KeyEnroll, state.KeyRevoke
	first := said{"alice", enroll, "alice", one, one, 0}
	rootFirst := said{"root", enroll, "root", root, root, 0}
	for _, test := range []struct {
		name    string
		records []said
		want    map[string]bool // alice's keys, true: valid
		refused []string        // reasons
	}{
		{"a first key vouches for itself", []said{first}, map[string]bool{print(one): true}, nil},
		{"a first key does not vouch for another name", []said{{"mallory", enroll, "alice", foreign, foreign, 0}},
			nil, []string{ReasonNotCountersigned}},
		{"a first key signed by another key is none", []said{{"alice", enroll, "alice", one, foreign, 0}},
			nil, []string{ReasonNotCountersigned}},
		{"a further key is signed by an earlier one", []said{first, {"alice", enroll, "alice", two, one, 1}},
			map[string]bool{print(one): true, print(two): true}, nil},
		{"a stolen kubeconfig brings no key of its own", []said{first, {"alice", enroll, "alice", foreign, foreign, 1}},
			map[string]bool{print(one): true}, []string{ReasonNotCountersigned}},
		{"another's key does not countersign", []said{first, {"mallory", enroll, "mallory", foreign, foreign, 0}, {"alice", enroll, "alice", two, foreign, 1}},
			map[string]bool{print(one): true}, []string{ReasonNotCountersigned}},
		{"a key signed for by a later one", []said{{"alice", enroll, "alice", two, one, 0}, {"alice", enroll, "alice", one, one, 1}},
			map[string]bool{print(one): true}, []string{ReasonNotCountersigned}},
		{"an admin enrolls for a person", []said{first, rootFirst, {"root", enroll, "alice", two, root, 1}},
			map[string]bool{print(one): true, print(two): true}, nil},
		{"an admin's account without the admin's key does not", []said{first, rootFirst, {"root", enroll, "alice", two, two, 1}},
			map[string]bool{print(one): true}, []string{ReasonNotCountersigned}},
		{"a key of another stays theirs", []said{{"bob", enroll, "bob", one, one, 0}, {"alice", enroll, "alice", one, one, 1}},
			nil, []string{ReasonKeyOfAnother}},
		{"enrolled twice counts once", []said{first, {"alice", enroll, "alice", one, one, 1}},
			map[string]bool{print(one): true}, []string{ReasonDuplicateKey}},
		{"a person revokes an own key, with it", []said{first, {"alice", revoke, "alice", one, one, 1}}, map[string]bool{print(one): false}, nil},
		{"a person revokes one key with another", []said{first, {"alice", enroll, "alice", two, one, 1}, {"alice", revoke, "alice", one, two, 2}},
			map[string]bool{print(one): false, print(two): true}, nil},
		{"an admin revokes", []said{first, rootFirst, {"root", revoke, "alice", one, root, 1}}, map[string]bool{print(one): false}, nil},
		{"nobody else revokes", []said{first, {"mallory", enroll, "mallory", foreign, foreign, 0}, {"mallory", revoke, "alice", one, foreign, 1}},
			map[string]bool{print(one): true}, []string{ReasonNotAllowedRevoker}},
		{"a revoked key revokes no other", []said{first, {"alice", enroll, "alice", two, one, 1},
			{"alice", revoke, "alice", one, two, 2}, {"alice", revoke, "alice", two, one, 3}},
			map[string]bool{print(one): false, print(two): true}, []string{ReasonNotAllowedRevoker}},
		{"a revoked key countersigns none", []said{first, {"alice", revoke, "alice", one, one, 1}, {"alice", enroll, "alice", two, one, 2}},
			map[string]bool{print(one): false}, []string{ReasonNotCountersigned}},
		{"a revoked key never returns", []said{first, {"alice", enroll, "alice", two, one, 1}, {"alice", revoke, "alice", one, two, 2},
			{"alice", enroll, "alice", one, two, 3}}, map[string]bool{print(one): false, print(two): true}, []string{ReasonKeyRevoked}},
		{"after the last key is revoked only an admin enrolls", []said{first, rootFirst, {"alice", revoke, "alice", one, one, 1},
			{"alice", enroll, "alice", two, two, 2}, {"root", enroll, "alice", three, root, 3}},
			map[string]bool{print(one): false, print(three): true}, []string{ReasonNotCountersigned}},
		{"a key that nobody enrolled cannot be revoked", []said{{"alice", revoke, "alice", one, one, 1}}, nil, []string{ReasonUnknownKey}},
		{"an unknown action", []said{first, {"alice", "lend", "alice", one, one, 1}}, map[string]bool{print(one): true}, []string{ReasonUnknownKeyAction}},
		{"enrolled and used to countersign in one second", []said{first, {"alice", enroll, "alice", two, one, 0}},
			map[string]bool{print(one): true, print(two): true}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var records []state.Record
			for _, s := range test.records {
				records = append([]state.Record{record(t, s)}, records...) // stores give no order
			}
			ring, rejected := buildRing(records, trust())
			if test.want == nil {
				test.want = map[string]bool{}
			}
			assert.DeepEqual(t, enrolled(ring, "alice"), test.want)
			var refused []string
			for _, r := range rejected {
				refused = append(refused, r.Err.Reason)
			}
			assert.DeepEqual(t, refused, test.refused)
		})
	}
}

func TestAKeyRecordThatDoesNotHoldTogetherIsRefused(t *testing.T) {
	one, two := newSigner(t), newSigner(t)
	first := said{"alice", state.KeyEnroll, "alice", one, one, 0}
	stored := func(change func(*state.Record)) state.Record {
		r := record(t, first)
		change(&r)
		return r
	}
	for _, test := range []struct {
		name, reason string
		record       state.Record
	}{
		{"editable", ReasonNotImmutable, stored(func(r *state.Record) { r.Immutable = false })},
		{"copied under another name", ReasonWrongName, stored(func(r *state.Record) { r.Name = "cw-key-000000000000" })},
		{"no envelope", ReasonBadEnvelope, stored(func(r *state.Record) { r.Data = nil })},
		{"nobody wrote it", ReasonWrongActor, stored(func(r *state.Record) { r.Claims.Actor = "" })},
		{"old", ReasonWrongTime, stored(func(r *state.Record) { r.Created = r.Created.Add(6 * time.Minute) })},
		{"from the future", ReasonWrongTime, stored(func(r *state.Record) { r.Created = r.Created.Add(-6 * time.Minute) })},
		{"another cluster", ReasonWrongCluster, record(t, first, func(k *state.Key) { k.ClusterUID = "uid-2" })},
		{"time in another form", ReasonWrongTime, record(t, first, func(k *state.Key) { k.Time = "2026-03-01T11:00:00+01:00" })},
		{"another's key as an own one", ReasonBadPossession, record(t, first, func(k *state.Key) { k.PublicKey = AuthorizedKey(two.PublicKey()) })},
		{"key with a comment", ReasonBadKey, record(t, first, func(k *state.Key) { k.PublicKey += " alice@desk" })},
		{"nobody's key", ReasonWrongActor, record(t, first, func(k *state.Key) { k.Person.Username = "" })},
	} {
		t.Run(test.name, func(t *testing.T) {
			ring, rejected := buildRing([]state.Record{test.record}, trust())
			assert.Equal(t, len(ring.Entries()), 0)
			assert.Equal(t, len(rejected), 1)
			assert.Equal(t, rejected[0].Record, test.record.Name)
			assert.Equal(t, rejected[0].Err.Reason, test.reason)
		})
	}
}

func TestTheRingTellsSinceWhenAKeyCounts(t *testing.T) {
	one := newSigner(t)
	ring, rejected := buildRing([]state.Record{record(t, said{"alice", state.KeyEnroll, "alice", one, one, 5})}, trust())
	assert.Equal(t, len(rejected), 0)
	entry, ok := ring.Lookup(ssh.FingerprintSHA256(one.PublicKey()))
	assert.Assert(t, ok)
	assert.Equal(t, entry.Person, "alice")
	assert.Equal(t, entry.Signer, entry.Fingerprint)
	assert.Assert(t, entry.From.Equal(start().Add(5*time.Minute)))
	assert.Assert(t, entry.ValidAt(entry.From) && !entry.ValidAt(entry.From.Add(-time.Second)))
	revoked := start()
	entry.Revoked = &revoked
	assert.Assert(t, !entry.ValidAt(entry.From))
	_, ok = Ring{}.Lookup("SHA256:none")
	assert.Assert(t, !ok)
}

func TestAKeyInDoubtIsSettledByTheAPIServerOrByAnotherKey(t *testing.T) {
	one, two, three, root := newSigner(t), newSigner(t), newSigner(t), newSigner(t)
	print := func(s Signer) string { return ssh.FingerprintSHA256(s.PublicKey()) }
	const enroll, revoke = state.KeyEnroll, state.KeyRevoke
	gap := trust() // the fence stands from minute 10 on, and root's key is beyond doubt
	gap.Attested = func(fingerprint string, at time.Time) string {
		if fingerprint == print(root) || !at.Before(start().Add(10*time.Minute)) {
			return ""
		}
		return "BeforeEpoch"
	}
	gap.Earlier = func(person, fingerprint string, before time.Time) string {
		if person == "carol" && !before.Before(start().Add(10*time.Minute)) {
			return "SHA256:gone"
		}
		return ""
	}
	old := said{"alice", enroll, "alice", one, one, 0}
	rootFirst := said{"root", enroll, "root", root, root, 0}
	for _, test := range []struct {
		name    string
		records []said
		want    map[string]string // keys of alice and carol that are valid, with their doubt
	}{
		{"enrolled while the fence was down", []said{old}, map[string]string{print(one): "BeforeEpoch"}},
		{"what it signs for is in doubt, too", []said{old, {"alice", enroll, "alice", two, one, 11}}, map[string]string{print(one): "BeforeEpoch", print(two): "BeforeEpoch"}},
		{"enrolled again now", []said{old, {"alice", enroll, "alice", one, one, 11}}, map[string]string{print(one): ""}},
		{"another in its place now", []said{old, {"alice", enroll, "alice", two, two, 11}}, map[string]string{print(one): "BeforeEpoch", print(two): ""}},
		{"the one planted does not come back after that", []said{old, {"alice", enroll, "alice", two, two, 11}, {"alice", enroll, "alice", one, one, 12}},
			map[string]string{print(one): "BeforeEpoch", print(two): ""}},
		{"nor does a third", []said{old, {"alice", enroll, "alice", two, two, 11}, {"alice", enroll, "alice", three, three, 12}},
			map[string]string{print(one): "BeforeEpoch", print(two): ""}},
		{"a second one while the fence was down", []said{old, {"alice", enroll, "alice", two, two, 1}}, map[string]string{print(one): "BeforeEpoch"}},
		{"an admin signs for it", []said{old, rootFirst, {"root", enroll, "alice", one, root, 11}}, map[string]string{print(one): ""}},
		{"where one was revoked, nobody is believed without an admin", []said{old, {"alice", revoke, "alice", one, one, 11}, {"alice", enroll, "alice", two, two, 12}}, map[string]string{}},
		{"a first key of someone who signed with another before", []said{{"carol", enroll, "carol", three, three, 11}}, map[string]string{}},
		{"an admin knows her", []said{rootFirst, {"root", enroll, "carol", three, root, 11}}, map[string]string{print(three): ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var records []state.Record
			for _, s := range test.records {
				records = append(records, record(t, s))
			}
			ring, _ := buildRing(records, gap)
			got := map[string]string{}
			for _, e := range append(ring.Person("alice"), ring.Person("carol")...) {
				if e.Revoked == nil {
					got[e.Fingerprint] = e.Doubt
				}
			}
			assert.DeepEqual(t, got, test.want)
		})
	}
}

func TestForgeLoginsArePeoplesNotKeys(t *testing.T) {
	one, two := newSigner(t), newSigner(t)
	login := func(names ...string) func(*state.Key) { return func(k *state.Key) { k.Logins = names } }
	ring, rejected := buildRing([]state.Record{
		record(t, said{"alice", state.KeyEnroll, "alice", one, one, 0}, login("alice-gh")),
		record(t, said{"alice", state.KeyEnroll, "alice", two, one, 1}),
		record(t, said{"alice", state.KeyEnroll, "alice", two, two, 2}, login("gitlab:alice")),
		record(t, said{"alice", state.KeyEnroll, "alice", two, two, 3}, login("gitlab:alice")),
	}, trust())
	assert.Equal(t, len(rejected), 1, "the last says nothing new")
	assert.DeepEqual(t, ring.Logins("alice"), []string{"alice-gh", "gitlab:alice"})
}
