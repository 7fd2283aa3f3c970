package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

// SetPolicy stores a new version of the policy, signed by the caller's own
// key, and returns its number. The text is checked whole first. first is as in
// DecideInput.
func (g *Gate) SetPolicy(ctx context.Context, l *Ledger, source string, signer sign.Signer, first bool) (int, error) {
	next, err := policy.Parse([]byte(source))
	if err != nil {
		return 0, err
	}
	if next.ClusterName != l.policy.ClusterName {
		return 0, notEligible("the cluster is named %q; renaming it to %q would void every approval", l.policy.ClusterName, next.ClusterName)
	}
	if _, listed := l.Roster(); next.Approvals.Enrollment == policy.EnrollmentRoster && listed == 0 {
		return 0, notEligible("enrollment: roster, and there is none yet, so nobody could approve: set one first")
	}
	number := len(l.policies) + 1
	v, err := g.beginVersion(ctx, l, state.TypePolicy, number, signer, first)
	if err != nil {
		return 0, err
	}
	return number, g.putVersion(ctx, l, v, state.Policy{Actor: v.actor, ClusterUID: g.ClusterUID,
		Previous: l.policies[number-2].Digest, Source: source, Time: v.time, Version: number})
}

// SetRoster stores a new version of the roster, signed by the caller's own key,
// and returns its number. first is as in DecideInput.
func (g *Gate) SetRoster(ctx context.Context, l *Ledger, next trust.Roster, signer sign.Signer, first bool) (int, error) {
	for _, k := range next.Keys {
		key, err := sign.ParseKey(k.PublicKey)
		if err != nil {
			return 0, fmt.Errorf("key of %s: %w", k.Person, err)
		}
		if owner, known := l.book.Ring.Lookup(fingerprintOf(key)); known && (owner.Person != k.Person || owner.Revoked != nil) {
			return 0, notEligible("key %s of %s cannot be listed: it is %s's, or was revoked", owner.Fingerprint, k.Person, owner.Person)
		}
	}
	number, previous := len(l.book.Rosters)+1, ""
	if number > 1 {
		previous = l.book.Rosters[number-2].Digest
	}
	v, err := g.beginVersion(ctx, l, state.TypeRoster, number, signer, first)
	if err != nil {
		return 0, err
	}
	return number, g.putVersion(ctx, l, v, state.Roster{Actor: v.actor, ClusterUID: g.ClusterUID, Expires: next.Expires,
		Keys: next.Keys, Previous: previous, Time: v.time, Version: number})
}

// Roster is the newest roster and its version; 0: there is none.
func (l *Ledger) Roster() (state.Roster, int) {
	roster, _, _ := l.book.Roster()
	return roster, len(l.book.Rosters)
}

// next is the next version of a chain, about to be written.
type next struct {
	t      state.Type
	number int
	actor  state.Person
	time   string
	signer sign.Signer
}

// beginVersion checks that the caller may set the next version of a chain.
func (g *Gate) beginVersion(ctx context.Context, l *Ledger, t state.Type, number int, signer sign.Signer, first bool) (next, error) {
	name := state.NumberedName(t, number)
	fingerprint := fingerprintOf(signer.PublicKey())
	if i := slices.IndexFunc(l.book.Rejected, func(r trust.Rejected) bool { return r.Type == t && r.Name == name }); i >= 0 {
		return next{}, &Fault{Reason: l.book.Rejected[i].Reason, Message: fmt.Sprintf(
			"version %d cannot be set: %s counts for nothing (%s), and takes its name; delete that ConfigMap first", number, name, l.book.Rejected[i].Detail)}
	}
	if !isAdmin(l.policy, g.Caller) {
		return next{}, notEligible("%s is no admin of policy version %d", g.Caller.Username, len(l.policies))
	}
	if !first && !l.book.Ring.Holds(g.Caller.Username, fingerprint) {
		return next{}, notEligible("key %s is not enrolled for %s", fingerprint, g.Caller.Username)
	}
	if err := g.enrollFirst(ctx, l, signer, first); err != nil {
		return next{}, err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return next{}, fmt.Errorf("read the server's clock: %w", err)
	}
	actor := state.Person{Username: g.Caller.Username, Groups: l.relevant(g.Caller.Groups, nil)}
	return next{t: t, number: number, actor: actor, time: stamp(now), signer: signer}, nil
}

func (g *Gate) putVersion(ctx context.Context, l *Ledger, v next, predicate any) error {
	_, err := g.create(ctx, draft{t: v.t, name: state.NumberedName(v.t, v.number), predicate: predicate, groups: v.actor.Groups, signer: v.signer})
	if _, lost := lostRace(err); lost {
		return &Fault{Reason: ReasonContended, Message: fmt.Sprintf("someone else set %s version %d at the same moment; look at it and set yours again", v.t, v.number)}
	}
	return err
}

// Asked are the further keys that people want enrolled, and that nobody has
// signed for yet.
func (l *Ledger) Asked() []sign.Asked { return l.book.Asked() }
