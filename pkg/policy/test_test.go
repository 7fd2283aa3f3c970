package policy_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

func open(name string) ([]byte, error) {
	return fs.ReadFile(os.DirFS("testdata"), name)
}

func TestAPolicyIsTestedWithWrittenAndRecordedPlans(t *testing.T) {
	cases, err := policy.ParseTests(file(t, "tests.yaml"), open, noon())
	assert.NilError(t, err)
	for _, result := range standard(t).Test(cases) {
		assert.Assert(t, result.OK, "%s: want %s, got %s", result.Name, result.Want, result.Got)
	}
}

func TestACaseThatFailsSaysWhatItGot(t *testing.T) {
	cases, err := policy.ParseTests(file(t, "tests.yaml"), open, noon())
	assert.NilError(t, err)
	var out strings.Builder
	for _, result := range parsed(t, rules).Test(cases) {
		fmt.Fprintf(&out, "%t %s\n  want %s\n  got  %s\n", result.OK, result.Name, result.Want, result.Got)
	}
	golden.Assert(t, out.String(), "tests-failing.golden")
}

func TestAllProblemsOfATestFileAreReportedAtOnce(t *testing.T) {
	_, err := policy.ParseTests(file(t, "wrong-tests.yaml"), func(name string) ([]byte, error) {
		if name == "other.json" {
			return []byte(`{"kind":"GateResult"}`), nil
		}
		return nil, errors.New("open " + name + ": no such file")
	}, noon())
	assert.Assert(t, err != nil)
	golden.Assert(t, err.Error()+"\n", "wrong-tests.golden")
}

func TestARecordedPlanThatIsIncompleteIsNeverAllowed(t *testing.T) {
	source := "apiVersion: changeward.dev/v1alpha1\nkind: PolicyTest\ncases: [{name: a, plan: {file: x}, expect: {verdict: error}}]\n"
	cases, err := policy.ParseTests([]byte(source), func(string) ([]byte, error) {
		return []byte(`{"apiVersion":"changeward.dev/v1alpha1","kind":"Plan","complete":false,"changes":[]}`), nil
	}, noon())
	assert.NilError(t, err)
	assert.Assert(t, parsed(t, "default: allow").Test(cases)[0].OK)
}

func TestWhatAdmissionAddedToARecordedPlanIsJudgedToo(t *testing.T) {
	source := "apiVersion: changeward.dev/v1alpha1\nkind: PolicyTest\ncases: [{name: a, plan: {file: x}, expect: {verdict: denied}}]\n"
	cases, err := policy.ParseTests([]byte(source), func(string) ([]byte, error) {
		return []byte(`{"apiVersion":"changeward.dev/v1alpha1","kind":"Plan","complete":true,"changes":[{"operation":"create","kind":"Pod","name":"x",
			"object":{"spec":{}},"admission":[{"path":"spec.hostNetwork","value":true}]}]}`), nil
	}, noon())
	assert.NilError(t, err)
	p := parsed(t, `default: allow
rules: [{name: d, match: 'change.fields.exists(f, f.path == "spec.hostNetwork" && f.new == true)', decision: deny}]`)
	assert.Assert(t, p.Test(cases)[0].OK)
}

func TestExplainSaysWhichRuleJudgedAndWhy(t *testing.T) {
	p := parsed(t, rules+`- {name: odd, match: 'change.fields[3].path == "x"', decision: approval}
- {name: trial, match: 'true', decision: deny, enforce: false}
- {name: all, match: 'true', decision: allow}
`)
	guarded := change(plan.Update, "Deployment", "protected")
	guarded.Body.Name = "harmless"
	settled := change(plan.Hook, "Job")
	in := policy.Input{Plan: planOf(change(plan.Update, "Deployment"), change(plan.Update, "ConfigMap"), guarded, settled),
		SettledHooks: []string{settled.Digest}, Proposer: state.Person{Username: "ci"}, Now: noon()}
	var out strings.Builder
	for _, e := range p.Explain(in) {
		fmt.Fprintf(&out, "%s %s: %s by %q: %s\n", e.Operation, e.Key, e.Decision, e.Rule, e.Message)
		for _, try := range e.Tries {
			fmt.Fprintf(&out, "  %-8s %s matched=%t error=%q note=%q\n", try.Rule, try.Decision, try.Matched, try.Error, try.Note)
		}
	}
	golden.Assert(t, out.String(), "explain.golden")
	j := p.Judge(in)
	for i, e := range p.Explain(in) {
		assert.DeepEqual(t, e.ChangeJudgement, j.Changes[i])
	}
}

func FuzzParseTestsNeverPanics(f *testing.F) {
	f.Add("apiVersion: changeward.dev/v1alpha1\nkind: PolicyTest\ncases: [{name: a, plan: {file: x}, expect: {verdict: error}}]\n", "{}")
	f.Add("cases: [{plan: {changes: [{operation: delete, object: {a: 1}}]}}]", `{"changes":[{"risks":[{"name":"x"}]}]}`)
	f.Fuzz(func(t *testing.T, source, recorded string) {
		cases, err := policy.ParseTests([]byte(source), func(string) ([]byte, error) { return []byte(recorded), nil }, noon())
		if err == nil && len(cases) == 0 {
			t.Fatal("no cases and no error")
		}
	})
}
