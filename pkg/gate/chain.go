package gate

import (
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// loadChains reads the versions of policy and epoch. Each version names the
// digest of the one before; a version that is missing, out of order, edited or
// signed by nobody that is known breaks the chain, and with it every verdict:
// an attacker must not be able to bring back an older policy by damaging a
// newer one.
func (l *Ledger) loadChains(all records) error {
	if err := l.loadEpochs(all); err != nil {
		return err
	}
	return l.loadPolicies(all)
}

func (l *Ledger) loadEpochs(all records) (err error) {
	l.epochs, err = chain(l, state.TypeEpoch, all[state.TypeEpoch], func(e state.Epoch) link {
		return link{e.Version, e.Previous, e.Actor, e.ClusterUID, e.Time}
	})
	return err
}

func (l *Ledger) loadPolicies(all records) (err error) {
	if l.policies, err = chain(l, state.TypePolicy, all[state.TypePolicy], func(p state.Policy) link {
		return link{p.Version, p.Previous, p.Actor, p.ClusterUID, p.Time}
	}); err != nil {
		return err
	}
	if len(l.policies) == 0 {
		return &Fault{Reason: ReasonNoPolicy, Message: "no policy is set"}
	}
	return l.parsePolicies()
}

// parsePolicies takes the newest policy into force, after checking that each
// version was signed by an admin that the version before names.
func (l *Ledger) parsePolicies() error {
	for i, v := range l.policies {
		p, err := policy.Parse([]byte(v.predicate.Source))
		if err != nil {
			return &Fault{Reason: ReasonPolicyUnreadable, Message: fmt.Sprintf("policy version %d: %v", i+1, err)}
		}
		if l.policy != nil && !isAdmin(l.policy, v.predicate.Actor) {
			return &Fault{Reason: ReasonPolicyUnreadable, Message: fmt.Sprintf(
				"policy version %d was set by %s, who is no admin in version %d", i+1, v.predicate.Actor.Username, i)}
		}
		l.policy = p
		l.parsed = append(l.parsed, p)
	}
	return nil
}

// Unvouched says why the policy in force may not be the admins', or "". An
// admin by group alone is one by the API server's word: where that is void,
// anyone who could write the record could have claimed the group. Who set an
// earlier version, or is named by it, is known by key. A version that is
// vouched for vouches for those before it.
func (l *Ledger) Unvouched() string {
	known := map[string]bool{}
	why := ""
	var good *policy.Policy // the newest vouched for so far
	for i, v := range l.policies {
		name := v.predicate.Actor.Username
		why = ""
		if good != nil && !known[name] && !slices.Contains(good.Admins.Users, name) {
			why = l.attested(v.record.Created)
		}
		if why == "" {
			known[name], good = true, l.parsed[i]
		}
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("policy version %d was set by %s, and no API server vouches that they are an admin (%s); an admin must look at it and set it again",
		len(l.policies), l.policies[len(l.policies)-1].predicate.Actor.Username, why)
}

// anchored refuses a chain of policies that was cut: the gate has judged by a
// version that is not there any more. Only its own key says so, since anyone
// who proposes may sign audit entries with their own.
func (l *Ledger) anchored() error {
	for _, e := range l.audit {
		if e.byGate && e.PolicyVersion > len(l.policies) {
			return broken(state.TypePolicy, state.NumberedName(state.TypePolicy, e.PolicyVersion),
				fmt.Sprintf("missing, though audit entry %s was judged by it", state.NumberedName(state.TypeAudit, e.Number)))
		}
	}
	return nil
}

type link struct {
	version    int
	previous   string
	actor      state.Person
	clusterUID string
	time       string
}

// chain reads the versions of one type; with an error, those that hold so far.
func chain[P any](l *Ledger, t state.Type, list []state.Record, read func(P) link) ([]version[P], error) {
	var versions []version[P]
	previous := ""
	for i, record := range list {
		v, err := readVersion(l, t, record, read)
		if err != nil {
			return versions, err
		}
		at := read(v.predicate)
		if at.version != i+1 || at.previous != previous || record.Name != state.NumberedName(t, i+1) {
			return versions, broken(t, record.Name, fmt.Sprintf("version %d does not follow version %d", at.version, i))
		}
		previous = v.digest
		versions = append(versions, v)
	}
	return versions, nil
}

func readVersion[P any](l *Ledger, t state.Type, record state.Record, read func(P) link) (version[P], error) {
	v := version[P]{record: record, digest: state.Digest(record.Data[state.DataEnvelope])}
	opened, err := sign.Open(t, record.Data[state.DataEnvelope], &v.predicate)
	if err != nil {
		return v, broken(t, record.Name, err.Error())
	}
	at := read(v.predicate)
	owner, known := l.ring.Lookup(opened.Fingerprint)
	switch {
	case !record.Immutable:
		return v, broken(t, record.Name, "the record is not immutable")
	case at.clusterUID != l.clusterUID:
		return v, broken(t, record.Name, "made for another cluster")
	case !timely(at.time, record.Created):
		return v, broken(t, record.Name, fmt.Sprintf("signed as of %q, written at %s", at.time, stamp(record.Created)))
	case record.Claims.Actor != at.actor.Username || !subset(at.actor.Groups, record.Claims.Groups):
		return v, broken(t, record.Name, "signed statement and attested writer differ")
	case !known || owner.Person != at.actor.Username || !heldThen(owner, record.Created):
		return v, broken(t, record.Name, fmt.Sprintf("signed with key %s, which is not enrolled for %s", opened.Fingerprint, at.actor.Username))
	}
	return v, nil
}

// loadRing reads the enrolled keys. Who is an admin is read from the newest
// policy before that is verified: were it forged, its own chain would not
// hold, and nothing would be decided at all.
func (l *Ledger) loadRing(all records) {
	trust := sign.Trust{ClusterUID: l.clusterUID}
	if list := all[state.TypePolicy]; len(list) > 0 {
		var newest state.Policy
		if _, err := sign.Open(state.TypePolicy, list[len(list)-1].Data[state.DataEnvelope], &newest); err == nil {
			if p, err := policy.Parse([]byte(newest.Source)); err == nil {
				trust.Admin = func(writer state.Claims) bool {
					return isAdmin(p, state.Person{Username: writer.Actor, Groups: writer.Groups})
				}
			}
		}
	}
	ring, rejected := sign.BuildRing(all[state.TypeKey], trust)
	l.ring = ring
	for _, r := range rejected {
		l.reject(state.TypeKey, r.Record, r.Err.Reason, r.Err.Error())
	}
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
	if t == state.TypeEpoch {
		reason = ReasonEpochUnreadable
	}
	return &Fault{Reason: reason, Message: fmt.Sprintf("%s record %s: %s", t, name, why)}
}

func subset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}
