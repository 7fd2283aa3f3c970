package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// maxSkew is how far the signed time may be from the server's.
const maxSkew = 5 * time.Minute

// approvers is where service accounts live that count as people.
const approvers = "system:serviceaccount:changeward-approvers:"

// verdict is why a decision does not count; the zero verdict is none.
type verdict struct{ reason, detail string }

func no(reason, format string, args ...any) verdict {
	return verdict{reason: reason, detail: fmt.Sprintf(format, args...)}
}

// check looks at one record on its own. The order is that of the trust model:
// first whether the record is what it says, then who wrote it, then whether
// that person may.
func check(f Facts, c *Checked) verdict {
	checks := []func(Facts, *Checked) verdict{
		readable, signed, bound, written, timely, attested, personal, sufficient,
	}
	for _, step := range checks {
		if v := step(f, c); v.reason != "" {
			return v
		}
	}
	return verdict{}
}

// readable: it was read and verified, and nobody could have edited it.
func readable(f Facts, c *Checked) verdict {
	switch {
	case c.Void != "":
		return no(c.Void, "%s", c.Detail)
	case !c.Record.Immutable:
		return no(NotImmutable, "the record is not immutable")
	case c.Record.Created.IsZero():
		return no(BadRecord, "the record has no server time")
	case f.reviewing:
		return verdict{}
	case !slices.Contains([]string{state.ActionApprove, state.ActionReject, state.ActionRevoke}, c.Predicate.Action):
		return no(UnknownAction, "unknown action %q", c.Predicate.Action)
	default:
		return verdict{}
	}
}

// signed: the key is the person's, at the record's server time and now. With
// identity: attested a key need not be enrolled, but must not be another's.
func signed(f Facts, c *Checked) verdict {
	var v verdict
	switch {
	case c.KeyOwner == "":
		v = no(KeyNotEnrolled, "nobody has enrolled the key %s", c.Fingerprint)
	case c.KeyOwner != c.Predicate.Person.Username:
		return no(KeyOfAnother, "the key %s is %s's", c.Fingerprint, c.KeyOwner)
	case !c.KeyRevoked.IsZero():
		return no(KeyRevoked, "the key %s was revoked", c.Fingerprint)
	case c.KeyFrom.After(c.Record.Created):
		v = no(KeyNotYetValid, "the key %s was enrolled later", c.Fingerprint)
	case c.KeyUnlisted != "":
		v = no(c.KeyUnlisted, "policy counts only keys of the roster, and %s is not on it now", c.Fingerprint)
	case c.KeyDoubt != "" && f.Rules.Identity != policy.IdentitySigned && f.unattested(c) == "":
		v = no(KeyInDoubt, "nobody vouches that the key %s is %s's (%s): it is to be enrolled again", c.Fingerprint, c.KeyOwner, c.KeyDoubt)
	default:
		c.Signed = true
	}
	if f.Rules.Identity == policy.IdentityAttested {
		return verdict{}
	}
	return v
}

// bound: it is about this plan, this request, this cluster.
func bound(f Facts, c *Checked) verdict {
	switch {
	case f.Hash == "" || c.Hash != f.Hash:
		return no(WrongPlan, "it is about plan %s", state.PlanID(c.Hash))
	case c.Predicate.Number != f.Number:
		return no(WrongNumber, "it is about request #%d", c.Predicate.Number)
	case f.ClusterUID == "" || c.Predicate.ClusterUID != f.ClusterUID:
		return no(WrongCluster, "it is about cluster %s", c.Predicate.ClusterUID)
	case c.Name != state.ChangeID(f.ClusterUID, f.Hash, f.Number):
		return no(BadRecord, "its subject is named %s", c.Name)
	default:
		return verdict{}
	}
}

// written: by the person who signed it, in groups that the record may claim.
func written(_ Facts, c *Checked) verdict {
	person, claims := c.Predicate.Person, c.Record.Claims
	if person.Username == "" || person.Username != claims.Actor {
		return no(ActorMismatch, "signed as %q, written by %q", person.Username, claims.Actor)
	}
	if !isPerson(person.Username) {
		return no(NotAPerson, "%s is not a person", person.Username)
	}
	for _, group := range person.Groups {
		if !slices.Contains(claims.Groups, group) {
			return no(GroupsNotAttested, "group %s is signed, but not attested", group)
		}
	}
	return verdict{}
}

// isPerson repeats what admission demands of who writes a decision.
func isPerson(username string) bool {
	return !strings.HasPrefix(username, "system:") || username == "system:admin" || strings.HasPrefix(username, approvers)
}

// timely: signed at about the time the server saw it, after the request, and
// not expired.
func timely(f Facts, c *Checked) verdict {
	at, err := time.Parse(time.RFC3339, c.Predicate.Time)
	if err != nil {
		return no(BadRecord, "its time %q is no RFC 3339 time", c.Predicate.Time)
	}
	created := c.Record.Created
	if skew := at.Sub(created).Abs(); skew > maxSkew {
		return no(ClockSkew, "signed at %s, written at %s", stamp(at), stamp(created))
	}
	if ahead := created.Sub(f.Now); ahead > maxSkew {
		return no(ClockSkew, "written at %s, which is yet to come", stamp(created))
	}
	if created.Before(f.Created) {
		return no(BeforePlan, "written at %s, before the request", stamp(created))
	}
	if c.Predicate.Action != state.ActionApprove {
		return verdict{}
	}
	return current(f, c)
}

// current: an approval that has not expired, by policy or by its own word.
func current(f Facts, c *Checked) verdict {
	c.Expires = c.Record.Created.Add(f.Rules.ExpireAfter)
	if c.Predicate.Expires != "" {
		own, err := time.Parse(time.RFC3339, c.Predicate.Expires)
		if err != nil {
			return no(BadRecord, "its expiry %q is no RFC 3339 time", c.Predicate.Expires)
		}
		if own.Before(c.Expires) {
			c.Expires = own
		}
	}
	if !f.timeless && !f.Now.Before(c.Expires) {
		return no(Expired, "expired at %s", stamp(c.Expires))
	}
	return verdict{}
}

// attested: the API server vouches for who wrote it.
func attested(f Facts, c *Checked) verdict {
	why := f.unattested(c)
	c.Attested = why == ""
	if c.Attested || f.Rules.Identity == policy.IdentitySigned {
		return verdict{}
	}
	return no(NotAttested, "%s", why)
}

func (f Facts) unattested(c *Checked) string {
	if f.Attested == nil {
		return "no API server attests these records"
	}
	return f.Attested(c.Record.Created)
}

// personal: whom the change must not be approved by. An emergency waives it; a
// veto and a withdrawal are open to everyone who may decide.
func personal(f Facts, c *Checked) verdict {
	if !f.reviewing && c.Predicate.Action != state.ActionApprove || c.Predicate.Emergency || !f.Rules.NotProposer {
		return verdict{}
	}
	username := c.Predicate.Person.Username
	switch {
	case username == f.Proposer.Username:
		return no(IsProposer, "%s proposed the change", username)
	case f.Author.Username == "" && f.Rules.UnknownAuthor == policy.AuthorRefuse:
		return no(AuthorUnknown, "the author of the change is unknown")
	case f.Author.Username != "" && isOneOf(f.Author.Username, username, c.Logins):
		return no(IsAuthor, "%s is the author of the change", username)
	default:
		return verdict{}
	}
}

// isOneOf compares without case, as forges do: two spellings of one login are
// one person.
func isOneOf(name, username string, logins []string) bool {
	return strings.EqualFold(name, username) ||
		slices.ContainsFunc(logins, func(login string) bool { return sameLogin(login, name) })
}

// sameLogin compares logins that may say at which forge they are (github:alice).
// One that does not stands for any forge.
func sameLogin(a, b string) bool {
	forgeA, nameA, atA := strings.Cut(a, ":")
	forgeB, nameB, atB := strings.Cut(b, ":")
	switch {
	case atA == atB:
		return strings.EqualFold(a, b)
	case atA:
		return forgeA != "" && strings.EqualFold(nameA, b)
	}
	return forgeB != "" && strings.EqualFold(a, nameB)
}

// sufficient: the person may decide here, and says what policy wants said.
func sufficient(f Facts, c *Checked) verdict {
	d := c.Predicate
	if d.Action == state.ActionRevoke {
		return verdict{}
	}
	who := person(c)
	if d.Action == state.ActionReject || f.reviewing {
		if len(meets(f, who)) == 0 && !f.Emergency.Includes(who) {
			return lacking(f, c)
		}
		return verdict{}
	}
	switch {
	case d.Emergency && !f.Emergency.Includes(who):
		return no(NotEmergencyMember, "%s may not approve in an emergency", who.Username)
	case !d.Emergency && len(meets(f, who)) == 0:
		return lacking(f, c)
	case (d.Emergency || f.Rules.RequireReason) && strings.TrimSpace(d.Reason) == "":
		return no(ReasonMissing, "a reason is required")
	case f.Rules.RequireTicket && strings.TrimSpace(d.Ticket) == "":
		return no(TicketMissing, "a ticket is required")
	default:
		return verdict{}
	}
}

// lacking tells who is not asked from who would be, if the groups were proved.
func lacking(f Facts, c *Checked) verdict {
	claimed := c.Predicate.Person
	if !c.Attested && (len(meets(f, claimed)) > 0 || f.Emergency.Includes(claimed)) {
		return no(GroupsNotAttested, "a signature says nothing about groups, and no API server attests them")
	}
	return no(NotInGroup, "%s is not asked", claimed.Username)
}

// person is who decided, with the groups that are proved: a signature proves
// none.
func person(c *Checked) state.Person {
	who := state.Person{Username: c.Predicate.Person.Username}
	if c.Attested {
		who.Groups = c.Predicate.Person.Groups
	}
	return who
}

// meets lists the requirements that ask for a person.
func meets(f Facts, who state.Person) []int {
	var out []int
	for i, need := range f.Requirements {
		if need.Who.Includes(who) {
			out = append(out, i)
		}
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
