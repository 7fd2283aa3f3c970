package trust_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

func TestAnEpochVouchesForThoseBeforeItUnlessSomethingWasChangedInBetween(t *testing.T) {
	epoch := func(version int, uid string, generation int64) state.Epoch {
		return state.Epoch{Version: version, Objects: []state.AdmissionObject{{Kind: "K", Name: "n", UID: uid, Generation: generation}}}
	}
	for name, tc := range map[string]struct {
		epochs []state.Epoch
		since  int
	}{
		"the first":                 {[]state.Epoch{epoch(1, "a", 1)}, 1},
		"a new gate key":            {[]state.Epoch{epoch(1, "a", 1), epoch(2, "a", 1)}, 1},
		"an upgrade":                {[]state.Epoch{epoch(1, "a", 1), epoch(2, "a", 2)}, 1},
		"to Audit and back":         {[]state.Epoch{epoch(1, "a", 1), epoch(2, "a", 3)}, 2},
		"made anew":                 {[]state.Epoch{epoch(1, "a", 1), epoch(2, "b", 1)}, 2},
		"a restored, older one":     {[]state.Epoch{epoch(1, "a", 2), epoch(2, "a", 1)}, 2},
		"an upgrade after a change": {[]state.Epoch{epoch(1, "a", 1), epoch(2, "a", 3), epoch(3, "a", 4)}, 2},
		"an object more":            {[]state.Epoch{{Version: 1}, epoch(2, "a", 1)}, 2},
	} {
		assert.Equal(t, tc.epochs[trust.Unbroken(tc.epochs)].Version, tc.since, name)
	}
}

func TestARosterFileIsReadStrictly(t *testing.T) {
	_, key, err := sign.NewGateKey()
	assert.NilError(t, err)
	good := "apiVersion: changeward.dev/v1alpha1\nkind: Roster\nspec:\n  expires: 2027-01-01T00:00:00Z\n  people:\n  - user: alice\n    logins: [github:alice]\n    keys: [" + key + "]\n"
	roster, err := trust.ParseRoster([]byte(good))
	assert.NilError(t, err)
	assert.DeepEqual(t, roster, trust.Roster{Expires: "2027-01-01T00:00:00Z", Keys: []state.RosterKey{{Logins: []string{"github:alice"}, Person: "alice", PublicKey: key}}})
	text, err := roster.Format()
	assert.NilError(t, err)
	again, err := trust.ParseRoster(text)
	assert.NilError(t, err)
	assert.DeepEqual(t, again, roster)
	for name, test := range map[string]struct{ source, says string }{
		"an unknown key":        {strings.Replace(good, "logins:", "groups:", 1), "groups"},
		"a key in capitals":     {strings.Replace(good, "keys:", "KEYS:", 1), "KEYS"},
		"two spellings of keys": {strings.Replace(good, "    keys:", "    Keys: []\n    keys:", 1), "Keys"},
		"another kind":          {strings.Replace(good, "Roster", "Policy", 1), `"Policy"`},
		"nobody":                {strings.Split(good, "  people")[0] + "  people: []\n", "lists nobody"},
		"no user":               {strings.Replace(good, "user: alice", "user: ''", 1), "needs user and keys"},
		"no key":                {strings.Replace(good, key, "alice@desk", 1), "spec.people[0].keys[0]: BadKey"},
		"a weak key":            {strings.Replace(good, key, weak, 1), "WeakKey"},
		"one key of two people": {good + "  - {user: bob, keys: [" + key + "]}\n", "listed for alice already"},
	} {
		_, err := trust.ParseRoster([]byte(test.source))
		assert.ErrorContains(t, err, test.says, name)
	}
}

// weak is an RSA key of 1024 bits.
const weak = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQ=="
