package policy_test

import (
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

func TestTheFirstPolicyIsTheOneOfTheDesign(t *testing.T) {
	text := policy.Default("prod-eu", "prod", policy.Roles{Approvers: policy.Subjects{Groups: []string{"sre"}},
		Proposers: policy.Subjects{Groups: []string{"ci"}}, Admins: policy.Subjects{Groups: []string{"platform"}, Users: []string{"root"}}})
	golden.Assert(t, text, "default.yaml.golden")
}

func TestTheFirstPolicyParsesWhateverItsNamesAre(t *testing.T) {
	for _, name := range []string{"prod", "", "true", "12", "a: b", `q"uo'te`, "#x", "system:serviceaccount:a:b", "new\nline", "ümlaut <&>", "null", "-", "$ENV"} {
		for _, env := range []string{"", "prod", "y", "1e3", `"`, "a b", "{x}", "$NAME"} {
			if name == "" {
				continue
			}
			who := policy.Subjects{Groups: []string{name, "x, y"}, Users: []string{name}}
			for _, others := range []policy.Subjects{{}, who} {
				p, err := policy.Parse([]byte(policy.Default(name, env, policy.Roles{Approvers: who, Proposers: others, Admins: others, Auditors: others})))
				assert.NilError(t, err)
				assert.Equal(t, p.ClusterName, name)
				assert.DeepEqual(t, p.Rules[2].Approvers[0].Who, who)
				assert.DeepEqual(t, p.Proposers, others)
				assert.DeepEqual(t, p.Auditors, others)
				assert.DeepEqual(t, p.Emergency.Subjects, who)
				j := judge(p, change(plan.Update, "ConfigMap"))
				assert.Equal(t, j.Verdict, state.VerdictApprovalRequired)
				assert.Equal(t, j.Changes[0].Rule, p.Rules[2].Name) // by the env rule, not by default
			}
		}
	}
}

func TestTheFirstPolicyHasNoWarningsOnceAdminsAreNamed(t *testing.T) {
	assert.Equal(t, len(standard(t).Warnings()), 0)
}

func TestWarningsNameWhatIsLikelyNotMeant(t *testing.T) {
	p := parsed(t, `
rules:
- {name: blind, match: change.operation == "update", decision: allow}
- {name: empty, match: 'change.risks.size() == 0 && change.fields.all(f, f.path == "x")', decision: allow}
- {name: fine, match: 'change.operation == "update" && change.risks.size() == 0 && change.fields.all(f, f.path == "x")', decision: allow}
- {name: plans, match: plan.risks.size() == 0, decision: allow}
- {name: trial, match: 'true', decision: approval, approvers: [{groups: [sre]}], enforce: false}
approvals: {identity: signed}
default: allow
`)
	assert.DeepEqual(t, p.Warnings(), []string{
		"rule blind allows without looking at change.risks",
		"rule empty asks whether all fields are so without looking at change.operation: that holds where there are none",
		"rule plans allows without looking at change.risks",
		"rule trial is not enforced: what no enforced rule matches passes it",
		"no admins are named: changes of changeward itself (risk protected) are denied",
		"identity: signed proves no groups: where the API server attests none, only approvers named as users count",
		"identity: signed with enrollment: attested believes whoever enrolls a key in a name first: use enrollment: roster",
		"default: allow lets everything pass that no rule names",
	})
}

func TestRolesAreEveryoneWhomThePolicyNames(t *testing.T) {
	p, err := policy.Parse(file(t, "everything.yaml"))
	assert.NilError(t, err)
	assert.DeepEqual(t, p.Roles(), policy.Roles{
		Proposers: policy.Subjects{Groups: []string{"ci"}, Users: []string{"robot"}},
		Approvers: policy.Subjects{Groups: []string{"platform", "sre"}, Users: []string{"dba", "root"}},
		Auditors:  policy.Subjects{Groups: []string{"audit"}},
		Admins:    policy.Subjects{Groups: []string{"platform"}, Users: []string{"root"}},
	})
}

func TestSubjectsAreReadByPeople(t *testing.T) {
	who := policy.Subjects{Groups: []string{"sre"}, Users: []string{"alice"}}
	assert.Equal(t, who.String(), "group:sre, user:alice")
	assert.Equal(t, policy.Subjects{}.String(), "nobody")
	assert.Assert(t, who.Includes(state.Person{Username: "alice"}))
	assert.Assert(t, who.Includes(state.Person{Username: "bob", Groups: []string{"dev", "sre"}}))
	assert.Assert(t, !who.Includes(state.Person{Username: "sre", Groups: []string{"alice"}}))
	assert.Assert(t, !policy.Subjects{Users: []string{""}}.Includes(state.Person{}))
}

func TestATargetIsTheClusterOrAnAliasOfIt(t *testing.T) {
	p := parsed(t, "aliases: [prod]\ndefault: deny")
	assert.Assert(t, p.Names("prod-eu") && p.Names("prod") && !p.Names("prod-us") && !p.Names(""))
}
