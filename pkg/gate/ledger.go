package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

// Ledger is all records of an install, read and verified at one moment. It is
// a value: it never writes, and Load makes a new one.
type Ledger struct {
	now         time.Time
	clusterUID  string
	book        *trust.Book
	policies    []trust.Version[state.Policy]
	policy      *policy.Policy
	epochs      []trust.Version[state.Epoch]
	attestation Attestation
	requests    []Request // by number, ascending
	audit       []entry
	reviews     map[int][]approval.Decision
	incidents   []IncidentRecord
	names       map[string]bool // of plans, outcomes and audit entries, readable or not
	extent      extent
	// Rejected are records that do not count, with the reason.
	Rejected []RejectedRecord
}

// RejectedRecord is a record that could not be read or verified.
type RejectedRecord struct {
	Type           state.Type
	Name           string
	Reason, Detail string
}

type entry struct {
	state.Audit
	digest string
	byGate bool      // signed with the gate key
	at     time.Time // server time of the record
}

// records is everything a ledger is made from.
type records map[state.Type][]state.Record

// Load reads and verifies every record that decisions rest on. ErrNoStore:
// nothing is installed. A chain of policies, rosters or epochs in which one is
// missing is an error; records that count for nothing are left out and named in
// Rejected.
func (g *Gate) Load(ctx context.Context) (*Ledger, error) { return g.load(ctx, extent{}) }

func (g *Gate) load(ctx context.Context, want extent) (*Ledger, error) {
	all, index, err := g.gather(ctx, want)
	if err != nil {
		return nil, err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the server's clock: %w", err)
	}
	l := &Ledger{now: now, clusterUID: g.ClusterUID, names: namesOf(index), extent: want}
	if err := g.loadTrust(ctx, l, all); err != nil {
		return nil, err
	}
	if err := g.loadEntries(ctx, l, all[state.TypeAudit], index[state.TypeAudit]); err != nil {
		return nil, err
	}
	return l, g.loadRequests(ctx, l, all)
}

func (g *Gate) read(ctx context.Context, types []state.Type) (records, error) {
	return g.each(ctx, types, func(ctx context.Context, t state.Type) ([]state.Record, error) {
		return g.Store.List(ctx, t, state.Selector{})
	})
}

// each lists records of several types at once.
func (g *Gate) each(ctx context.Context, types []state.Type, list func(context.Context, state.Type) ([]state.Record, error)) (records, error) {
	lists := make([][]state.Record, len(types))
	group, ctx := errgroup.WithContext(ctx)
	for i, t := range types {
		group.Go(func() (err error) {
			if lists[i], err = list(ctx, t); err != nil {
				return fmt.Errorf("read %s records: %w", t, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := records{}
	for i, t := range types {
		all[t] = lists[i]
	}
	return all, nil
}

func (g *Gate) attest(ctx context.Context, l *Ledger) Attestation {
	if g.Attestation == nil {
		return Attestation{Void: ReasonNoAdmission, Detail: "these records are kept where no admission policy guards them"}
	}
	epochs := make([]state.Epoch, len(l.epochs))
	for i, e := range l.epochs {
		epochs[i] = e.Predicate
	}
	return g.Attestation(ctx, epochs)
}

func (l *Ledger) reject(t state.Type, name, reason, detail string) {
	l.Rejected = append(l.Rejected, RejectedRecord{Type: t, Name: name, Reason: reason, Detail: detail})
}

// Policy is the policy in force and its version.
func (l *Ledger) Policy() (*policy.Policy, int) { return l.policy, len(l.policies) }

// PolicySource is the YAML text of a version; 0 means the one in force.
func (l *Ledger) PolicySource(number int) (string, error) {
	if number == 0 {
		number = len(l.policies)
	}
	if number < 1 || number > len(l.policies) {
		return "", fmt.Errorf("no policy version %d: the versions are 1 to %d", number, len(l.policies))
	}
	return l.policies[number-1].Predicate.Source, nil
}

// Ring is the keys that people have enrolled.
func (l *Ledger) Ring() sign.Ring { return l.book.Ring }

// Epoch is the epoch in force; zero where there is none.
func (l *Ledger) Epoch() state.Epoch {
	if len(l.epochs) == 0 {
		return state.Epoch{}
	}
	return l.epochs[len(l.epochs)-1].Predicate
}

// warnings say why no approval can count in this run, whoever gives it.
func (l *Ledger) warnings() []string {
	if l.attestation.Void == "" || !l.wantsAttested() {
		return nil
	}
	return []string{fmt.Sprintf("no approval can be attested now: %s: %s", l.attestation.Void, l.attestation.Detail)}
}

// wantsAttested says that policy counts only what the API server vouches for.
func (l *Ledger) wantsAttested() bool { return l.policy.Approvals.Identity != policy.IdentitySigned }

// ChainHead is the digest of the newest audit entry, "" before the first.
func (l *Ledger) ChainHead() string {
	newest := l.lastEntry()
	for _, e := range slices.Backward(l.audit) {
		if e.Number <= newest {
			return e.digest
		}
	}
	return ""
}

// Now is the store's clock when the ledger was read.
func (l *Ledger) Now() time.Time { return l.now }
