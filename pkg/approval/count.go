package approval

import (
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/state"
)

// Count judges every decision, and says what they amount to. Each that does
// not count carries its reason. Without a requirement nothing is approved:
// what needs no approval is for the policy's verdict to say.
func Count(f Facts, decisions []Decision) Result {
	result := tally(f, decisions)
	if !result.Approved && !result.Rejected {
		// Would the same decisions have been enough, had time stood still?
		f.timeless = true
		result.Expired = tally(f, decisions).Approved
	}
	return result
}

func tally(f Facts, decisions []Decision) Result {
	result := Result{Checked: make([]Checked, len(decisions)), Met: make([]int, len(f.Requirements))}
	for i, d := range decisions {
		c := &result.Checked[i]
		c.Decision = d
		c.settle(check(f, c))
	}
	revoke(result.Checked)
	for _, c := range result.Checked {
		result.Rejected = result.Rejected || c.Counts && c.Predicate.Action == state.ActionReject
	}
	quorum(f, &result)
	return result
}

func (c *Checked) settle(v verdict) {
	c.Counts, c.Reason = v.reason == "", v.reason
	if v.detail != "" {
		c.Detail = v.detail
	}
}

// revoke takes back the approvals that their own writers revoked.
func revoke(all []Checked) {
	for i := range all {
		c := &all[i]
		if !c.Counts || c.Predicate.Action != state.ActionRevoke {
			continue
		}
		at := slices.IndexFunc(all, func(other Checked) bool {
			return other.Record.Name == c.Predicate.Revokes && other.Predicate.Action == state.ActionApprove
		})
		if at < 0 {
			c.settle(no(RevokesNothing, "there is no approval %q", c.Predicate.Revokes))
			continue
		}
		if target := all[at]; target.Predicate.Person.Username != c.Predicate.Person.Username {
			c.settle(no(RevokesAnother, "%s is %s's", c.Predicate.Revokes, target.Predicate.Person.Username))
			continue
		}
		takeBack(all, c, all[at])
	}
}

// takeBack voids the approval that is named, copies of it, and those that the
// person gave before: none of them may stand up once the named one is gone.
func takeBack(all []Checked, by *Checked, target Checked) {
	for i := range all {
		c := &all[i]
		if !c.Counts || c.Predicate.Action != state.ActionApprove || c.Predicate.Person.Username != by.Predicate.Person.Username {
			continue
		}
		copied := c.Digest == target.Digest && c.Digest != ""
		created := c.Record.Created
		if copied || !created.After(target.Record.Created) || created.Before(by.Record.Created) {
			c.settle(no(Revoked, "taken back at %s", stamp(by.Record.Created)))
		}
	}
}

// quorum counts people: an approval counts where its writer is not yet counted
// for all that it could meet.
func quorum(f Facts, result *Result) {
	people := make([][]*Checked, len(f.Requirements)) // counted for each requirement
	var emergency *Checked
	for _, c := range latestLast(result.Checked) {
		if c.Predicate.Emergency {
			if emergency != nil && samePerson(emergency, c) {
				c.settle(no(AlreadyCounted, "%s counts already", c.Predicate.Person.Username))
			} else if emergency == nil {
				emergency = c
			}
			continue
		}
		if !seat(f, c, people) {
			c.settle(no(AlreadyCounted, "%s counts already", c.Predicate.Person.Username))
		}
	}
	met := len(f.Requirements) > 0
	for i, need := range f.Requirements {
		result.Met[i] = len(people[i])
		met = met && need.Count > 0 && len(people[i]) >= need.Count
	}
	switch {
	case len(f.Requirements) == 0 || result.Rejected:
	case met:
		result.Approved, result.Expires = true, until(f, people)
	case emergency != nil:
		result.Approved, result.Emergency, result.Expires = true, true, emergency.Expires
	}
}

// latestLast are the approvals that hold so far: what lasts longest comes
// first, so that of two by one person the one counts which lasts.
func latestLast(all []Checked) []*Checked {
	var out []*Checked
	for i := range all {
		if all[i].Counts && all[i].Predicate.Action == state.ActionApprove {
			out = append(out, &all[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *Checked) int {
		if order := b.Expires.Compare(a.Expires); order != 0 {
			return order
		}
		return strings.Compare(a.Record.Name, b.Record.Name)
	})
	return out
}

// seat counts a person for each requirement that asks for them, once.
func seat(f Facts, c *Checked, people [][]*Checked) bool {
	seated := false
	for _, i := range meets(f, person(c)) {
		if slices.ContainsFunc(people[i], func(other *Checked) bool { return samePerson(other, c) }) {
			continue
		}
		people[i] = append(people[i], c)
		seated = true
	}
	return seated
}

// samePerson: one account, or two that share a forge login.
func samePerson(a, b *Checked) bool {
	return a.Predicate.Person.Username == b.Predicate.Person.Username ||
		slices.ContainsFunc(a.Logins, func(login string) bool { return isOneOf(login, "", b.Logins) })
}

// until is when the first requirement falls below its count.
func until(f Facts, people [][]*Checked) time.Time {
	var end time.Time
	for i, need := range f.Requirements {
		// Sorted by expiry already: the last one that is needed decides.
		last := people[i][need.Count-1].Expires
		if end.IsZero() || last.Before(end) {
			end = last
		}
	}
	return end
}
