package policy

import (
	"fmt"
	"time"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// testParser reads a file of policy tests.
type testParser struct {
	reader
	open  func(name string) ([]byte, error)
	now   time.Time
	cases []Case
}

// ParseTests reads a file of kind PolicyTest. open reads the recorded plans
// that its cases name; now is the time of the cases that give none. The error
// is Problems.
func ParseTests(source []byte, open func(name string) ([]byte, error), now time.Time) ([]Case, error) {
	p := &testParser{open: open, now: now}
	root, ok := p.document(source)
	if !ok {
		return nil, p.problems.orNil()
	}
	p.header(root, "PolicyTest", keys{"cases": func(f field) { p.list(f, p.readCase) }})
	if len(p.cases) == 0 && len(p.problems) == 0 {
		p.add(field{node: root.node, path: "cases"}, "missing")
	}
	if err := p.problems.orNil(); err != nil {
		return nil, err
	}
	return p.cases, nil
}

func (p *testParser) readCase(f field) {
	c := Case{Input: Input{Lane: "gitops", Now: p.now}}
	p.mapping(f, keys{
		"name":     func(f field) { c.Name = p.text(f) },
		"plan":     func(f field) { c.Input.Plan = p.readPlan(f) },
		"proposer": func(f field) { c.Input.Proposer = p.readPerson(f) },
		"author":   func(f field) { c.Input.Author = p.readPerson(f) },
		"revision": func(f field) { c.Input.Revision = p.text(f) },
		"lane":     func(f field) { c.Input.Lane = p.word(f, "gitops", "direct") },
		"now":      func(f field) { c.Input.Now = p.instant(f) },
		"expect":   func(f field) { c.Expect = p.readExpect(f) },
	})
	p.require(f, "name", c.Name != "")
	p.require(f, "plan", c.Input.Plan != nil)
	p.require(f, "expect.verdict", c.Expect.Verdict != "")
	p.cases = append(p.cases, c)
}

func (p *testParser) readPerson(f field) state.Person {
	var person state.Person
	p.mapping(f, keys{
		"username": func(f field) { person.Username = p.text(f) },
		"groups":   func(f field) { person.Groups = p.texts(f) },
	})
	return person
}

func (p *testParser) readExpect(f field) Expect {
	var e Expect
	p.mapping(f, keys{
		"verdict": func(f field) {
			e.Verdict = p.word(f, state.VerdictAllowed, state.VerdictApprovalRequired, state.VerdictDenied, state.VerdictError)
		},
		"rule": func(f field) { e.Rule = p.text(f) },
		"requirements": func(f field) {
			e.HasRequirements = true
			p.list(f, func(f field) { e.Requirements = append(e.Requirements, p.readNeed(f)) })
		},
	})
	return e
}

func (p *testParser) readNeed(f field) Requirement {
	need := Requirement{Count: 1}
	p.mapping(f, keys{
		"rule":   func(f field) { need.Rule = p.text(f) },
		"groups": func(f field) { need.Who.Groups = p.texts(f) },
		"users":  func(f field) { need.Who.Users = p.texts(f) },
		"count":  func(f field) { need.Count = p.integer(f, 1) },
	})
	return need
}

// readPlan reads a sample plan: changes written out, or a file with the output
// of plan -o json.
func (p *testParser) readPlan(f field) *plan.Plan {
	var out *plan.Plan
	var changes []plan.Change
	unchanged, scope, given := 0, "", false
	p.mapping(f, keys{
		"file": func(f field) { out = p.readPlanFile(f) },
		"changes": func(f field) {
			given = true
			p.list(f, func(f field) { changes = append(changes, p.readChange(f)) })
		},
		"unchanged": func(f field) { unchanged = p.integer(f, 0) },
		"scope":     func(f field) { scope = p.text(f) },
	})
	if out != nil || !given {
		if out != nil && given {
			p.add(f, "want file or changes, not both")
		}
		return out
	}
	return samplePlan(changes, unchanged, scope)
}

func (p *testParser) readPlanFile(f field) *plan.Plan {
	name := p.text(f)
	data, err := p.open(name)
	if err != nil {
		p.add(f, "%s", err)
		return nil
	}
	out, err := decodePlan(data)
	if err != nil {
		p.add(f, "%s: %s", name, err)
		return nil
	}
	return out
}

// samplePlan makes a plan that can be judged of changes that were written out.
func samplePlan(changes []plan.Change, unchanged int, scope string) *plan.Plan {
	out := &plan.Plan{Changes: changes, Unchanged: make([]plan.Change, unchanged), Scope: scope, Reversible: true}
	for i := range changes {
		out.Reversible = out.Reversible && changes[i].Reversible
		changes[i].Digest = fmt.Sprintf("sample-%d", i)
	}
	return out
}
