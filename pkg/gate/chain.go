package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

// loadTrust reads whose key is whose and which versions count, and looks at the
// admission fence in between: what the API server alone vouches for depends on
// that.
func (g *Gate) loadTrust(ctx context.Context, l *Ledger, all records) error {
	opened := l.open(all)
	l.epochs = opened.Epochs()
	l.attestation = g.attest(ctx, l)
	var err error
	if l.book, err = opened.Read(l.epochs, l.attested); err != nil {
		var gap *trust.Error
		if errors.As(err, &gap) {
			return broken(gap.Type, gap.Name, gap.Why)
		}
		return err
	}
	for _, r := range l.book.Rejected {
		if r.Asked == nil { // that one waits to be signed for
			l.reject(r.Type, r.Name, r.Reason, r.Detail)
		}
	}
	return l.takePolicy()
}

func (l *Ledger) open(all records) *trust.Opened {
	return trust.Open(trust.Stored{ClusterUID: l.clusterUID, Keys: all[state.TypeKey], Policies: all[state.TypePolicy],
		Rosters: all[state.TypeRoster], Epochs: all[state.TypeEpoch], Decisions: all[state.TypeDecision]})
}

// takePolicy takes the newest version into force. Where there are records and
// none of them counts, the first that does not says why.
func (l *Ledger) takePolicy() error {
	for t, count := range map[state.Type]int{state.TypeEpoch: len(l.epochs), state.TypePolicy: len(l.book.Policies)} {
		i := slices.IndexFunc(l.book.Rejected, func(r trust.Rejected) bool { return r.Type == t })
		if count == 0 && i >= 0 {
			return broken(t, l.book.Rejected[i].Name, l.book.Rejected[i].Detail)
		}
	}
	l.policies = l.book.Policies
	if len(l.policies) == 0 {
		return &Fault{Reason: ReasonNoPolicy, Message: "no policy is set"}
	}
	var err error
	if l.policy, err = policy.Parse([]byte(l.policies[len(l.policies)-1].Predicate.Source)); err != nil {
		return &Fault{Reason: ReasonPolicyUnreadable, Message: fmt.Sprintf("policy version %d: %v", len(l.policies), err)}
	}
	return nil
}

// Unvouched says why the policy in force, or the roster where policy asks for
// one, may not be the admins', or nil. Nothing is allowed then.
func (l *Ledger) Unvouched() *policy.Reason {
	if why := l.book.Unvouched(state.TypePolicy); why != "" {
		return &policy.Reason{Reason: ReasonPolicyUnvouched, Message: why}
	}
	if why := l.cut(); why != "" {
		return &policy.Reason{Reason: ReasonPolicyMissing, Message: why}
	}
	if why := l.book.Unvouched(state.TypeRoster); why != "" && l.policy.Approvals.Enrollment == policy.EnrollmentRoster {
		return &policy.Reason{Reason: ReasonRosterUnvouched, Message: why}
	}
	return nil
}

// cut says that the chain of policies was cut: the gate has judged by a version
// that is not there any more. Only its own key says so, since anyone who
// proposes may sign audit entries with their own. Whoever holds a gate's token
// can sign such a lie: what was written before the newest version was set
// counts no more, since an admin has looked since.
func (l *Ledger) cut() string {
	newest := l.policies[len(l.policies)-1].Record.Created
	for _, e := range l.audit {
		if e.byGate && e.PolicyVersion > len(l.policies) && e.at.After(newest) {
			return fmt.Sprintf("audit entry %s, written by %s, was judged by policy version %d, which is not there: it was deleted, or that writer holds a gate key and lies; "+
				"an admin must look at both, and set the policy again", state.NumberedName(state.TypeAudit, e.Number), e.Actor.Username, e.PolicyVersion)
		}
	}
	return ""
}

// believes says that a key is its owner's as far as policy wants that proved.
func (l *Ledger) believes(key sign.Entry) bool { return key.Doubt == "" || !l.wantsAttested() }

// settled says that to enroll a key again would change nothing: it is believed,
// or the fence does not stand now, so that it would be no better for it.
func (l *Ledger) settled(key sign.Entry) bool { return l.believes(key) || l.attestation.Void != "" }

// signedWith notes whose enrolled key signed a decision.
func (l *Ledger) signedWith(d *approval.Decision, key sign.Entry) {
	d.KeyOwner, d.KeyFrom, d.KeyDoubt, d.Logins = key.Person, key.From, key.Doubt, slices.Concat(key.Logins, l.book.Ring.Logins(key.Person))
	if key.Revoked != nil {
		d.KeyRevoked = *key.Revoked
	}
	if l.policy.Approvals.Enrollment == policy.EnrollmentRoster {
		d.KeyFrom, d.KeyUnlisted = l.onRoster(d.Fingerprint, key.Person)
	}
}

// onRoster says since when a key has been on the roster, or why it is not.
func (l *Ledger) onRoster(fingerprint, person string) (since time.Time, reason string) {
	_, until, there := l.book.Roster()
	since, listed := l.book.Listed(fingerprint, person)
	switch {
	case !there || !listed:
		return since, approval.NotOnRoster
	case !until.IsZero() && !l.now.Before(until):
		return since, approval.RosterExpired
	}
	return since, ""
}

// timely says that a record was signed when it was written: else an epoch could
// attest what was written long before it.
func timely(signed string, created time.Time) bool {
	at, err := state.ParseTime(signed)
	return err == nil && at.Sub(created).Abs() <= sign.MaxClockDifference
}

// heldThen says that a key was its owner's when a record was written. A later
// revocation does not undo what the key had signed by then.
func heldThen(key sign.Entry, at time.Time) bool {
	return !at.Before(key.From) && (key.Revoked == nil || at.Before(*key.Revoked))
}

// isAdmin says whether a policy lets this person change it. A policy that names
// no admins leaves that to admission, which asks for the verb administer.
func isAdmin(p *policy.Policy, person state.Person) bool {
	return p.Admins.Empty() || p.Admins.Includes(person)
}

func broken(t state.Type, name, why string) error {
	reason := ReasonPolicyUnreadable
	switch t {
	case state.TypeEpoch:
		reason = ReasonEpochUnreadable
	case state.TypeRoster:
		reason = ReasonRosterUnreadable
	}
	return &Fault{Reason: reason, Message: fmt.Sprintf("%s record %s: %s", t, name, why)}
}

func subset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}
