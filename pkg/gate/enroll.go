package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

func fingerprintOf(key ssh.PublicKey) string { return ssh.FingerprintSHA256(key) }

// Enrolled says whether a key is enrolled for the caller, beyond doubt and not
// revoked.
func (g *Gate) Enrolled(l *Ledger, fingerprint string) bool {
	owner, _ := l.book.Ring.Lookup(fingerprint)
	return l.book.Ring.Holds(g.Caller.Username, fingerprint) && l.settled(owner)
}

// FirstKey says why a key would not count as the caller's on their own word, and
// that of the API server; "": it would.
func (g *Gate) FirstKey(l *Ledger, fingerprint string) string {
	return l.book.First(g.Caller.Username, fingerprint, l.now)
}

// Enroll makes a key the caller's own, or adds forge logins to one that is. A
// first key vouches for itself; a further one counts once it is signed for: by
// voucher, an enrolled key of the caller's, or later by Countersign.
func (g *Gate) Enroll(ctx context.Context, l *Ledger, key, voucher sign.Signer, logins []string) (state.Record, error) {
	fingerprint := fingerprintOf(key.PublicKey())
	owner, known := l.book.Ring.Lookup(fingerprint)
	added := slices.ContainsFunc(logins, func(login string) bool { return !slices.Contains(owner.Logins, login) })
	switch {
	case known && owner.Person != g.Caller.Username:
		return state.Record{}, &Fault{Reason: sign.ReasonKeyOfAnother, Message: fmt.Sprintf("key %s is enrolled already, for %s", fingerprint, owner.Person)}
	case known && owner.Revoked != nil:
		return state.Record{}, &Fault{Reason: sign.ReasonKeyRevoked, Message: fmt.Sprintf("key %s was revoked, and never returns", fingerprint)}
	case known && l.settled(owner) && !added:
		return state.Record{}, notEligible("key %s is enrolled already, for %s", fingerprint, owner.Person)
	case voucher == nil:
		voucher = key
	case !g.Enrolled(l, fingerprintOf(voucher.PublicKey())):
		return state.Record{}, notEligible("key %s cannot vouch: it is not enrolled for %s", fingerprintOf(voucher.PublicKey()), g.Caller.Username)
	}
	proof, err := sign.ProvePossession(key, g.ClusterUID, g.Caller.Username)
	if err != nil {
		return state.Record{}, err
	}
	return g.putKey(ctx, state.Key{Action: state.KeyEnroll, Logins: logins, Person: state.Person{Username: g.Caller.Username},
		Possession: proof, PublicKey: sign.AuthorizedKey(key.PublicKey())}, nil, voucher)
}

// Countersign signs for a key by its fingerprint, with an enrolled key: for one
// that its owner wants enrolled, or for a first key that nothing but the API
// server vouches for. For another person only an admin can.
func (g *Gate) Countersign(ctx context.Context, l *Ledger, fingerprint string, signer sign.Signer) (state.Record, error) {
	key, err := g.toSign(ctx, l, fingerprint)
	if err != nil {
		return state.Record{}, err
	}
	groups, err := g.over(l, key.Person.Username, signer)
	if err != nil {
		return state.Record{}, err
	}
	return g.putKey(ctx, key, groups, signer)
}

// toSign is the enrolment that is to be signed for, as its owner wrote it.
func (g *Gate) toSign(ctx context.Context, l *Ledger, fingerprint string) (key state.Key, err error) {
	for _, asked := range l.book.Asked() {
		if asked.Fingerprint == fingerprint {
			return asked.Key, nil
		}
	}
	entry, known := l.book.Ring.Lookup(fingerprint)
	if !known || entry.Signer != fingerprint || entry.Revoked != nil {
		return key, &Fault{Reason: ReasonNotFound, Message: fmt.Sprintf("no key %s waits to be signed for", fingerprint)}
	}
	record, err := g.Store.Get(ctx, state.TypeKey, entry.Record)
	if err != nil {
		return key, err
	}
	_, err = sign.Open(state.TypeKey, record.Data[state.DataEnvelope], &key)
	return key, err
}

// RevokeKey ends a key at once, and with it every approval that was made with
// it and has not been used up: one's own, or, with a reason, as an admin any.
func (g *Gate) RevokeKey(ctx context.Context, l *Ledger, fingerprint, reason string, signer sign.Signer) (state.Record, error) {
	entry, known := l.book.Ring.Lookup(fingerprint)
	switch {
	case !known:
		return state.Record{}, &Fault{Reason: ReasonNotFound, Message: fmt.Sprintf("no key %s is enrolled", fingerprint)}
	case entry.Revoked != nil:
		return state.Record{}, notEligible("key %s was revoked already, at %s", fingerprint, stamp(*entry.Revoked))
	case entry.Person != g.Caller.Username && reason == "":
		return state.Record{}, &Fault{Reason: approval.ReasonMissing, Message: fmt.Sprintf("key %s is %s's: a reason is required", fingerprint, entry.Person)}
	}
	groups, err := g.over(l, entry.Person, signer)
	if err != nil {
		return state.Record{}, err
	}
	return g.putKey(ctx, state.Key{Action: state.KeyRevoke, Person: state.Person{Username: entry.Person},
		PublicKey: sign.AuthorizedKey(entry.Key), Reason: reason}, groups, signer)
}

// over says in which groups the caller may say something about a person's keys,
// with a key of their own.
func (g *Gate) over(l *Ledger, person string, signer sign.Signer) (groups []string, err error) {
	fingerprint := fingerprintOf(signer.PublicKey())
	switch {
	case !l.book.Ring.Holds(g.Caller.Username, fingerprint):
		return nil, notEligible("key %s is not enrolled for %s", fingerprint, g.Caller.Username)
	case person == g.Caller.Username:
		return nil, nil
	case !isAdmin(l.policy, g.Caller):
		return nil, notEligible("%s is no admin of policy version %d, and this is a key of %s", g.Caller.Username, len(l.policies), person)
	}
	return l.relevant(g.Caller.Groups, nil), nil
}

// enrollFirst enrolls a key as the caller's first, where it is to be.
func (g *Gate) enrollFirst(ctx context.Context, l *Ledger, key sign.Signer, first bool) error {
	if !first {
		return nil
	}
	if why := g.FirstKey(l, fingerprintOf(key.PublicKey())); why != "" {
		return &Fault{Reason: sign.ReasonNotCountersigned, Message: why}
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

func (g *Gate) putKey(ctx context.Context, key state.Key, groups []string, signer sign.Signer) (state.Record, error) {
	now, err := g.Store.Now(ctx)
	if err != nil {
		return state.Record{}, fmt.Errorf("read the server's clock: %w", err)
	}
	key.ClusterUID, key.Time = g.ClusterUID, stamp(now)
	record, err := g.create(ctx, draft{t: state.TypeKey, predicate: key, groups: groups, signer: signer})
	if _, taken := lostRace(err); taken && sign.AuthorizedKey(signer.PublicKey()) != key.PublicKey {
		// Its name is its content, which another key has signed in this second.
		key.Time = stamp(now.Add(time.Second))
		return g.create(ctx, draft{t: state.TypeKey, predicate: key, groups: groups, signer: signer})
	}
	return record, err
}
