package plan

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

// MaskText stands in text for a value that is masked: fixed, without a length.
const MaskText = "(masked)"

// AssignedText stands in text for a value that the server makes up.
const AssignedText = "(assigned by the server)"

// DiffersText stands in text for a value that differs from run to run.
const DiffersText = "(differs from run to run)"

// Summary counts objects by operation; Error those that could not be planned.
type Summary struct {
	Create  int `json:"create"`
	Update  int `json:"update"`
	Delete  int `json:"delete"`
	Replace int `json:"replace"`
	Hook    int `json:"hook"`
	None    int `json:"none"`
	Error   int `json:"error"`
}

// Summary of the plan.
func (p *Plan) Summary() Summary {
	out := Summary{None: len(p.Unchanged), Error: len(p.Failed)}
	for _, c := range p.Changes {
		switch c.Body.Operation {
		case Create:
			out.Create++
		case Update:
			out.Update++
		case Delete:
			out.Delete++
		case Replace:
			out.Replace++
		case Hook:
			out.Hook++
		}
	}
	return out
}

// Symbol is the sign in front of a change: + create, ~ update, - delete,
// ± replace, > hook, = none.
func Symbol(op Operation) string {
	switch op {
	case Create:
		return "+"
	case Update:
		return "~"
	case Delete:
		return "-"
	case Replace:
		return "±"
	case Hook:
		return ">"
	default:
		return "="
	}
}

// Title is a change in one line: sign, object, and what is done to it.
func Title(c Change) string {
	what := string(c.Body.Operation)
	if c.Body.Operation == Hook {
		what = strings.Join(append([]string{what}, c.Body.Phases...), " ")
	}
	return fmt.Sprintf("%s %s (%s)", Symbol(c.Body.Operation), c.Body.Key(), what)
}

// TransitionText is a transition in one line.
func TransitionText(t diff.Transition) string {
	if IsDiffers(t.New) {
		return "  " + t.Path + ": " + DiffersText
	}
	switch t.Action {
	case diff.Add:
		return "+ " + t.Path + ": " + ValueText(t.New)
	case diff.Remove:
		return "- " + t.Path + ": " + ValueText(t.Old)
	case diff.Order:
		return "  " + t.Path + " (order): " + ValueText(t.Old) + " → " + ValueText(t.New)
	default:
		return "  " + t.Path + ": " + ValueText(t.Old) + " → " + ValueText(t.New)
	}
}

// AdmissionText is a value that the server adds, in one line.
func AdmissionText(a AdmissionValue) string {
	switch a.Mark {
	case MarkAssigned:
		return a.Path + " " + AssignedText
	case MarkDiffers:
		return a.Path + " (set by admission, differs each time)"
	}
	if a.Value == nil {
		return "taken away by admission: " + a.Path
	}
	return "set by admission: " + a.Path + " = " + ValueText(a.Value)
}

// Marks of an AdmissionValue that has no value to bind.
const (
	MarkAssigned = "assigned"
	MarkDiffers  = "differs"
)

// ValueText is a value as JSON in one line, masked values as MaskText. Control
// characters in it are render's to escape.
func ValueText(value any) string {
	if _, masked := value.(state.Masked); masked {
		return MaskText
	}
	if IsAssigned(value) {
		return AssignedText
	}
	return jsonOf(Shown(value))
}

func jsonOf(value any) string {
	text, err := state.Canonical(value)
	if err != nil { // decoded JSON always has a form
		return "null"
	}
	return string(text)
}

// Text is the plan as tests compare it: one line a change, its transitions
// indented below, without colour, width or policy.
func Text(p *Plan) string {
	var out strings.Builder
	for _, c := range p.Changes {
		fmt.Fprintln(&out, Title(c))
		for _, t := range c.Body.Transitions {
			fmt.Fprintln(&out, "   "+TransitionText(t))
		}
		for _, a := range c.Body.Admission {
			fmt.Fprintln(&out, "     "+AdmissionText(a))
		}
	}
	for _, c := range p.Unchanged {
		if c.Skipped != "" {
			fmt.Fprintf(&out, "%s: %s\n", Title(c), c.Skipped)
		}
	}
	for _, f := range p.Failed {
		fmt.Fprintf(&out, "! %s (error): %s: %s\n", f.Key, f.Reason, f.Message)
	}
	return out.String()
}
