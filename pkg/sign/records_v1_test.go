package sign

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/dir"
)

const exampleCluster = "5f0c2d9e-7b1a-4c55-9a53-0d6c1b6f2f11"

// examples is a store with a record of every type that is written, as version
// 1 wrote them. The files are never made anew: they must open forever.
func examples(t *testing.T) state.Store {
	t.Helper()
	return dir.Open("../../testdata/records/v1", func() time.Time { panic("nothing is written here") })
}

func list(t *testing.T, kind state.Type) []state.Record {
	t.Helper()
	records, err := examples(t).List(t.Context(), kind, state.Selector{})
	assert.NilError(t, err)
	assert.Assert(t, len(records) > 0, "no example of type %s", kind)
	return records
}

func predicates() map[state.Type]func() any {
	return map[state.Type]func() any{
		state.TypePlan:     func() any { return &state.Plan{} },
		state.TypeOutcome:  func() any { return &state.Outcome{} },
		state.TypeAudit:    func() any { return &state.Audit{} },
		state.TypeDecision: func() any { return &state.Decision{} },
		state.TypeKey:      func() any { return &state.Key{} },
		state.TypePolicy:   func() any { return &state.Policy{} },
		state.TypeEpoch:    func() any { return &state.Epoch{} },
		state.TypeRoster:   func() any { return &state.Roster{} },
		state.TypeReview:   func() any { return &state.Review{} },
		state.TypeIncident: func() any { return &state.Incident{} },
	}
}

func TestRecordsOfVersion1OpenForever(t *testing.T) {
	var out strings.Builder
	for _, kind := range state.Types() {
		empty, signed := predicates()[kind]
		if !signed {
			continue
		}
		for _, record := range list(t, kind) {
			predicate := empty()
			opened, err := Open(kind, record.Data[state.DataEnvelope], predicate)
			assert.NilError(t, err, record.Name)
			said, err := json.MarshalIndent(predicate, "", "  ")
			assert.NilError(t, err)
			fmt.Fprintf(&out, "%s\nabout %s %s\nsigned by %s\nenvelope %s\n%s\n\n", record.Name, opened.Name, opened.Hash,
				opened.Fingerprint, state.Digest(opened.Envelope), said)
		}
	}
	golden.Assert(t, out.String(), "records-v1.golden")
}

func TestPlansOfVersion1HoldWhatTheirHashSays(t *testing.T) {
	for _, record := range list(t, state.TypePlan) {
		var header state.Plan
		opened, err := Open(state.TypePlan, record.Data[state.DataEnvelope], &header)
		assert.NilError(t, err)
		number, ok := state.NumberOf(state.TypePlan, record.Name)
		assert.Assert(t, ok && number == header.Number)
		assert.Equal(t, opened.Name, state.ChangeID(exampleCluster, opened.Hash, header.Number))

		body, before, err := state.GetBody(t.Context(), examples(t), record, header)
		assert.NilError(t, err)
		assert.Equal(t, before != nil, header.Before != "")
		var document struct {
			Changes []json.RawMessage `json:"changes"`
			Header  json.RawMessage   `json:"header"`
		}
		assert.NilError(t, state.DecodeStrict(body, &document))
		assert.Equal(t, state.Digest(document.Header), opened.Hash)
		for _, change := range document.Changes {
			assert.Assert(t, strings.Contains(string(document.Header), state.Digest(change)))
		}
	}
}

func TestTheRingOfVersion1(t *testing.T) {
	ring, rejected := buildRing(list(t, state.TypeKey), Trust{ClusterUID: exampleCluster})
	assert.Equal(t, len(rejected), 0)
	var who []string
	for _, entry := range ring.Entries() {
		who = append(who, fmt.Sprintf("%s %v %t", entry.Person, entry.Logins, entry.Revoked == nil))
	}
	assert.DeepEqual(t, who, []string{"alice@example.com [alice-gh] true", "alice@example.com [] false",
		"bob@example.com [] true", "root@example.com [] true"})
	for _, record := range list(t, state.TypeDecision) {
		opened, err := Open(state.TypeDecision, record.Data[state.DataEnvelope], &state.Decision{})
		assert.NilError(t, err)
		entry, ok := ring.Lookup(opened.Fingerprint)
		assert.Assert(t, ok && entry.Person == record.Claims.Actor && entry.ValidAt(record.Created))
		assert.Equal(t, record.Name, state.ContentName(state.TypeDecision, opened.Payload))
	}
	var epoch state.Epoch
	_, err := Open(state.TypeEpoch, list(t, state.TypeEpoch)[0].Data[state.DataEnvelope], &epoch)
	assert.NilError(t, err)
	gate, err := ParseKey(epoch.GateKey)
	assert.NilError(t, err)
	for _, record := range list(t, state.TypeAudit) {
		opened, err := Open(state.TypeAudit, record.Data[state.DataEnvelope], &state.Audit{})
		assert.NilError(t, err)
		assert.Equal(t, opened.Fingerprint, ssh.FingerprintSHA256(gate))
	}
}
