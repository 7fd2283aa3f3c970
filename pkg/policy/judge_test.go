package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// change is one change of an object shop/<kind>/x.
func change(operation plan.Operation, kind string, risks ...string) plan.Change {
	c := plan.Change{Reversible: true, Body: plan.Body{Version: "v1", Kind: kind, Namespace: "shop", Name: "x", Operation: operation}}
	for _, risk := range risks {
		c.Risks = append(c.Risks, plan.Risk{Name: risk})
	}
	c.Digest = fmt.Sprintf("sha256:%s-%s", operation, kind)
	return c
}

func planOf(changes ...plan.Change) *plan.Plan {
	return &plan.Plan{Changes: changes, Reversible: true, Scope: "apps/shop"}
}

func noon() time.Time { return time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC) }

func judge(p *policy.Policy, changes ...plan.Change) policy.Judgement {
	return p.Judge(policy.Input{Plan: planOf(changes...), Proposer: state.Person{Username: "ci", Groups: []string{"ci"}}, Lane: "gitops", Now: noon()})
}

func firstReason(j policy.Judgement) string {
	if len(j.Reasons) == 0 {
		return ""
	}
	return j.Reasons[0].Reason
}

func standard(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Parse([]byte(policy.Default("prod-eu", "prod", policy.Roles{Approvers: policy.Subjects{Groups: []string{"sre"}},
		Proposers: policy.Subjects{Groups: []string{"ci"}}, Admins: policy.Subjects{Groups: []string{"platform"}}})))
	assert.NilError(t, err)
	return p
}

func TestTheFirstPolicyJudgesAsTheDesignSays(t *testing.T) {
	p := standard(t)
	unverified := change(plan.Create, "ConfigMap")
	unverified.Unverified = "its CRD arrives in the same set"
	lasting := change(plan.Create, "Job")
	lasting.Reversible = false
	for _, test := range []struct {
		sentence, verdict, rule string
		change                  plan.Change
	}{
		{"a new harmless object is allowed", state.VerdictAllowed, "new-and-harmless", change(plan.Create, "ConfigMap")},
		{"a new object with a risk is not", state.VerdictApprovalRequired, "prod-needs-sre", change(plan.Create, "ClusterRoleBinding", "rbac")},
		{"a new object that cannot be taken back is not", state.VerdictApprovalRequired, "prod-needs-sre", lasting},
		{"what the server could not check is not", state.VerdictApprovalRequired, "prod-needs-sre", unverified},
		{"an update needs SRE", state.VerdictApprovalRequired, "prod-needs-sre", change(plan.Update, "ConfigMap")},
		{"a hook needs SRE", state.VerdictApprovalRequired, "prod-needs-sre", change(plan.Hook, "Job", "hook")},
		{"a volume is not deleted", state.VerdictDenied, "no-volume-deletes", change(plan.Delete, "PersistentVolumeClaim", "delete")},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			j := judge(p, test.change)
			assert.Equal(t, j.Verdict, test.verdict)
			assert.Equal(t, j.Changes[0].Rule, test.rule)
			assert.Equal(t, j.Changes[0].Env, "prod")
			assert.Equal(t, j.Enforced, true)
			assert.Equal(t, len(j.Requirements) > 0, test.verdict == state.VerdictApprovalRequired)
		})
	}
}

func TestTheVerdictIsTheStrictestOfTheChanges(t *testing.T) {
	p := standard(t)
	fine, ask, never := change(plan.Create, "ConfigMap"), change(plan.Update, "ConfigMap"), change(plan.Delete, "PersistentVolumeClaim")
	assert.Equal(t, judge(p, fine, ask).Verdict, state.VerdictApprovalRequired)
	j := judge(p, fine, ask, never)
	assert.Equal(t, j.Verdict, state.VerdictDenied)
	assert.DeepEqual(t, j.Reasons, []policy.Reason{{Reason: policy.ReasonRuleDenied, Message: "volumes are deleted by the storage team"}})
	assert.Equal(t, len(j.Requirements), 0)
}

const rules = `
rules:
- {name: harmless, match: change.name == "harmless", decision: allow}
- {name: sre, match: change.kind == "Deployment", decision: approval, approvers: [{groups: [sre]}], reason: ask SRE}
- {name: both, match: change.kind == "StatefulSet", decision: approval, approvers: [{groups: [sre]}, {groups: [dba], count: 2}], reason: ask both}
- {name: anyone, match: change.kind == "Ingress", decision: approval}
- {name: never, match: change.name == "never", decision: deny, reason: not this one}
`

func TestAMatchingDenyWinsOverARuleBeforeIt(t *testing.T) {
	p := parsed(t, rules)
	c := change(plan.Update, "Deployment")
	c.Body.Name = "never"
	j := judge(p, c)
	assert.Equal(t, j.Verdict, state.VerdictDenied)
	assert.Equal(t, j.Changes[0].Rule, "never")
}

func TestRequirementsAddUpAndEqualOnesMerge(t *testing.T) {
	p := parsed(t, rules)
	want := []policy.Requirement{
		{Rule: "sre", Who: policy.Subjects{Groups: []string{"sre"}}, Count: 1, Message: "ask SRE"},
		{Rule: "both", Who: policy.Subjects{Groups: []string{"dba"}}, Count: 2, Message: "ask both"},
		{Rule: "anyone", Who: policy.Subjects{Groups: []string{"dba", "sre"}}, Count: 1, Message: "rule anyone"},
	}
	a, b, c := change(plan.Update, "Deployment"), change(plan.Update, "StatefulSet"), change(plan.Create, "Ingress")
	assert.DeepEqual(t, judge(p, a, b, c).Requirements, want)
	assert.DeepEqual(t, judge(p, c, b, a, a).Requirements, want)
}

func TestTheDefaultAsksOnePersonWhomAnyRuleNames(t *testing.T) {
	j := judge(parsed(t, rules), change(plan.Update, "Secret"))
	assert.Equal(t, j.Verdict, state.VerdictApprovalRequired)
	assert.DeepEqual(t, j.Requirements, []policy.Requirement{
		{Rule: "default", Who: policy.Subjects{Groups: []string{"dba", "sre"}}, Count: 1, Message: "no rule decides it"}})
	assert.Equal(t, judge(parsed(t, "default: deny"), change(plan.Update, "Secret")).Verdict, state.VerdictDenied)
	assert.Equal(t, judge(parsed(t, "default: allow"), change(plan.Update, "Secret")).Verdict, state.VerdictAllowed)
}

func TestARuleThatErrorsIsNeverSkippedOverToAnAllow(t *testing.T) {
	const broken = `change.fields[7].path == "x"`
	for _, test := range []struct{ sentence, rules, verdict string }{
		{"an approval rule before an allow", "{name: e, match: '" + broken + "', decision: approval}, {name: a, match: 'true', decision: allow}", state.VerdictError},
		{"an allow rule alone", "{name: e, match: '" + broken + "', decision: allow}", state.VerdictError},
		{"a deny rule behind an allow", "{name: a, match: 'true', decision: allow}, {name: e, match: '" + broken + "', decision: deny}", state.VerdictError},
		{"a deny that matches wins over an error", "{name: e, match: '" + broken + "', decision: deny}, {name: d, match: 'true', decision: deny}", state.VerdictDenied},
		{"a rule behind the one that decides is not asked", "{name: a, match: 'true', decision: allow}, {name: e, match: '" + broken + "', decision: approval}", state.VerdictAllowed},
		{"a broken rule on trial decides nothing", "{name: e, match: '" + broken + "', decision: deny, enforce: false}", state.VerdictApprovalRequired},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			p := parsed(t, "rules: ["+test.rules+", {name: s, match: 'false', decision: approval, approvers: [{groups: [sre]}]}]")
			j := judge(p, change(plan.Update, "ConfigMap"))
			assert.Equal(t, j.Verdict, test.verdict)
			if test.verdict == state.VerdictError {
				assert.Equal(t, firstReason(j), policy.ReasonRuleError)
				assert.Equal(t, j.Changes[0].Rule, "e")
			}
		})
	}
}

func TestAnExpressionThatCostsTooMuchCountsAsAnError(t *testing.T) {
	c := change(plan.Update, "ConfigMap")
	c.Body.Transitions = []diff.Transition{{Path: "data.x", Action: diff.Add, New: strings.Repeat("a", 12<<20)}}
	p := parsed(t, `rules: [{name: a, match: 'change.fields.all(f, !string(f.new).contains("b"))', decision: allow}, {name: b, match: 'true', decision: allow}]`+"\ndefault: deny")
	j := judge(p, c)
	assert.Equal(t, j.Verdict, state.VerdictError)
	assert.ErrorContains(t, fmt.Errorf("%s", j.Reasons[0].Message), "cost")
}

func TestAProtectedChangeIsNeverDecidedByAllow(t *testing.T) {
	const allow = "\nrules: [{name: all, match: 'true', decision: allow}, {name: s, match: 'false', decision: approval, approvers: [{groups: [sre]}]}]\n"
	admins := policy.Requirement{Rule: "protected", Who: policy.Subjects{Groups: []string{"platform"}}, Count: 2, Message: "changes of changeward itself need its admins"}
	c := change(plan.Update, "ConfigMap", "protected")

	j := judge(parsed(t, "admins: {groups: [platform], count: 2}"+allow), c)
	assert.Equal(t, j.Verdict, state.VerdictApprovalRequired)
	assert.Equal(t, len(j.Requirements), 2)
	assert.DeepEqual(t, j.Requirements[1], admins)

	j = judge(parsed(t, "admins: {groups: [platform], count: 2}\ndefault: allow"), c)
	assert.DeepEqual(t, j.Requirements, []policy.Requirement{admins})

	j = judge(parsed(t, allow), c)
	assert.Equal(t, j.Verdict, state.VerdictDenied)
	assert.Equal(t, firstReason(j), policy.ReasonNoApprover)

	trial := judge(parsed(t, "admins: {groups: [platform], count: 2}\ndefault: allow\nrules: [{name: t, match: 'true', decision: approval, approvers: [{groups: [sre]}], enforce: false}]"), c)
	assert.Equal(t, trial.Enforced, true)
	assert.DeepEqual(t, trial.Requirements, []policy.Requirement{admins})
}

func TestAnUnverifiedChangeIsAllowedOnlyWherePolicySaysSo(t *testing.T) {
	const allow = "rules: [{name: all, match: 'true', decision: allow}, {name: s, match: 'false', decision: approval, approvers: [{groups: [sre]}]}]"
	c := change(plan.Create, "ConfigMap")
	c.Unverified = "its namespace arrives in the same set"
	j := judge(parsed(t, allow), c)
	assert.Equal(t, j.Verdict, state.VerdictApprovalRequired)
	assert.DeepEqual(t, j.Reasons[1], policy.Reason{Reason: policy.ReasonUnverified, Message: "shop/ConfigMap/x: its namespace arrives in the same set"})
	assert.Equal(t, judge(parsed(t, allow+"\nallowUnverified: true"), c).Verdict, state.VerdictAllowed)
	assert.Equal(t, judge(parsed(t, "default: allow"), c).Verdict, state.VerdictDenied) // nobody is named to ask
}

func TestAnUnboundSecretValueCannotBeApproved(t *testing.T) {
	loose := map[string]any{"data": map[string]any{"pin": state.Masked{Tag: "x", Unbound: true}}}
	create, update, remove, settled := change(plan.Create, "Secret"), change(plan.Update, "Secret"), change(plan.Delete, "Secret"), change(plan.Hook, "Secret")
	create.Body.Object = loose
	update.Body.Transitions = []diff.Transition{{Path: "data", Action: diff.Change, Old: []any{loose}, New: "x"}}
	remove.Body.Delete = &plan.Deletion{Fields: loose}
	settled.Body.Object = loose
	for _, c := range []plan.Change{create, update, remove, settled} {
		for _, base := range []string{"default: allow", rules} {
			in := policy.Input{Plan: planOf(c), SettledHooks: []string{settled.Digest}, Now: noon()}
			j := parsed(t, base).Judge(in)
			assert.Equal(t, j.Verdict, state.VerdictDenied)
			assert.Equal(t, firstReason(j), policy.ReasonUnboundSecret)
			assert.Equal(t, j.Enforced, true)
			assert.Assert(t, parsed(t, base+"\nallowUnboundSecrets: true").Judge(in).Verdict != state.VerdictDenied)
		}
	}
}
