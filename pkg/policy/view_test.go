package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// holds asks whether an expression is true of a change.
func holds(t *testing.T, expression string, c plan.Change) bool {
	t.Helper()
	p := parsed(t, "default: deny\nrules: [{name: r, match: "+fmt.Sprintf("%q", expression)+", decision: allow}]")
	in := policy.Input{Plan: planOf(c), Proposer: state.Person{Username: "ci", Groups: []string{"robots"}},
		Author: state.Person{Username: "bob"}, Revision: "abc", Lane: "gitops", Now: noon()}
	e := p.Explain(in)[0]
	assert.Equal(t, e.Tries[0].Error, "", expression)
	return e.Tries[0].Matched
}

func TestExpressionsSeeWhatTheDesignLists(t *testing.T) {
	c := change(plan.Update, "Deployment", "image", "restart")
	c.Body.Group, c.Owner, c.Applier = "apps", "kustomization/flux-system/apps", "flux"
	c.Body.Transitions = []diff.Transition{
		{Path: `spec.template.spec.containers[name="web"].image`, Action: diff.Change, Old: "web:1", New: "web:2"},
		{Path: "spec.replicas", Action: diff.Change, Old: int64(1), New: int64(3)},
		{Path: "spec.paused", Action: diff.Add, New: true},
	}
	for _, expression := range []string{
		`target.cluster == "prod-eu" && target.applier == "flux"`,
		`plan.size == 1 && plan.reversible && "update" in plan.operations && "image" in plan.risks`,
		`plan.revision == "abc" && plan.scope == "apps/shop"`,
		`change.operation == "update" && change.group == "apps" && change.version == "v1" && change.kind == "Deployment"`,
		`change.namespace == "shop" && change.name == "x" && change.env == ""`,
		`change.owner.startsWith("kustomization/") && change.lane == "gitops" && change.reversible && !change.unverified`,
		`change.risks.size() == 2 && "restart" in change.risks`,
		`change.fields.size() == 3 && change.fields.exists(f, f.path.endsWith(".image") && f.new == "web:2" && f.old == "web:1")`,
		`change.fields.exists(f, f.path == "spec.replicas" && f.new > f.old)`,
		`change.fields.exists(f, f.path == "spec.paused" && f.old == null && f.new)`,
		`proposer.username == "ci" && "robots" in proposer.groups && author.username == "bob" && author.groups.size() == 0`,
	} {
		assert.Assert(t, holds(t, expression, c), expression)
	}
}

func TestARuleAboutAFieldHoldsForObjectsThatComeWhole(t *testing.T) {
	const deny = `change.fields.exists(f, f.path.endsWith("hostNetwork") && f.new == true)`
	pod := map[string]any{"spec": map[string]any{"hostNetwork": true, "masked": true,
		"containers": []any{map[string]any{"image": "x"}}, "a.b": map[string]any{"c": "d"}}}
	create, added, atomic := change(plan.Create, "Pod"), change(plan.Update, "Pod"), change(plan.Update, "Pod")
	create.Body.Object = pod
	added.Body.Transitions = []diff.Transition{{Path: "spec", Action: diff.Add, New: pod["spec"]}}
	atomic.Body.Transitions = []diff.Transition{{Path: "list", Action: diff.Change, Old: []any{map[string]any{}}, New: []any{pod}}}
	for _, c := range []plan.Change{create, added, atomic} {
		assert.Assert(t, holds(t, deny, c))
	}
	assert.Assert(t, holds(t, `change.fields.exists(f, f.path == "spec.containers[0].image" && f.new == "x")`, create))
	assert.Assert(t, holds(t, `change.fields.exists(f, f.path == 'spec["a.b"].c' && f.new == "d")`, create))

	remove := change(plan.Delete, "Pod")
	remove.Body.Delete = &plan.Deletion{Fields: pod}
	assert.Assert(t, holds(t, `change.fields.exists(f, f.path == "spec.hostNetwork" && f.old == true && f.new == null)`, remove))

	admitted := change(plan.Create, "Pod")
	admitted.Body.Admission = []plan.AdmissionValue{{Path: "spec.hostNetwork", Value: true}, {Path: "spec.token", Mark: "differs"}}
	assert.Assert(t, holds(t, deny, admitted))
	assert.Assert(t, holds(t, `change.fields.exists(f, f.new == {"mark": "differs"})`, admitted))
}

func TestSecretValuesAreMaskedInExpressions(t *testing.T) {
	c := change(plan.Update, "Secret")
	c.Body.Transitions = []diff.Transition{
		{Path: "data.pin", Action: diff.Change, Old: state.Masked{Tag: "k:111"}, New: state.Masked{Tag: "k:222"}},
		{Path: "data", Action: diff.Change, Old: map[string]any{"a": state.Masked{Tag: "k:1"}, "b": state.Masked{Tag: "k:1"}},
			New: map[string]any{"a": state.Masked{Tag: "k:2"}, "b": state.Masked{Tag: "k:1"}}},
	}
	assert.Assert(t, holds(t, `change.fields[0].new == {"masked": true} && change.fields[0].new.masked`, c))
	assert.Assert(t, holds(t, `change.fields.exists(f, f.path == "data.a") && !change.fields.exists(f, f.path == "data.b")`, c))
	e := parsed(t, "default: deny\nrules: [{name: r, match: 'string(change.fields[0].new) == \"\"', decision: allow}]").
		Explain(policy.Input{Plan: planOf(c), Now: noon()})
	assert.Assert(t, !strings.Contains(e[0].Tries[0].Error, "k:222"))
}

func TestNumbersOfAnyFormCompare(t *testing.T) {
	c := change(plan.Update, "Deployment")
	c.Body.Transitions = []diff.Transition{{Path: "a", New: json.Number("3")}, {Path: "b", New: 2.5}, {Path: "c", New: int64(9007199254740993)}}
	assert.Assert(t, holds(t, `change.fields[0].new == 3 && change.fields[1].new < 3 && change.fields[2].new == 9007199254740993`, c))
}
