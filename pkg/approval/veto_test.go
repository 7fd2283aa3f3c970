package approval_test

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

func TestARejectionVetoesEveryApprovalOfTheSameNumber(t *testing.T) {
	for _, test := range []struct {
		sentence string
		veto     approval.Decision
		reason   string
	}{
		{"in the very second of the approval", reject(by("carol", "sre")), ""},
		{"by the approver herself", reject(by("alice", "sre")), ""},
		{"by someone on call", reject(by("dave", "oncall")), ""},
		{"by the proposer, who may hold back his own change", reject(by("ci", "sre")), ""},
		{"not by someone who is not asked", reject(by("mallory", "dev")), approval.NotInGroup},
		{"not in another's name", with(reject(by("carol", "sre")), func(d *approval.Decision) { d.Record.Claims.Actor = "mallory" }), approval.ActorMismatch},
		{"not of another request", with(reject(by("carol", "sre")), func(d *approval.Decision) { d.Predicate.Number = 2 }), approval.WrongNumber},
		{"it does not expire", with(reject(by("carol", "sre")), func(d *approval.Decision) { d.Predicate.Expires = "2026-07-01T11:40:00Z" }), ""},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			for _, decisions := range [][]approval.Decision{{by("alice", "sre"), test.veto}, {test.veto, by("alice", "sre")}} {
				result := approval.Count(facts(), decisions)
				assert.Equal(t, result.Rejected, test.reason == "")
				assert.Equal(t, result.Approved, test.reason != "")
				for _, c := range result.Checked {
					if c.Predicate.Action == state.ActionReject {
						assert.Equal(t, c.Reason, test.reason)
					}
				}
			}
		})
	}
}

func TestAnApprovalIsTakenBackByItsOwnWriterOnly(t *testing.T) {
	alice := by("alice", "sre")
	for _, test := range []struct {
		sentence string
		revoke   approval.Decision
		approved bool
		reason   string
	}{
		{"she takes it back", revoke(alice, alice.Record.Name), false, ""},
		{"another person cannot", revoke(by("carol", "sre"), alice.Record.Name), true, approval.RevokesAnother},
		{"one in her name cannot", with(revoke(by("carol", "sre"), alice.Record.Name), func(d *approval.Decision) { d.Predicate.Person.Username = "alice" }), true, approval.KeyOfAnother},
		{"there must be one", revoke(alice, "cw-decision-none"), true, approval.RevokesNothing},
		{"a revocation of another plan is none", with(revoke(alice, alice.Record.Name), func(d *approval.Decision) { d.Hash = hash("b") }), true, approval.WrongPlan},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			result := approval.Count(facts(), []approval.Decision{test.revoke, alice})
			assert.Equal(t, result.Checked[0].Reason, test.reason)
			assert.Equal(t, result.Approved, test.approved)
			if !test.approved {
				assert.Equal(t, result.Checked[1].Reason, approval.Revoked)
			}
		})
	}
}

func TestACopyOfARevokedApprovalIsRevokedWithIt(t *testing.T) {
	alice := by("alice", "sre")
	stale := with(alice, func(d *approval.Decision) { d.Record.Name = "cw-decision-copy" })
	result := approval.Count(facts(), []approval.Decision{alice, revoke(alice, alice.Record.Name), stale})
	assert.Assert(t, !result.Approved)
	assert.Equal(t, result.Checked[2].Reason, approval.Revoked)
}

func TestARejectionCannotBeTakenBack(t *testing.T) {
	veto := reject(by("carol", "sre"))
	result := approval.Count(facts(), []approval.Decision{veto, revoke(by("carol", "sre"), veto.Record.Name), by("alice", "sre")})
	assert.Assert(t, result.Rejected && !result.Approved)
	assert.Equal(t, result.Checked[1].Reason, approval.RevokesNothing)
}

func TestARevocationTakesBackEarlierApprovalsOfThatPersonToo(t *testing.T) {
	alice := by("alice", "sre")
	earlier := with(alice, func(d *approval.Decision) {
		d.Record.Name, d.Digest, d.Record.Created = "cw-decision-first", "sha256:first", noon().Add(-31*time.Minute)
	})
	result := approval.Count(facts(), []approval.Decision{earlier, alice, revoke(alice, alice.Record.Name)})
	assert.Assert(t, !result.Approved)
	assert.Equal(t, result.Checked[0].Reason, approval.Revoked)
}

func TestWhoTookBackAnApprovalMayApproveAgain(t *testing.T) {
	alice := by("alice", "sre")
	later := func(d approval.Decision) approval.Decision {
		return with(d, func(d *approval.Decision) { d.Record.Created = d.Record.Created.Add(time.Second) })
	}
	again := later(with(alice, func(d *approval.Decision) { d.Record.Name, d.Digest = "cw-decision-again", "sha256:again" }))
	assert.Assert(t, approval.Count(facts(), []approval.Decision{alice, revoke(alice, alice.Record.Name), again}).Approved)
	// In the second of the revocation, too: server time tells no finer.
	assert.Assert(t, approval.Count(facts(), []approval.Decision{alice, later(revoke(alice, alice.Record.Name)), again}).Approved)
}

func TestAnEmergencyApprovalMeetsEveryRequirement(t *testing.T) {
	f := facts()
	f.Requirements = []policy.Requirement{ask("sre", 2), ask("platform", 1)}
	fire := emergency(by("dave", "oncall"), "the shop is down")
	result := approval.Count(f, []approval.Decision{fire})
	assert.Assert(t, result.Approved && result.Emergency)
	assert.DeepEqual(t, result.Met, []int{0, 0})
	assert.DeepEqual(t, result.Expires, fire.Record.Created.Add(72*time.Hour))

	for _, own := range []func(*approval.Facts){
		func(f *approval.Facts) { f.Proposer.Username = "dave" },
		func(f *approval.Facts) { f.Author.Username = "dave" },
		func(f *approval.Facts) { f.Author.Username, f.Rules.UnknownAuthor = "", policy.AuthorRefuse },
	} {
		f := f
		own(&f)
		assert.Assert(t, approval.Count(f, []approval.Decision{fire}).Emergency)
	}
}

func TestAnEmergencyOverrulesNoRejection(t *testing.T) {
	result := approval.Count(facts(), []approval.Decision{emergency(by("dave", "oncall"), "fire"), reject(by("carol", "sre"))})
	assert.Assert(t, result.Rejected && !result.Approved)
}

func TestNobodyMayBreakTheGlassWherePolicyNamesNobody(t *testing.T) {
	f := facts()
	f.Emergency = policy.Emergency{}
	result := approval.Count(f, []approval.Decision{emergency(by("dave", "oncall", "sre"), "fire")})
	assert.Equal(t, result.Checked[0].Reason, approval.NotEmergencyMember)
}

func TestWhatEnoughPeopleApprovedIsNoEmergency(t *testing.T) {
	result := approval.Count(facts(), []approval.Decision{emergency(by("dave", "oncall"), "fire"), by("alice", "sre")})
	assert.Assert(t, result.Approved && !result.Emergency)
	assert.Assert(t, result.Checked[0].Counts && result.Checked[1].Counts)
}

func TestWhichProofsPolicyAsksFor(t *testing.T) {
	const both, signed, attested = policy.IdentityBoth, policy.IdentitySigned, policy.IdentityAttested
	fallen := func(f *approval.Facts) { f.Attested = func(time.Time) string { return "no fence" } }
	named := func(f *approval.Facts) {
		fallen(f)
		f.Requirements[0].Who = policy.Subjects{Users: []string{"alice"}}
	}
	unknown := func(d *approval.Decision) { d.KeyOwner = "" }
	late := func(d *approval.Decision) { d.KeyFrom = noon() }
	foreign := func(d *approval.Decision) { d.KeyOwner = "mallory" }
	stolen := func(d *approval.Decision) { d.KeyRevoked = noon() }
	for _, test := range []struct {
		sentence, identity, reason string
		edit                       func(*approval.Decision)
		facts                      func(*approval.Facts)
	}{
		{"both: an unknown key is not enough", both, approval.KeyNotEnrolled, unknown, nil},
		{"both: a fallen fence is not enough", both, approval.NotAttested, nil, fallen},
		{"signed: a key needs no fence, for who is named by name", signed, "", nil, named},
		{"signed: it proves no groups", signed, approval.GroupsNotAttested, nil, fallen},
		{"signed: groups count where they are attested", signed, "", nil, nil},
		{"signed: an unknown key is not enough", signed, approval.KeyNotEnrolled, unknown, named},
		{"attested: an unknown key will do", attested, "", unknown, nil},
		{"attested: so will a young one", attested, "", late, nil},
		{"attested: one in doubt, too", attested, "", func(d *approval.Decision) { d.KeyDoubt = "BeforeEpoch" }, nil},
		{"signed: one that only its own word vouches for will do", signed, "", func(d *approval.Decision) { d.KeyDoubt = "NoAdmission" }, named},
		{"attested: another's will not", attested, approval.KeyOfAnother, foreign, nil},
		{"attested: nor a revoked one", attested, approval.KeyRevoked, stolen, nil},
		{"attested: a fallen fence is not enough", attested, approval.NotAttested, nil, named},
		{"a word that policy does not know asks for both", "", approval.NotAttested, nil, named},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			f, d := facts(), by("alice", "sre")
			f.Rules.Identity = test.identity
			if test.facts != nil {
				test.facts(&f)
			}
			if test.edit != nil {
				d = with(d, test.edit)
			}
			result := approval.Count(f, []approval.Decision{d})
			assert.Equal(t, result.Checked[0].Reason, test.reason)
			assert.Equal(t, result.Approved, test.reason == "")
		})
	}
}

func TestAServiceAccountForApproversCountsAsAPerson(t *testing.T) {
	result := approval.Count(facts(), []approval.Decision{by("system:serviceaccount:changeward-approvers:bot", "sre")})
	assert.Assert(t, result.Approved)
	for _, name := range []string{"system:serviceaccount:shop:changeward-gate", "system:node:n1", "system:anonymous", "system:serviceaccount:changeward-approvers"} {
		assert.Equal(t, approval.Count(facts(), []approval.Decision{by(name, "sre")}).Checked[0].Reason, approval.NotAPerson)
	}
}

func TestWherePolicyLetsProposersApproveTheyCount(t *testing.T) {
	f := facts()
	f.Proposer.Username, f.Rules.NotProposer = "alice", false
	assert.Assert(t, approval.Count(f, []approval.Decision{by("alice", "sre")}).Approved)
}

func TestALoginOfAnotherForgeIsAnotherPerson(t *testing.T) {
	f := facts()
	f.Author.Username = "gitlab:bob-gh"
	bob := with(by("alice", "sre"), func(d *approval.Decision) { d.Logins = []string{"github:bob-gh"} })
	assert.Assert(t, approval.Count(f, []approval.Decision{bob}).Approved)
}
