package policy

import "time"

type program struct{}

// Parse reads a policy: strict YAML, every key known, every expression
// compiled. The error is Problems: all that is wrong, at once.
func Parse(source []byte) (*Policy, error) { panic("to do") }

// Judge says what the policy makes of a plan.
func (p *Policy) Judge(in Input) Judgement { panic("to do") }

// Explain says, change by change, which rules were tried and how they went.
func (p *Policy) Explain(in Input) []Explanation { panic("to do") }

// Warnings are what is legal in the policy but likely not meant.
func (p *Policy) Warnings() []string { panic("to do") }

// Default is the YAML text of the first policy that an install sets.
func Default(name, env string, approvers, proposers, admins Subjects) string { panic("to do") }

// ParseTests reads a file of test cases. open reads the plan files they name;
// now is the time of the cases that give none.
func ParseTests(source []byte, open func(name string) ([]byte, error), now time.Time) ([]Case, error) {
	panic("to do")
}

// Test runs cases against the policy.
func (p *Policy) Test(cases []Case) []TestResult { panic("to do") }
