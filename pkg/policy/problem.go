package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a policy or test file.
type Problem struct {
	Line    int    // from 1; 0 where there is none
	Path    string // spec.rules[2].match
	Message string
}

// String is "line 12: spec.rules[2].match: …".
func (p Problem) String() string {
	var parts []string
	if p.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", p.Line))
	}
	if p.Path != "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(append(parts, p.Message), ": ")
}

// Problems is everything wrong with a file, in its order. It is an error.
type Problems []Problem

// Error lists the problems, one a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// orNil sorts the problems by line; nil when there are none.
func (p Problems) orNil() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return a.Line - b.Line })
	return p
}
