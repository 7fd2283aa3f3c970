package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Test runs cases against the policy. Results are in the order of the cases.
func (p *Policy) Test(cases []Case) []TestResult {
	results := make([]TestResult, 0, len(cases))
	for _, c := range cases {
		results = append(results, p.runCase(c))
	}
	return results
}

// runCase compares what the case expects, and nothing else.
func (p *Policy) runCase(c Case) TestResult {
	j := p.Judge(c.Input)
	want, got := []string{c.Expect.Verdict}, []string{j.Verdict}
	if c.Expect.Rule != "" {
		want = append(want, "rule "+c.Expect.Rule)
		got = append(got, "rule "+decider(j, c.Expect.Rule))
	}
	if c.Expect.HasRequirements {
		named := slices.ContainsFunc(c.Expect.Requirements, func(r Requirement) bool { return r.Rule != "" })
		want = append(want, needsText(c.Expect.Requirements, named))
		got = append(got, needsText(j.Requirements, named))
	}
	result := TestResult{Name: c.Name, Want: strings.Join(want, "; "), Got: strings.Join(got, "; ")}
	result.OK = result.Want == result.Got
	if !result.OK && len(j.Reasons) > 0 {
		result.Got += fmt.Sprintf(" (%s: %s)", j.Reasons[0].Reason, j.Reasons[0].Message)
	}
	return result
}

// decider is the wanted rule where it judged a change, else those that did.
func decider(j Judgement, want string) string {
	var rules []string
	for _, c := range j.Changes {
		if c.Rule == want {
			return want
		}
		if c.Rule != "" && !slices.Contains(rules, c.Rule) {
			rules = append(rules, c.Rule)
		}
	}
	if len(rules) == 0 {
		return "none"
	}
	return strings.Join(rules, ", ")
}

// Asks says whom a judgement asks, "no requirement" for nobody; equal texts mean
// equal requirements, in whatever order and by whatever rule.
func (j Judgement) Asks() string { return needsText(j.Requirements, false) }

// needsText lists requirements in one order, so that two lists compare.
func needsText(needs []Requirement, named bool) string {
	var texts []string
	for _, need := range needs {
		text := fmt.Sprintf("%d of %s", need.Count, Union(need.Who))
		if named {
			text += " by " + need.Rule
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	if len(texts) == 0 {
		return "no requirement"
	}
	return strings.Join(texts, " and ")
}
