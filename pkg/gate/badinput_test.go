package gate_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// refuser is a key whose agent refuses.
type refuser struct{ sign.Signer }

func (refuser) Sign(string, []byte) ([]byte, error) { return nil, errors.New("agent: refused") }

func TestAKeyThatRefusesLosesNothing(t *testing.T) {
	w := newWorld(t)
	request := *w.run(flag("shop", "false", "true")).Request
	alice(w)
	before := w.total()
	_, err := w.as(person("alice")).Decide(context.Background(), w.load(), gate.DecideInput{Request: request, Action: state.ActionApprove, Signer: refuser{w.keys["alice"]}})
	assert.ErrorContains(t, err, "refused")
	assert.Equal(t, w.total(), before)
	assert.NilError(t, w.decide(person("alice"), request.ID, state.ActionApprove))
}

// ofVersion2 makes an envelope of another version of a record type.
func ofVersion2(t *testing.T, kind state.Type, key sign.Signer) []byte {
	t.Helper()
	payload := []byte(`{"_type":"https://in-toto.io/Statement/v1","predicate":{},"predicateType":"https://changeward.dev/` + string(kind) +
		`/v2","subject":[{"digest":{"sha256":"` + strings.Repeat("a", 64) + `"},"name":"x"}]}`)
	signature, err := key.Sign(state.Namespace(kind), state.PAE(state.PayloadType, payload))
	assert.NilError(t, err)
	envelope, err := state.Canonical(state.Envelope{Payload: payload, PayloadType: state.PayloadType,
		Signatures: []state.Signature{{KeyID: fingerprint(key), Sig: signature}}})
	assert.NilError(t, err)
	return envelope
}

func TestARecordOfAVersionThatIsNotKnownIsNamedAndStopsNothing(t *testing.T) {
	w := newWorld(t)
	names := map[state.Type]string{state.TypePlan: "cw-plan-000777", state.TypeOutcome: "cw-outcome-000001-1", state.TypeAudit: "cw-audit-0000000777",
		state.TypeDecision: "cw-decision-0123456789ab", state.TypeKey: "cw-key-0123456789ab", state.TypeReview: "cw-review-0123456789ab", state.TypeIncident: "cw-incident-0123456789ab",
		state.TypePolicy: "cw-policy-000002", state.TypeRoster: "cw-roster-000001", state.TypeEpoch: "cw-epoch-000002"}
	for kind, name := range names {
		w.putRaw(kind, name, ofVersion2(t, kind, w.keys["root"]), person("root", "admins"))
	}
	ledger := w.load()
	for kind, name := range names {
		i := slices.IndexFunc(ledger.Rejected, func(r gate.RejectedRecord) bool { return r.Name == name })
		assert.Assert(t, i >= 0, name)
		assert.Assert(t, strings.Contains(ledger.Rejected[i].Detail, "https://changeward.dev/"+string(kind)+"/v2"), "%s: %s", name, ledger.Rejected[i].Detail)
	}
	id := w.run(flag("shop", "false", "true")).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(flag("shop", "false", "true"))), state.VerdictAllowed)
}

func TestADecisionSignedAnHourOffDoesNotCountAndSaysSo(t *testing.T) {
	w := newWorld(t)
	request := *w.run(flag("shop", "false", "true")).Request
	alice(w)
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		w.tick()
		w.forge(state.TypeDecision, "", request.ID, request.Hash, state.Decision{Action: state.ActionApprove, ClusterUID: clusterUID, Number: 1,
			Person: person("alice"), Time: w.now.Add(off).Format(time.RFC3339)}, w.keys["alice"], "alice", nil)
	}
	w.tick()
	result := w.run(flag("shop", "false", "true"))
	assert.Equal(t, decision(result), state.VerdictApprovalRequired)
	for _, d := range result.Request.Decisions {
		assert.Equal(t, d.Reason, approval.ClockSkew)
	}
}

func TestAChunkThatIsHalfWrittenOrMissingCostsItsPlanAndNothingElse(t *testing.T) {
	w := newWorld(t)
	bulk := bytes.Repeat([]byte("x"), 100)
	w.putRaw(state.TypeChunk, state.ChunkName(state.Digest(bulk)), bulk[:50], ci())
	header := state.Plan{Number: 1, Proposer: ci(), ClusterUID: clusterUID, Scope: "shop", Time: w.stamp(), Parts: []string{state.Digest(bulk)}}
	p := flag("shop", "false", "true")
	id := state.ChangeID(clusterUID, p.Hash, 1)
	w.forge(state.TypePlan, state.NumberedName(state.TypePlan, 1), id, p.Hash, header, w.gate, ci().Username, nil)
	request := w.request(id)
	assert.Equal(t, request.Void, gate.ReasonRecordInvalid)
	assert.Assert(t, strings.Contains(request.Detail, "chunk "+state.Digest(bulk)), request.Detail)
	again := w.run(p)
	assert.Equal(t, again.Request.Number, 2)
	assert.NilError(t, w.decide(alice(w), again.Request.ID, state.ActionApprove))
	assert.Equal(t, decision(w.run(p)), state.VerdictAllowed)
}

func fingerprint(key sign.Signer) string { return ssh.FingerprintSHA256(key.PublicKey()) }
