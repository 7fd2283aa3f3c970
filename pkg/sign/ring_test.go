package sign

import (
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
	return Trust{ClusterUID: "uid-1", Admin: func(writer state.Claims) bool { return writer.Actor == "root" }}
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
			ring, rejected := BuildRing(records, trust())
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
			ring, rejected := BuildRing([]state.Record{test.record}, trust())
			assert.Equal(t, len(ring.Entries()), 0)
			assert.Equal(t, len(rejected), 1)
			assert.Equal(t, rejected[0].Record, test.record.Name)
			assert.Equal(t, rejected[0].Err.Reason, test.reason)
		})
	}
}

func TestTheRingTellsSinceWhenAKeyCounts(t *testing.T) {
	one := newSigner(t)
	ring, rejected := BuildRing([]state.Record{record(t, said{"alice", state.KeyEnroll, "alice", one, one, 5})}, trust())
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
