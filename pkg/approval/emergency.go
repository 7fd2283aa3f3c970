package approval

import (
	"slices"
	"strings"

	"github.com/changeward/changeward/state"
)

// ActionReview is the action of a review record that is read as a Decision: a
// person has looked at what was approved in an emergency. It is in no decision
// record.
const ActionReview = "review"

// Emergencies are the emergency approvals that somebody has to review: those
// that hold, or held until they expired, and those that a gate has let the
// change pass on (passed, by digest), whatever became of them since. None where
// enough people have approved the change as well.
func Emergencies(f Facts, decisions []Decision, passed []string) []Checked {
	f.timeless = true
	result := tally(f, decisions)
	if result.Approved && !result.Emergency {
		return nil
	}
	return slices.DeleteFunc(result.Checked, func(c Checked) bool {
		held := c.Counts || c.Reason == AlreadyCounted || slices.Contains(passed, c.Digest)
		return !held || !c.Predicate.Emergency || c.Predicate.Action != state.ActionApprove
	})
}

// Reviews says which reviews of a change count. Another person must have made
// them, after the emergency approvals: one who could have approved, with a
// reason.
func Reviews(f Facts, emergencies []Checked, reviews []Decision) []Checked {
	f.reviewing = true
	out := make([]Checked, len(reviews))
	for i, d := range reviews {
		c := &out[i]
		c.Decision = d
		v := check(f, c)
		if v.reason == "" {
			v = another(c, emergencies)
		}
		c.settle(v)
	}
	return out
}

func another(c *Checked, emergencies []Checked) verdict {
	for i := range emergencies {
		e := &emergencies[i]
		switch {
		case samePerson(c, e):
			return no(OwnEmergency, "%s approved it", c.Predicate.Person.Username)
		case c.Record.Created.Before(e.Record.Created):
			return no(BeforePlan, "written before the approval of %s", e.Predicate.Person.Username)
		case strings.TrimSpace(c.Predicate.Reason) == "":
			return no(ReasonMissing, "a reason is required")
		}
	}
	return verdict{}
}
