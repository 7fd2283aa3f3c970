package gate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// cast are the people of the corpus, with their groups: policy asks one of
// alice, bob and dave, and two of them for the ConfigMap "pair"; all may write decisions and keys, and dev may propose.
func cast() map[string][]string {
	return map[string][]string{"alice": {"sre"}, "bob": {"dev", "sre"}, "dave": {"sre"}, "mallory": {"sre"}}
}

func stagePolicy(identity, admins string) string {
	text := strings.Replace(policyText, "users: [alice]", "users: [alice, bob, dave]", 1)
	text = strings.Replace(text, "  rules:\n", `  rules:
  - name: pair
    match: change.name == "pair"
    decision: approval
    approvers: [{users: [alice, bob, dave], count: 2}]
`, 1)
	text = strings.Replace(text, "identity: signed", "identity: "+identity, 1)
	return strings.Replace(text, "{groups: [admins]}", "{groups: ["+admins+"]}", 1)
}

// stage is where deeds are done: records in files, or in a cluster.
type stage struct {
	t     *testing.T
	uid   string
	keys  map[string]sign.Signer
	admin state.Person
	ci    string // the gate's account
	store func(who string) state.Store
	gate  func(who state.Person) *gate.Gate
	tick  func()
	wait  func(time.Duration) // nil: time is the server's
	deed  string              // tells the plans of one deed from those of others

	requests []gate.Request
	plan     *plan.Plan
	object   string // name of the ConfigMap that is planned
	author   string
	heard    []string // reasons that were given
	written  []string // names of the records that were written by hand
}

// person is someone with their groups.
func (s *stage) person(name string) state.Person {
	switch name {
	case "", "ci":
		return state.Person{Username: s.ci}
	case "root":
		return s.admin
	}
	return state.Person{Username: name, Groups: cast()[name]}
}

func (s *stage) as(name string) *gate.Gate { return s.gate(s.person(name)) }

// hear notes what an error says.
func (s *stage) hear(err error) {
	if err == nil {
		return
	}
	s.heard = append(s.heard, err.Error())
	var fault *gate.Fault
	if errors.As(err, &fault) {
		s.heard = append(s.heard, fault.Reason)
	}
	if errors.Is(err, state.ErrForbidden) {
		s.heard = append(s.heard, "Forbidden")
	}
}

// request is the how-manieth of the deed; 0: the last.
func (s *stage) request(n int) gate.Request {
	s.t.Helper()
	if n == 0 {
		n = len(s.requests)
	}
	assert.Assert(s.t, n <= len(s.requests), "no request %d", n)
	return s.requests[n-1]
}

// ask puts a plan forward.
func (s *stage) ask(who string, p *plan.Plan, again bool) *gate.Result {
	s.tick()
	header := state.Plan{Scope: p.Scope}
	if s.author != "" {
		header.Author = &state.Author{Name: s.author}
	}
	result, err := s.as(who).Run(context.Background(), nil, gate.Input{Plan: p, Header: header, Again: again})
	s.hear(err)
	return result
}

// judge asks the gate once more, and notes why approvals do not count.
func (s *stage) judge() string {
	s.t.Helper()
	assert.Assert(s.t, s.plan != nil, "nothing was planned")
	result := s.ask("ci", s.plan, false)
	if result == nil {
		return state.VerdictError
	}
	for _, r := range result.Verdict.Reasons {
		s.heard = append(s.heard, r.Reason+" "+r.Message)
	}
	return decision(result)
}

// listen notes what the records and an audit of them say, of those that this
// deed is about.
func (s *stage) listen() {
	s.t.Helper()
	ctx := context.Background()
	ledger, err := s.as("ci").Load(ctx)
	s.hear(err)
	if err == nil {
		for _, r := range ledger.Rejected {
			s.note(r.Name, r.Reason, r.Detail)
		}
		for _, r := range ledger.Requests() {
			if !slices.ContainsFunc(s.requests, func(own gate.Request) bool { return own.ID == r.ID }) {
				continue
			}
			for _, d := range r.Decisions { // of two in one second, either may be the one that counts
				s.heard = append(s.heard, fmt.Sprint(d.Record.Name, " ", d.Reason, " ", d.Detail))
			}
		}
	}
	facts, err := s.as("ci").Examine(ctx)
	assert.NilError(s.t, err)
	for _, f := range audit.Verify(facts, audit.Expected{}).Findings {
		s.note(f.Record, f.Reason, f.Message)
	}
}

// note hears what is said of a record: in files, where each deed has its own,
// of any; in the cluster, of those that it wrote by hand.
func (s *stage) note(record, reason, detail string) {
	if s.deed == "" || slices.Contains(s.written, record) {
		s.heard = append(s.heard, fmt.Sprint(record, " ", reason, " ", detail))
	}
}
