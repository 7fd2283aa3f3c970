package policy_test

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

func TestNoMoreIsDeletedThanPolicyAllows(t *testing.T) {
	gone := change(plan.Delete, "ConfigMap", "delete")
	for _, test := range []struct {
		limit   string
		deletes int
		verdict string
	}{
		{"{count: 1}", 1, state.VerdictAllowed}, {"{count: 1}", 2, state.VerdictDenied}, {"{count: 0}", 1, state.VerdictDenied},
		{"{share: 0.5}", 2, state.VerdictAllowed}, {"{share: 0.5}", 3, state.VerdictDenied}, {"{count: 5, share: 0.5}", 3, state.VerdictDenied},
	} {
		t.Run(fmt.Sprintf("%s with %d of 4", test.limit, test.deletes), func(t *testing.T) {
			p := planOf()
			for range test.deletes {
				p.Changes = append(p.Changes, gone)
			}
			p.Unchanged = make([]plan.Change, 4-test.deletes)
			j := parsed(t, "default: allow\nmaxDeletes: "+test.limit).Judge(policy.Input{Plan: p, Now: noon()})
			assert.Equal(t, j.Verdict, test.verdict)
			if test.verdict == state.VerdictDenied {
				assert.Equal(t, firstReason(j), policy.ReasonTooManyDeletes)
			}
		})
	}
}

func TestNothingChangesInAFreezeButByThoseExcepted(t *testing.T) {
	p := parsed(t, rules+"freezes: [{name: year-end, from: 2026-12-20T00:00:00Z, to: 2027-01-03T00:00:00Z, except: {groups: [oncall]}}]")
	in := policy.Input{Plan: planOf(change(plan.Update, "Deployment")), Proposer: state.Person{Username: "ci"}, Now: noon()}
	j := p.Judge(in)
	assert.Equal(t, j.Verdict, state.VerdictDenied)
	assert.DeepEqual(t, j.Reasons, []policy.Reason{{Reason: policy.ReasonFrozen, Message: "freeze year-end until 2027-01-03 00:00 UTC; only group:oncall may propose"}})

	in.Proposer.Groups = []string{"oncall"}
	assert.Equal(t, p.Judge(in).Verdict, state.VerdictApprovalRequired)
	in.Proposer.Groups = nil
	in.Now = time.Date(2027, 1, 3, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, p.Judge(in).Verdict, state.VerdictApprovalRequired)
	in.Now, in.Plan = noon(), planOf()
	assert.Equal(t, p.Judge(in).Verdict, state.VerdictAllowed)
}

func TestAnExpiredPolicyDecidesNothingAndIsNoLongerLenient(t *testing.T) {
	p := parsed(t, "default: allow\nenforce: false\nexpires: 2026-12-24T12:00:00Z")
	j := judge(p, change(plan.Update, "ConfigMap"))
	assert.Equal(t, j.Verdict, state.VerdictError)
	assert.Equal(t, j.Enforced, true)
	assert.Equal(t, firstReason(j), policy.ReasonPolicyExpired)
	assert.Equal(t, judge(p).Verdict, state.VerdictAllowed)
}

func TestAnIncompletePlanIsNeverAllowed(t *testing.T) {
	p := planOf()
	p.Failed = []plan.Failed{{}}
	j := parsed(t, "default: allow").Judge(policy.Input{Plan: p, Now: noon()})
	assert.Equal(t, j.Verdict, state.VerdictError)
	assert.Equal(t, firstReason(j), policy.ReasonPlanIncomplete)
	assert.Equal(t, j.Reasons[0].Message, "1 object could not be planned")
	p.Failed = []plan.Failed{{}, {}}
	j = parsed(t, "default: allow").Judge(policy.Input{Plan: p, Now: noon()})
	assert.Equal(t, j.Reasons[0].Message, "2 objects could not be planned")
}

func TestAHookThatWasAllowedBeforeIsNotJudgedAgain(t *testing.T) {
	p := parsed(t, "default: deny")
	hook := change(plan.Hook, "Job", "hook")
	in := policy.Input{Plan: planOf(hook), Now: noon()}
	assert.Equal(t, p.Judge(in).Verdict, state.VerdictDenied)
	in.SettledHooks = []string{hook.Digest}
	assert.Equal(t, p.Judge(in).Verdict, state.VerdictAllowed)
	in.Plan.Changes = append(in.Plan.Changes, change(plan.Update, "ConfigMap"))
	j := p.Judge(in)
	assert.Equal(t, j.Verdict, state.VerdictDenied)
	assert.Equal(t, j.Changes[0].Decision, policy.Allow)
}

func TestANamespaceHasTheEnvironmentThatPolicyGivesIt(t *testing.T) {
	p := parsed(t, "env: prod\nenvs: [{env: staging, namespaces: ['*-staging']}, {env: other, namespaces: ['shop-*']}]\ndefault: allow")
	object := func(kind, namespace, name string) plan.Change {
		c := change(plan.Create, kind)
		c.Body.Namespace, c.Body.Name = namespace, name
		return c
	}
	j := judge(p, object("Pod", "shop", "a"), object("Pod", "shop-staging", "a"), object("Pod", "shop-x", "a"),
		object("Namespace", "", "shop-staging"), object("ClusterRole", "", "shop-staging"))
	var envs []string
	for _, c := range j.Changes {
		envs = append(envs, c.Env)
	}
	assert.DeepEqual(t, envs, []string{"prod", "staging", "other", "staging", "prod"})
}
