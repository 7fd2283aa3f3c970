package gate

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

func fingerprintOf(key ssh.PublicKey) string { return ssh.FingerprintSHA256(key) }

// Enrolled says whether a key is enrolled for the caller and not revoked.
func (g *Gate) Enrolled(l *Ledger, fingerprint string) bool {
	owner, known := l.ring.Lookup(fingerprint)
	return known && owner.Person == g.Caller.Username && owner.Revoked == nil
}

// Enroll makes a key the caller's own. A first key vouches for itself; with
// voucher, an enrolled key of the caller's, a further one is vouched for.
func (g *Gate) Enroll(ctx context.Context, l *Ledger, key, voucher sign.Signer, logins []string) (state.Record, error) {
	fingerprint := fingerprintOf(key.PublicKey())
	if owner, known := l.ring.Lookup(fingerprint); known {
		return state.Record{}, notEligible("key %s is enrolled already, for %s", fingerprint, owner.Person)
	}
	if voucher == nil {
		voucher = key
		for _, e := range l.ring.Person(g.Caller.Username) {
			if e.Revoked == nil {
				return state.Record{}, notEligible("%s has an enrolled key already (%s): a further one must be signed by it", g.Caller.Username, e.Fingerprint)
			}
		}
	}
	return g.enroll(ctx, key, voucher, logins)
}

// enrollFirst enrolls a key as the caller's first, where it is to be.
func (g *Gate) enrollFirst(ctx context.Context, l *Ledger, key sign.Signer, first bool) error {
	if !first {
		return nil
	}
	_, err := g.Enroll(ctx, l, key, nil, nil)
	if errors.Is(err, state.ErrExists) { // another command of this person was faster
		return nil
	}
	if err != nil {
		return fmt.Errorf("enroll key %s: %w", fingerprintOf(key.PublicKey()), err)
	}
	return nil
}

func (g *Gate) enroll(ctx context.Context, key, voucher sign.Signer, logins []string) (state.Record, error) {
	proof, err := sign.ProvePossession(key, g.ClusterUID, g.Caller.Username)
	if err != nil {
		return state.Record{}, err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return state.Record{}, fmt.Errorf("read the server's clock: %w", err)
	}
	predicate := state.Key{Action: state.KeyEnroll, ClusterUID: g.ClusterUID, Logins: logins,
		Person: state.Person{Username: g.Caller.Username}, Possession: proof,
		PublicKey: sign.AuthorizedKey(key.PublicKey()), Time: stamp(now)}
	return g.create(ctx, draft{t: state.TypeKey, predicate: predicate, signer: voucher})
}

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
	if !isAdmin(l.policy, g.Caller) {
		return 0, notEligible("%s is no admin of policy version %d", g.Caller.Username, len(l.policies))
	}
	if !first && !g.Enrolled(l, fingerprintOf(signer.PublicKey())) {
		return 0, notEligible("key %s is not enrolled for %s", fingerprintOf(signer.PublicKey()), g.Caller.Username)
	}
	if err := g.enrollFirst(ctx, l, signer, first); err != nil {
		return 0, err
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the server's clock: %w", err)
	}
	number := len(l.policies) + 1
	actor := state.Person{Username: g.Caller.Username, Groups: l.relevant(g.Caller.Groups, nil)}
	predicate := state.Policy{Actor: actor, ClusterUID: g.ClusterUID, Previous: l.policies[number-2].digest,
		Source: source, Time: stamp(now), Version: number}
	_, err = g.create(ctx, draft{t: state.TypePolicy, name: state.NumberedName(state.TypePolicy, number),
		predicate: predicate, groups: actor.Groups, signer: signer})
	if _, lost := lostRace(err); lost {
		return 0, &Fault{Reason: ReasonContended, Message: fmt.Sprintf("someone else set policy version %d at the same moment; look at it and set yours again", number)}
	}
	return number, err
}
