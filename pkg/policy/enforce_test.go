package policy_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

func TestAPolicyThatIsNotEnforcedSaysWhatItWouldDo(t *testing.T) {
	j := judge(parsed(t, rules+"enforce: false"), change(plan.Update, "Deployment"))
	assert.Equal(t, j.Verdict, state.VerdictApprovalRequired)
	assert.Equal(t, j.Enforced, false)
	assert.Equal(t, j.Changes[0].NotEnforced, true)
	assert.Equal(t, len(j.Requirements), 1)
}

func TestARuleOnTrialSaysWhatItWouldDo(t *testing.T) {
	for _, test := range []struct {
		sentence, rules string
		verdict, rule   string
		enforced        bool
	}{
		{"alone it lets the change pass, marked", "{name: t, match: 'true', decision: approval, enforce: false}", state.VerdictApprovalRequired, "t", false},
		{"a deny on trial does, too", "{name: t, match: 'true', decision: deny, enforce: false}", state.VerdictDenied, "t", false},
		{"it opens nothing that another rule guards", "{name: t, match: 'true', decision: deny, enforce: false}, {name: g, match: 'true', decision: approval}", state.VerdictApprovalRequired, "g", true},
		{"nor what a deny guards", "{name: t, match: 'true', decision: approval, enforce: false}, {name: g, match: 'true', decision: deny}", state.VerdictDenied, "g", true},
		{"an allow on trial opens nothing at all", "{name: t, match: 'true', decision: allow, enforce: false}", state.VerdictApprovalRequired, "default", true},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			p := parsed(t, "rules: ["+test.rules+", {name: s, match: 'false', decision: approval, approvers: [{groups: [sre]}]}]")
			j := judge(p, change(plan.Update, "ConfigMap"))
			assert.Equal(t, j.Verdict, test.verdict)
			assert.Equal(t, j.Enforced, test.enforced)
			assert.Equal(t, j.Changes[0].Rule, test.rule)
			assert.Equal(t, j.Changes[0].NotEnforced, !test.enforced)
		})
	}
}

func TestWhatIsEnforcedDecidesAPlanThatMixesBoth(t *testing.T) {
	p := parsed(t, `
rules:
- {name: trial, match: change.kind == "Secret", decision: deny, reason: no secrets here, enforce: false}
- {name: sre, match: change.kind == "Deployment", decision: approval, approvers: [{groups: [sre]}]}
`)
	j := judge(p, change(plan.Update, "Deployment"), change(plan.Update, "Secret"))
	assert.Equal(t, j.Verdict, state.VerdictApprovalRequired)
	assert.Equal(t, j.Enforced, true)
	assert.Equal(t, len(j.Requirements), 1)
	assert.DeepEqual(t, j.Reasons[1], policy.Reason{Reason: policy.ReasonNotEnforced, Message: "rule trial (not enforced) says deny: no secrets here"})
}

func TestATrialThatAnotherRuleOverruledIsAWarning(t *testing.T) {
	p := parsed(t, "default: allow\nrules: [{name: t, match: 'true', decision: deny, enforce: false}, {name: a, match: 'true', decision: allow}]")
	j := judge(p, change(plan.Update, "Secret"))
	assert.Equal(t, j.Verdict, state.VerdictAllowed)
	assert.Equal(t, j.Enforced, true)
	assert.DeepEqual(t, j.Warnings, []string{"shop/Secret/x: rule t (not enforced) says deny"})
}
