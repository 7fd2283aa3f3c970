package gate

import (
	"context"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Gate is the use case over one install: it reads the records, plans, decides
// and records.
type Gate struct {
	Store      state.Store
	ClusterUID string
	Caller     state.Person // as the API server knows the caller
	Credential string       // of this request, where the server names one
	Signer     sign.Signer  // gate key, or the caller's own
	// Attestation tells, for this run, whether the admission fence stands; nil
	// where there is none (records in files).
	Attestation func(ctx context.Context, epochs []state.Epoch) Attestation
}

// Attestation is what a run found out about the admission fence.
type Attestation struct {
	// Void is the reason constant why records cannot be taken as attested now;
	// "" means the fence stands.
	Void, Detail string
	// Since is the epoch from which on it stands.
	Epoch int
}

// Input is one set of manifests to be judged.
type Input struct {
	Plan   *plan.Plan
	Before []byte // canonical redacted LIVE of what is updated or deleted
	Header state.Plan // scope, sources, author, revision, ci, reason, ticket, target
	Lane   string
	Again  bool // ask again after a rejection
}

// Load reads and verifies every record that decisions rest on. ErrNoStore:
// nothing is installed.
func (g *Gate) Load(ctx context.Context) (*Ledger, error) { panic("to do") }

// Run judges a plan, records what changed, and answers. The record is written
// before it returns; an error means not allowed.
func (g *Gate) Run(ctx context.Context, ledger *Ledger, in Input) (*Result, error) { panic("to do") }

// DecideInput is a person's answer to one request.
type DecideInput struct {
	Request   Request
	Action    string // state.ActionApprove, …Reject, …Revoke
	Reason    string
	Ticket    string
	Emergency bool
	Groups    []string // of the caller, that matter for the requirements
	Signer    sign.Signer
}

// Decide signs and stores a decision. It does not ask; the caller has shown
// the plan.
func (g *Gate) Decide(ctx context.Context, ledger *Ledger, in DecideInput) (state.Record, error) {
	panic("to do")
}

// Ledger is all records of an install, read and verified at one moment.
type Ledger struct{}

// Requests are all change requests, newest first.
func (l *Ledger) Requests() []Request { panic("to do") }

// Find resolves c_…, p_… (the newest request of that plan), #3, 3 or a full
// hash. An ambiguous prefix is an error that lists the candidates.
func (l *Ledger) Find(ref string) (Request, error) { panic("to do") }

// Policy is the policy in force and its version.
func (l *Ledger) Policy() (*policy.Policy, int) { panic("to do") }

// PolicySource is the YAML text of a version; 0 means the one in force.
func (l *Ledger) PolicySource(version int) (string, error) { panic("to do") }

// Ring is the keys that people have enrolled.
func (l *Ledger) Ring() sign.Ring { panic("to do") }

// Stored reads the recorded plan of a request, recomputes its hash, and
// returns it with the recorded before-state.
func (g *Gate) Stored(ctx context.Context, request Request) (p *plan.Plan, body, before []byte, err error) {
	panic("to do")
}
