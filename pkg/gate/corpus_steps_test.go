package gate_test

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// do does one step. What is refused is heard, and the deed goes on.
func (s *stage) do(p step) {
	s.t.Helper()
	s.tick()
	switch p.Do {
	case "plan":
		s.propose(p)
	case "author": // of what is planned from now on
		s.author = p.Who
	case "approve", "reject", "revoke":
		s.decide(p)
	case "copy": // an approval of who's, as it is, under another request
		s.copyDecision(p)
	case "forge": // any record, signed and written by hand
		s.forge(p)
	case "revoke-key":
		s.revokeKey(p)
	case "enroll": // a new key, without the first one's word
		s.keys[p.Who] = newKey(s.t)
		_, err := s.as(p.Who).Enroll(context.Background(), s.ledger(), s.keys[p.Who], nil, nil)
		s.hear(err)
	case "remove":
		s.hear(s.store(p.Who).Delete(context.Background(), p.Type, state.NumberedName(p.Type, p.Number)))
	case "swap":
		s.renumber(p)
	case "wait":
		wait, err := time.ParseDuration(p.For)
		assert.NilError(s.t, err)
		s.wait(wait)
	default:
		s.t.Fatalf("no step %q", p.Do)
	}
	s.tick()
}

func (s *stage) ledger() *gate.Ledger {
	s.t.Helper()
	ledger, err := s.as("ci").Load(context.Background())
	assert.NilError(s.t, err)
	return ledger
}

// propose puts a plan forward, and notes its request if it is a new one.
func (s *stage) propose(p step) {
	s.t.Helper()
	from, to, ok := strings.Cut(p.Plan, " ")
	assert.Assert(s.t, ok, "a plan is FROM TO")
	s.plan = flagOn(s.uid, "shop"+s.deed, s.object, s.deed+from, s.deed+to)
	result := s.ask(p.Who, s.plan, p.Again)
	if result == nil || result.Request == nil {
		return
	}
	for _, r := range s.requests {
		if r.ID == result.Request.ID {
			return
		}
	}
	s.requests = append(s.requests, *result.Request)
}

func (s *stage) decide(p step) {
	s.t.Helper()
	_, err := s.as(p.Who).Decide(context.Background(), s.ledgerOf(p.Who), gate.DecideInput{Request: s.request(p.Request), Action: p.Do,
		Signer: s.signer(p), Reason: "because", First: p.Key == "new"})
	s.hear(err)
}

// ledgerOf is what who reads.
func (s *stage) ledgerOf(who string) *gate.Ledger {
	s.t.Helper()
	ledger, err := s.as(who).Load(context.Background())
	assert.NilError(s.t, err)
	return ledger
}

// otherSpace signs in a namespace of SSHSIG that is not the record's.
type otherSpace struct {
	sign.Signer
	space string
}

func (o otherSpace) Sign(_ string, message []byte) ([]byte, error) {
	return o.Signer.Sign(o.space, message)
}

// signer is whose key a step signs with.
func (s *stage) signer(p step) sign.Signer {
	s.t.Helper()
	name := p.Key
	if name == "" {
		name = p.Who
	}
	key := s.keys[name]
	if name == "new" {
		key = newKey(s.t)
	}
	assert.Assert(s.t, key != nil, "no key of %s", name)
	if p.Space != "" {
		return otherSpace{key, p.Space}
	}
	return key
}

// put writes a record as who, under the label of a request.
func (s *stage) put(p step, record state.Record) {
	s.t.Helper()
	under := s.request(p.Under)
	record.Plan, record.Scope = state.PlanLabel(under.Hash), state.ScopeLabel(under.Header.Scope)
	record.Claims = state.Claims{Actor: p.Claim, Groups: p.Groups}
	if record.Type == state.TypeDecision {
		record.Claims.PlanHash = under.Hash
	}
	if p.Claim == "" {
		record.Claims.Actor = s.person(p.Who).Username
	}
	s.written = append(s.written, record.Name)
	_, err := s.store(p.Who).Create(context.Background(), record)
	s.hear(err)
}

// copyDecision stores a decision that was made before once more.
func (s *stage) copyDecision(p step) {
	s.t.Helper()
	list, err := s.store("root").List(context.Background(), state.TypeDecision, state.Selector{Plan: state.PlanLabel(s.request(p.Request).Hash)})
	assert.NilError(s.t, err)
	assert.Assert(s.t, len(list) > 0, "nothing was decided")
	s.put(p, state.Record{Type: state.TypeDecision, Name: "cw-decision-" + state.Hex(s.request(0).Hash)[:12],
		Data: list[len(list)-1].Data})
}

// forge signs a predicate: what an honest approval says, with the members that
// the step sets.
func (s *stage) forge(p step) {
	s.t.Helper()
	request := s.request(p.Request)
	now, err := s.store("root").Now(context.Background())
	assert.NilError(s.t, err)
	members := map[string]any{"clusterUID": s.uid, "time": state.FormatTime(now)}
	subject, hash := "", ""
	if p.Type.AboutPlan() {
		subject, hash = request.ID, request.Hash
		members["number"] = request.Number
	}
	if p.Type == state.TypeDecision {
		members["action"], members["person"] = state.ActionApprove, map[string]any{"username": s.person(p.Who).Username}
	}
	for name, value := range p.Set {
		members[name] = value
	}
	envelope, payload, err := sign.Seal(s.signer(p), p.Type, subject, hash, plain(members))
	assert.NilError(s.t, err)
	name := state.ContentName(p.Type, payload)
	if p.Number > 0 {
		name = state.NumberedName(p.Type, p.Number)
	}
	s.put(p, state.Record{Type: p.Type, Name: name, Data: map[string][]byte{state.DataEnvelope: envelope}})
}

// plain is a value of YAML as JSON has it: whole numbers are whole.
func plain(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return json.RawMessage(text)
}

func (s *stage) revokeKey(p step) {
	s.t.Helper()
	ledger := s.ledgerOf(p.Who)
	for _, entry := range ledger.Ring().Person(p.Claim) {
		_, err := s.as(p.Who).RevokeKey(context.Background(), ledger, entry.Fingerprint, "stolen", s.signer(p))
		s.hear(err)
	}
}

// renumber exchanges the contents of a record and the one behind it.
func (s *stage) renumber(p step) {
	s.t.Helper()
	ctx, store := context.Background(), s.store("root")
	var both [2]state.Record
	for i := range both {
		var err error
		both[i], err = store.Get(ctx, p.Type, state.NumberedName(p.Type, p.Number+i))
		assert.NilError(s.t, err)
		assert.NilError(s.t, store.Delete(ctx, p.Type, both[i].Name))
	}
	both[0].Data, both[1].Data = both[1].Data, both[0].Data
	for _, record := range both {
		_, err := store.Create(ctx, record)
		assert.NilError(s.t, err)
	}
}
