package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// proof looks up the decisions that an entry counted. What it returns beside
// them says why the entry's "allowed" is not proven by them. What policy alone
// allowed or denied rests on the gate's signature, and has no proof here.
func (f Facts) proof(e Entry, p Plan) (counted []Decision, doubts []Finding) {
	doubt := func(reason, format string, args ...any) {
		doubts = append(doubts, Finding{Reason: reason, Record: e.Name, Message: fmt.Sprintf(format, args...)})
	}
	for _, digest := range e.Decisions {
		d, found := f.decision(digest)
		if !found {
			doubt(ApprovalMissing, "it counted the decision %s, which is not there", digest)
			continue
		}
		if why := f.unproven(e, d); why != "" {
			doubt(ApprovalInvalid, "it counted %s of %s: %s", d.Name, d.Person.Username, why)
			continue
		}
		counted = append(counted, d)
	}
	if e.Verdict != state.VerdictAllowed || e.Auto {
		return counted, doubts
	}
	approvals := approvals(counted)
	for _, d := range approvals {
		if own := f.own(e, d, p); own != "" && !d.Emergency {
			doubt(OwnApproval, "%s, who approved it by %s, is %s", d.Person.Username, d.Name, own)
		}
	}
	if short := short(e.Requirements, approvals); short != "" {
		doubt(ApprovalShort, "%s", short)
	}
	return counted, doubts
}

// unproven says why an entry must not have counted a decision; "" if it may.
func (f Facts) unproven(e Entry, d Decision) string {
	rules, known := f.rules(e)
	switch {
	case d.Void != "" && !(known && rules.Identity == policy.IdentityAttested && d.Person.Username != ""):
		return d.Void + ": " + d.Detail
	case d.Hash != e.PlanHash || d.Number != e.Request:
		return fmt.Sprintf("it is about request #%d and plan %s", d.Number, state.PlanID(d.Hash))
	case d.Created.Sub(e.Created) > maxSkew:
		return "it was written later"
	case known && d.Action == state.ActionApprove && e.Created.Sub(d.Created) > rules.ExpireAfter+maxSkew:
		return fmt.Sprintf("it was older than %s by then", rules.ExpireAfter)
	case known && d.Emergency && !f.Policies[e.PolicyVersion-1].Emergency.Includes(d.Person):
		return d.Person.Username + " may not approve in an emergency"
	case known && rules.Enrollment == policy.EnrollmentRoster && rules.Identity != policy.IdentityAttested && !f.listed(e, d):
		return fmt.Sprintf("its key %s was not on the roster of that time, as one of %s", d.SignedBy, d.Person.Username)
	}
	return ""
}

// listed says that the key of a decision was on the roster in force when an
// entry counted it, and had been since the decision was made.
func (f Facts) listed(e Entry, d Decision) bool {
	for i, r := range f.Rosters {
		early, late := e.Created.Add(-maxSkew), e.Created.Add(maxSkew)
		replaced := i+1 < len(f.Rosters) && f.Rosters[i+1].From.Before(early)
		expired := !r.Until.IsZero() && !early.Before(r.Until)
		if r.From.After(late) || replaced || expired || r.People[d.SignedBy] != d.Person.Username {
			continue
		}
		since := r.From
		for n := i - 1; n >= 0 && f.Rosters[n].People[d.SignedBy] == d.Person.Username; n-- {
			since = f.Rosters[n].From
		}
		if !since.After(d.Created) {
			return true
		}
	}
	return false
}

// rules of the policy version that an entry was judged by.
func (f Facts) rules(e Entry) (policy.Approvals, bool) {
	if e.PolicyVersion < 1 || e.PolicyVersion > len(f.Policies) {
		return policy.Approvals{}, false
	}
	return f.Policies[e.PolicyVersion-1].Approvals, true
}

// own says in what way a change was the approver's own, where policy minds.
func (f Facts) own(e Entry, d Decision, p Plan) string {
	rules, known := f.rules(e)
	switch name := d.Person.Username; {
	case known && !rules.NotProposer:
		return ""
	case name == p.Header.Proposer.Username:
		return "its proposer"
	case p.Header.Author != nil && name == p.Header.Author.Name:
		return "its author"
	}
	return ""
}

func approvals(decisions []Decision) []Decision {
	return slices.DeleteFunc(slices.Clone(decisions), func(d Decision) bool { return d.Action != state.ActionApprove })
}

// short says which requirement the approvals do not meet; "" if they meet all,
// or one is an emergency's. Groups are as they were claimed then.
func short(requirements []state.Requirement, approvals []Decision) string {
	emergency := slices.ContainsFunc(approvals, func(d Decision) bool { return d.Emergency })
	switch {
	case emergency:
		return ""
	case len(approvals) == 0:
		return "allowed by people, and none of their approvals holds"
	}
	for _, r := range requirements {
		people := map[string]bool{}
		for _, d := range approvals {
			member := slices.ContainsFunc(d.Person.Groups, func(g string) bool { return slices.Contains(r.Groups, g) })
			if !d.Emergency && (member || slices.Contains(r.Users, d.Person.Username)) {
				people[d.Person.Username] = true
			}
		}
		if len(people) < r.Count {
			return fmt.Sprintf("rule %s asked for %d, and the approvals of %d hold", r.Rule, r.Count, len(people))
		}
	}
	return ""
}

// at is a time in a record; zero where it is none.
func at(stamp string) time.Time {
	t, err := state.ParseTime(stamp)
	if err != nil {
		return time.Time{}
	}
	return t
}
