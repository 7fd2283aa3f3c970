package render

import (
	"fmt"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
)

// Kinds of documents about policy.
const (
	KindPolicy            = "Policy"
	KindPolicySet         = "PolicySet"
	KindPolicyTestReport  = "PolicyTestReport"
	KindPolicyExplanation = "PolicyExplanation"
	KindPolicyDiff        = "PolicyDiff"
)

// Policy answers `policy show -o json`. Source is the text as it was set.
type Policy struct {
	Type
	Version int    `json:"version"`
	Source  string `json:"source"`
}

// PolicySet answers `policy set -o json`.
type PolicySet struct {
	Type
	Version  int      `json:"version"`
	Bindings []string `json:"bindings"` // what was changed on role bindings
	Warnings []string `json:"warnings"`
}

// PolicyTestReport answers `policy test -o json`.
type PolicyTestReport struct {
	Type
	OK    bool         `json:"ok"`
	Cases []PolicyCase `json:"cases"`
}

// PolicyCase is how one case went.
type PolicyCase struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Want string `json:"want"`
	Got  string `json:"got"`
}

// PolicyTestDocument is the JSON form of test results.
func PolicyTestDocument(results []policy.TestResult) PolicyTestReport {
	report := PolicyTestReport{Type: Head(KindPolicyTestReport), OK: true, Cases: []PolicyCase{}}
	for _, r := range results {
		report.OK = report.OK && r.OK
		report.Cases = append(report.Cases, PolicyCase{Name: r.Name, OK: r.OK, Want: r.Want, Got: r.Got})
	}
	return report
}

// PolicyExplanation answers `policy explain -o json`.
type PolicyExplanation struct {
	Type
	Change        ChangeRef     `json:"change"`
	PolicyVersion int           `json:"policyVersion"`
	Changes       []Explanation `json:"changes"`
}

// Explanation says how one change came to its judgement.
type Explanation struct {
	Group       string         `json:"group"`
	Kind        string         `json:"kind"`
	Namespace   string         `json:"namespace"`
	Name        string         `json:"name"`
	Operation   plan.Operation `json:"operation"`
	Env         string         `json:"env"`
	Decision    string         `json:"decision"`
	Rule        string         `json:"rule"`
	Message     string         `json:"message"`
	NotEnforced bool           `json:"notEnforced,omitempty"`
	Tries       []Try          `json:"tries"`
}

// Try is one rule asked about one change.
type Try struct {
	Rule     string `json:"rule"`
	Decision string `json:"decision"`
	Matched  bool   `json:"matched"`
	Error    string `json:"error,omitempty"`
	Note     string `json:"note,omitempty"`
}

// ExplanationDocument is the JSON form of explanations.
func ExplanationDocument(r gate.Request, version int, explanations []policy.Explanation) PolicyExplanation {
	document := PolicyExplanation{Type: Head(KindPolicyExplanation), Change: *changeRef(&r), PolicyVersion: version, Changes: []Explanation{}}
	for _, e := range explanations {
		item := Explanation{Group: e.Key.Group, Kind: e.Key.Kind, Namespace: e.Key.Namespace, Name: e.Key.Name, Operation: e.Operation,
			Env: e.Env, Decision: e.Decision, Rule: e.Rule, Message: e.Message, NotEnforced: e.NotEnforced, Tries: []Try{}}
		for _, t := range e.Tries {
			item.Tries = append(item.Tries, Try{Rule: t.Rule, Decision: t.Decision, Matched: t.Matched, Error: t.Error, Note: t.Note})
		}
		document.Changes = append(document.Changes, item)
	}
	return document
}

// Explanations is how each change was judged, as text.
func (s Style) Explanations(version int, explanations []policy.Explanation) string {
	l := &lines{style: s}
	l.line(bold, fmt.Sprintf("under policy version %d:", version))
	for _, e := range explanations {
		judged := e.Decision
		if e.Rule != "" {
			judged += " by " + e.Rule
		}
		if e.NotEnforced {
			judged += ", not enforced"
		}
		l.line(plain, Escape(plan.Symbol(e.Operation)+" ")+Object(e.Key)+": "+Escape(judged+because(e.Message)))
		for _, t := range e.Tries {
			l.line(faint, indent+Escape(tried(t)))
		}
	}
	return l.out.String()
}

func tried(t policy.Try) string {
	text := fmt.Sprintf("%s (%s): ", t.Rule, t.Decision)
	switch {
	case t.Error != "":
		text += "could not be evaluated: " + t.Error
	case t.Matched:
		text += "matches"
	default:
		text += "does not match"
	}
	if t.Note != "" {
		text += "; " + t.Note
	}
	return text
}

// PolicyTests is how the cases went, as text.
func (s Style) PolicyTests(results []policy.TestResult) string {
	l := &lines{style: s}
	for _, r := range results {
		if r.OK {
			l.line(green, "ok    "+Escape(r.Name))
			continue
		}
		l.line(red, "FAIL  "+Escape(r.Name))
		l.line(plain, "      want "+Escape(r.Want))
		l.line(plain, "      got  "+Escape(r.Got))
	}
	return l.out.String()
}

// Diff is the difference of two texts; "" where they are equal.
func (s Style) Diff(before, after string) string {
	l := &lines{style: s}
	for _, line := range hunks(before, after) {
		l.line(hunkColour(line), line)
	}
	return l.out.String()
}
