package audit

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

func TestAnApprovalIsHeldAgainstTheRosterOfItsTime(t *testing.T) {
	at := func(hour int) time.Time { return time.Unix(0, 0).Add(time.Duration(hour) * time.Hour) }
	with := func(hour, until int, people ...string) Roster {
		r := Roster{From: at(hour), People: map[string]string{}}
		if until > 0 {
			r.Until = at(until)
		}
		for _, name := range people {
			r.People["key of "+name] = name
		}
		return r
	}
	for name, k := range map[string]struct {
		rosters          []Roster
		decided, counted int
		holds            bool
	}{
		"on the roster":                    {[]Roster{with(1, 0, "alice")}, 2, 3, true},
		"on it then, and off it since":     {[]Roster{with(1, 0, "alice"), with(9, 0, "bob")}, 2, 3, true},
		"on it as long as it was in force": {[]Roster{with(1, 5, "alice")}, 2, 3, true},
		"on two versions in a row":         {[]Roster{with(1, 0, "alice"), with(3, 0, "alice")}, 2, 4, true},
		"no roster":                        {nil, 2, 3, false},
		"never on it":                      {[]Roster{with(1, 0, "bob")}, 2, 3, false},
		"taken off before it was counted":  {[]Roster{with(1, 0, "alice"), with(3, 0, "bob")}, 2, 4, false},
		"put on it after it was counted":   {[]Roster{with(1, 0, "bob"), with(9, 0, "alice")}, 2, 3, false},
		"put on it after the decision":     {[]Roster{with(3, 0, "alice")}, 2, 4, false},
		"off it in between":                {[]Roster{with(1, 0, "alice"), with(3, 0, "bob"), with(4, 0, "alice")}, 2, 5, false},
		"expired before it was counted":    {[]Roster{with(1, 3, "alice")}, 2, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := Facts{Rosters: k.rosters, Policies: []*policy.Policy{{Approvals: policy.Approvals{
				Enrollment: policy.EnrollmentRoster, Identity: policy.IdentityBoth, ExpireAfter: 72 * time.Hour}}}}
			d := Decision{Decision: state.Decision{Action: state.ActionApprove, Person: state.Person{Username: "alice"}}, SignedBy: "key of alice", Created: at(k.decided)}
			e := Entry{Audit: state.Audit{PolicyVersion: 1}, Created: at(k.counted)}
			why := f.unproven(e, d)
			assert.Equal(t, why == "", k.holds, why)
			assert.Assert(t, k.holds || strings.Contains(why, "not on the roster of that time"), why)
			f.Policies[0].Approvals.Enrollment = policy.EnrollmentAttested
			assert.Equal(t, f.unproven(e, d), "")
		})
	}
}
