package approval_test

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

const cluster = "7b1c1f0e-uid"

func hash(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

func noon() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) }

// ask is one requirement on a group.
func ask(group string, count int) policy.Requirement {
	return policy.Requirement{Rule: group, Who: policy.Subjects{Groups: []string{group}}, Count: count}
}

// facts are those of request #3 of plan aaaa…, proposed by ci, written by bob
// an hour ago; one of group sre is asked.
func facts() approval.Facts {
	return approval.Facts{Now: noon(), ClusterUID: cluster, Hash: hash("a"), Number: 3, Created: noon().Add(-time.Hour),
		Proposer: state.Person{Username: "ci"}, Author: state.Person{Username: "bob-gh"},
		Requirements: []policy.Requirement{ask("sre", 1)},
		Rules: policy.Approvals{ExpireAfter: 72 * time.Hour, NotProposer: true, UnknownAuthor: policy.AuthorShow,
			Identity: policy.IdentityBoth, Enrollment: policy.EnrollmentAttested},
		Emergency: policy.Emergency{Subjects: policy.Subjects{Groups: []string{"oncall"}}},
		Attested:  func(time.Time) string { return "" }}
}

// by is a good approval of that request by a person of some groups, half an
// hour old.
func by(person string, groups ...string) approval.Decision {
	at := noon().Add(-30 * time.Minute)
	return approval.Decision{
		Record: state.Record{Type: state.TypeDecision, Name: "cw-decision-" + person, Created: at, Immutable: true,
			Claims: state.Claims{Actor: person, Groups: groups}},
		Predicate: state.Decision{Action: state.ActionApprove, ClusterUID: cluster, Number: 3,
			Person: state.Person{Username: person, Groups: groups}, Time: at.Format(time.RFC3339)},
		Name: state.ChangeID(cluster, hash("a"), 3), Hash: hash("a"), Digest: "sha256:" + person, Fingerprint: "SHA256:" + person,
		KeyOwner: person, KeyFrom: at.Add(-24 * time.Hour)}
}

// with edits a decision.
func with(d approval.Decision, edit func(*approval.Decision)) approval.Decision {
	edit(&d)
	return d
}

func reject(d approval.Decision) approval.Decision {
	return with(d, func(d *approval.Decision) {
		d.Predicate.Action = state.ActionReject
		d.Record.Name += "-reject"
		d.Digest += "-reject"
	})
}

func revoke(d approval.Decision, name string) approval.Decision {
	return with(d, func(d *approval.Decision) {
		d.Predicate.Action, d.Predicate.Revokes = state.ActionRevoke, name
		d.Record.Name += "-revoke"
		d.Digest += "-revoke"
	})
}

func emergency(d approval.Decision, reason string) approval.Decision {
	return with(d, func(d *approval.Decision) {
		d.Predicate.Emergency, d.Predicate.Reason = true, reason
		d.Record.Name += "-emergency"
	})
}

func TestOneGoodApprovalIsEnoughWhereOneIsAsked(t *testing.T) {
	result := approval.Count(facts(), []approval.Decision{by("alice", "sre")})
	assert.Assert(t, result.Approved && !result.Rejected && !result.Expired && !result.Emergency)
	assert.DeepEqual(t, result.Met, []int{1})
	c := result.Checked[0]
	assert.Assert(t, c.Counts && c.Signed && c.Attested)
	assert.Equal(t, c.Reason, "")
	assert.DeepEqual(t, result.Expires, c.Record.Created.Add(72*time.Hour))
	assert.DeepEqual(t, c.Expires, result.Expires)
}

func TestWhyADecisionDoesNotCount(t *testing.T) {
	alice := by("alice", "sre")
	at := alice.Record.Created
	for _, test := range []struct {
		sentence, reason string
		edit             func(*approval.Decision)
		facts            func(*approval.Facts)
	}{
		{"its bytes are not a record", approval.BadRecord, func(d *approval.Decision) { d.Void, d.Detail = approval.BadRecord, "strict JSON" }, nil},
		{"its signature does not verify", approval.BadSignature, func(d *approval.Decision) { d.Void = approval.BadSignature }, nil},
		{"it could have been edited", approval.NotImmutable, func(d *approval.Decision) { d.Record.Immutable = false }, nil},
		{"the server did not date it", approval.BadRecord, func(d *approval.Decision) { d.Record.Created = time.Time{} }, nil},
		{"its action is of a later version", approval.UnknownAction, func(d *approval.Decision) { d.Predicate.Action = "bless" }, nil},
		{"nobody enrolled the key", approval.KeyNotEnrolled, func(d *approval.Decision) { d.KeyOwner = "" }, nil},
		{"an impersonator used a key of their own", approval.KeyOfAnother, func(d *approval.Decision) { d.KeyOwner = "mallory" }, nil},
		{"the key was revoked, though later", approval.KeyRevoked, func(d *approval.Decision) { d.KeyRevoked = noon() }, nil},
		{"the key was enrolled after it was used", approval.KeyNotYetValid, func(d *approval.Decision) { d.KeyFrom = at.Add(time.Second) }, nil},
		{"it was copied from another plan", approval.WrongPlan, func(d *approval.Decision) { d.Hash = hash("b") }, nil},
		{"it agrees with another plan in its first 12 digits", approval.WrongPlan, func(d *approval.Decision) { d.Hash = "sha256:" + strings.Repeat("a", 63) + "b" }, nil},
		{"the plan has no hash", approval.WrongPlan, func(d *approval.Decision) { d.Hash = "" }, func(f *approval.Facts) { f.Hash = "" }},
		{"it was copied from an earlier request of the same plan", approval.WrongNumber, func(d *approval.Decision) { d.Predicate.Number = 2 }, nil},
		{"it was copied from another cluster", approval.WrongCluster, func(d *approval.Decision) { d.Predicate.ClusterUID = "other" }, nil},
		{"its subject is named after another request", approval.BadRecord, func(d *approval.Decision) { d.Name = "c_000000000000" }, nil},
		{"it is older than the request", approval.BeforePlan, nil, func(f *approval.Facts) { f.Created = at.Add(time.Second) }},
		{"mallory stored what alice signed", approval.ActorMismatch, func(d *approval.Decision) { d.Record.Claims.Actor = "mallory" }, nil},
		{"it names no person", approval.ActorMismatch, func(d *approval.Decision) {
			d.Record.Claims.Actor, d.Predicate.Person.Username, d.KeyOwner = "", "", ""
		}, func(f *approval.Facts) { f.Rules.Identity = policy.IdentityAttested }},
		{"a gate wrote it", approval.NotAPerson, func(d *approval.Decision) {
			const gate = "system:serviceaccount:changeward-gate:gate"
			d.Record.Claims.Actor, d.Predicate.Person.Username, d.KeyOwner = gate, gate, gate
		}, nil},
		{"it claims a group that the server did not attest", approval.GroupsNotAttested, func(d *approval.Decision) { d.Record.Claims.Groups = []string{"dev"} }, nil},
		{"it was dated six minutes back", approval.ClockSkew, func(d *approval.Decision) { d.Predicate.Time = at.Add(-6 * time.Minute).Format(time.RFC3339) }, nil},
		{"it was dated six minutes ahead", approval.ClockSkew, func(d *approval.Decision) { d.Predicate.Time = at.Add(6 * time.Minute).Format(time.RFC3339) }, nil},
		{"it comes from the future", approval.ClockSkew, nil, func(f *approval.Facts) { f.Now = at.Add(-6 * time.Minute) }},
		{"its time is no time", approval.BadRecord, func(d *approval.Decision) { d.Predicate.Time = "noon" }, nil},
		{"it is too old", approval.Expired, nil, func(f *approval.Facts) { f.Now = at.Add(72 * time.Hour) }},
		{"its own end has come", approval.Expired, func(d *approval.Decision) { d.Predicate.Expires = noon().Format(time.RFC3339) }, nil},
		{"its own end is no time", approval.BadRecord, func(d *approval.Decision) { d.Predicate.Expires = "tomorrow" }, nil},
		{"the fence did not stand when it was written", approval.NotAttested, nil, func(f *approval.Facts) {
			f.Attested = func(created time.Time) string {
				if created.Equal(at) {
					return "the binding was set to Audit"
				}
				return ""
			}
		}},
		{"there is no fence", approval.NotAttested, nil, func(f *approval.Facts) { f.Attested = nil }},
		{"the approver proposed it", approval.IsProposer, nil, func(f *approval.Facts) { f.Proposer.Username = "alice" }},
		{"the approver is its author", approval.IsAuthor, nil, func(f *approval.Facts) { f.Author.Username = "alice" }},
		{"nothing proves that the key is hers", approval.KeyInDoubt, func(d *approval.Decision) { d.KeyDoubt = "BeforeEpoch" }, nil},
		{"her key is not on the roster", approval.NotOnRoster, func(d *approval.Decision) { d.KeyUnlisted = approval.NotOnRoster }, nil},
		{"the roster has run out", approval.RosterExpired, func(d *approval.Decision) { d.KeyUnlisted = approval.RosterExpired }, nil},
		{"the approver is its author at that forge", approval.IsAuthor, func(d *approval.Decision) { d.Logins = []string{"github:Bob-GH"} }, nil},
		{"the approver is its author, whose forge is named", approval.IsAuthor, func(d *approval.Decision) { d.Logins = []string{"bob-gh"} },
			func(f *approval.Facts) { f.Author.Username = "github:bob-gh" }},
		{"the approver is its author under another name", approval.IsAuthor, func(d *approval.Decision) { d.Logins = []string{"Bob-GH"} }, nil},
		{"nobody says who the author is, and policy refuses that", approval.AuthorUnknown, nil, func(f *approval.Facts) {
			f.Author.Username, f.Rules.UnknownAuthor = "", policy.AuthorRefuse
		}},
		{"the approver is not asked", approval.NotInGroup, nil, func(f *approval.Facts) { f.Requirements = []policy.Requirement{ask("dba", 1)} }},
		{"policy demands a reason", approval.ReasonMissing, func(d *approval.Decision) { d.Predicate.Reason = " " }, func(f *approval.Facts) { f.Rules.RequireReason = true }},
		{"policy demands a ticket", approval.TicketMissing, nil, func(f *approval.Facts) { f.Rules.RequireTicket = true }},
		{"only those on call may approve in an emergency", approval.NotEmergencyMember, func(d *approval.Decision) { d.Predicate.Emergency, d.Predicate.Reason = true, "fire" }, nil},
		{"an emergency needs a reason", approval.ReasonMissing, func(d *approval.Decision) { *d = emergency(by("alice", "oncall"), "") }, nil},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			f, d := facts(), alice
			if test.edit != nil {
				d = with(d, test.edit)
			}
			if test.facts != nil {
				test.facts(&f)
			}
			result := approval.Count(f, []approval.Decision{d})
			assert.Equal(t, result.Checked[0].Reason, test.reason)
			assert.Assert(t, !result.Checked[0].Counts && !result.Approved)
			assert.DeepEqual(t, result.Met, []int{0})
			assert.Assert(t, test.reason == approval.BadSignature || result.Checked[0].Detail != "")
			assert.Equal(t, result.Expired, test.reason == approval.Expired)
			assert.Assert(t, result.Expires.IsZero())
		})
	}
}

func TestPeopleAreCountedNotKeysOrRecords(t *testing.T) {
	two := facts()
	two.Requirements = []policy.Requirement{ask("sre", 2)}
	alice := by("alice", "sre")
	for _, test := range []struct {
		sentence string
		second   approval.Decision
		approved bool
	}{
		{"two people", by("carol", "sre"), true},
		{"one person twice", with(alice, func(d *approval.Decision) { d.Record.Name, d.Digest = "cw-decision-again", "sha256:again" }), false},
		{"one person with two keys", with(alice, func(d *approval.Decision) { d.Record.Name, d.Fingerprint = "cw-decision-again", "SHA256:other" }), false},
		{"one record under two names", with(alice, func(d *approval.Decision) { d.Record.Name = "cw-decision-copy" }), false},
		{"one key for two accounts", with(by("carol", "sre"), func(d *approval.Decision) { d.KeyOwner = "alice" }), false},
		{"two accounts of one forge login", with(by("alice-admin", "sre"), func(d *approval.Decision) { d.Logins = []string{"ALICE"} }), false},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			first := with(alice, func(d *approval.Decision) { d.Logins = []string{"alice"} })
			result := approval.Count(two, []approval.Decision{first, test.second})
			assert.Equal(t, result.Approved, test.approved)
			counted := 0
			for _, c := range result.Checked {
				if c.Counts {
					counted++
				}
			}
			assert.Equal(t, counted == 2, test.approved)
		})
	}
}

func TestOfTwoApprovalsByOnePersonTheOneCountsThatLasts(t *testing.T) {
	short := with(by("alice", "sre"), func(d *approval.Decision) { d.Predicate.Expires = noon().Add(time.Hour).Format(time.RFC3339) })
	long := with(by("alice", "sre"), func(d *approval.Decision) { d.Record.Name = "cw-decision-long" })
	result := approval.Count(facts(), []approval.Decision{short, long})
	assert.Equal(t, result.Checked[0].Reason, approval.AlreadyCounted)
	assert.Assert(t, result.Checked[1].Counts)
	assert.DeepEqual(t, result.Expires, result.Checked[1].Expires)
}

func TestOnePersonMayMeetSeveralRequirementsButEachOnce(t *testing.T) {
	f := facts()
	f.Requirements = []policy.Requirement{ask("sre", 1), ask("dba", 1), ask("sre", 2)}
	result := approval.Count(f, []approval.Decision{by("alice", "sre", "dba")})
	assert.DeepEqual(t, result.Met, []int{1, 1, 1})
	assert.Assert(t, !result.Approved)
	result = approval.Count(f, []approval.Decision{by("alice", "sre", "dba"), by("carol", "sre")})
	assert.DeepEqual(t, result.Met, []int{2, 1, 2})
	assert.Assert(t, result.Approved)
}

func TestApprovalEndsWhenTheFirstRequirementFallsShort(t *testing.T) {
	f := facts()
	f.Requirements = []policy.Requirement{ask("sre", 2)}
	until := func(person string, hours int) approval.Decision {
		return with(by(person, "sre"), func(d *approval.Decision) {
			d.Predicate.Expires = noon().Add(time.Duration(hours) * time.Hour).Format(time.RFC3339)
		})
	}
	result := approval.Count(f, []approval.Decision{until("a", 1), until("b", 5), until("c", 3)})
	assert.DeepEqual(t, result.Expires, noon().Add(3*time.Hour))
}

func TestWithoutARequirementNothingIsApproved(t *testing.T) {
	f := facts()
	f.Requirements = nil
	result := approval.Count(f, []approval.Decision{by("alice", "sre"), emergency(by("carol", "oncall"), "fire")})
	assert.Assert(t, !result.Approved)
	f.Requirements = []policy.Requirement{{Rule: "odd", Count: 0}}
	assert.Assert(t, !approval.Count(f, nil).Approved)
}

func TestOnlyWhatExpiredIsCalledExpired(t *testing.T) {
	f := facts()
	f.Now = noon().Add(100 * time.Hour)
	result := approval.Count(f, []approval.Decision{by("alice", "sre")})
	assert.Assert(t, result.Expired && !result.Approved)
	result = approval.Count(f, []approval.Decision{by("alice", "dev")})
	assert.Assert(t, !result.Expired)
	result = approval.Count(f, []approval.Decision{by("alice", "sre"), reject(by("carol", "sre"))})
	assert.Assert(t, !result.Expired && result.Rejected)
}
