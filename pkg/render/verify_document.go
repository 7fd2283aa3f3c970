package render

import (
	"fmt"
	"slices"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// KindVerifyResult is the kind of what verify answers.
const KindVerifyResult = "VerifyResult"

// Verified is what a look at live objects found.
type Verified struct {
	Request *gate.Request
	Result  string // applied, diverged, or "": not applied, all is as before
	Objects []Compared
}

// Compared is one object of a plan, and how it differs from what was approved.
type Compared struct {
	Change      plan.Change
	Differences []plan.Difference
}

// Result is the comparison as an outcome has it: paths and managers, no values.
func (c Compared) Result() state.ObjectResult {
	b := c.Change.Body
	r := state.ObjectResult{Digest: c.Change.Digest, Group: b.Group, Version: b.Version, Kind: b.Kind, Namespace: b.Namespace, Name: b.Name,
		Operation: string(b.Operation), Result: state.ObjectDiverged}
	for _, d := range c.Differences {
		if d.Path != "" {
			r.Fields = append(r.Fields, d.Path)
		}
		if m := d.Holder.Manager; m != "" && !slices.Contains(r.Managers, m) {
			r.Managers = append(r.Managers, m)
		}
	}
	slices.Sort(r.Managers)
	return r
}

// VerifyResult answers `verify -o json`.
type VerifyResult struct {
	Type
	Change *ChangeRef `json:"change"`
	// Result is applied, diverged, or "" where all is as it was before.
	Result   string           `json:"result"`
	Compared int              `json:"compared"` // objects
	Objects  []VerifiedObject `json:"objects"`  // that differ
}

// VerifiedObject is one object that is not as approved.
type VerifiedObject struct {
	Group       string       `json:"group"`
	Version     string       `json:"version"`
	Kind        string       `json:"kind"`
	Namespace   string       `json:"namespace"`
	Name        string       `json:"name"`
	Operation   string       `json:"operation"`
	Differences []Difference `json:"differences"`
}

// Difference is one field that is not as approved, or, without a path, what is
// wrong with the object as a whole.
type Difference struct {
	Path    string `json:"path,omitempty"`
	Want    any    `json:"want,omitempty"` // left out: it should not be there
	Have    any    `json:"have,omitempty"` // left out: it is not there
	Message string `json:"message,omitempty"`
	Manager string `json:"manager,omitempty"`
	Time    string `json:"time,omitempty"`
}

// VerifyDocument is the JSON form of a verification.
func VerifyDocument(v *Verified) VerifyResult {
	document := VerifyResult{Type: Head(KindVerifyResult), Change: changeRef(v.Request), Result: v.Result, Compared: len(v.Objects), Objects: []VerifiedObject{}}
	for _, o := range v.Objects {
		if len(o.Differences) == 0 {
			continue
		}
		b := o.Change.Body
		object := VerifiedObject{Group: b.Group, Version: b.Version, Kind: b.Kind, Namespace: b.Namespace, Name: b.Name, Operation: string(b.Operation)}
		for _, d := range o.Differences {
			object.Differences = append(object.Differences, Difference{Path: d.Path, Want: plan.Shown(d.Want), Have: plan.Shown(d.Have),
				Message: d.Why, Manager: d.Holder.Manager, Time: stamp(d.Holder.Time)})
		}
		document.Objects = append(document.Objects, object)
	}
	return document
}

// Verified is a verification as text.
func (s Style) Verified(v *Verified) string {
	l := &lines{style: s}
	said, colour := "not applied: all is as it was before", yellow
	switch v.Result {
	case state.ResultApplied:
		said, colour = "as approved: "+count(len(v.Objects), "object", "objects"), green
	case state.ResultDiverged:
		said, colour = "not as approved", red
	}
	l.line(colour, fmt.Sprintf("change %s (#%d): %s", Escape(v.Request.ID), v.Request.Number, said))
	for _, o := range v.Objects {
		if len(o.Differences) > 0 {
			l.line(plain, "✗ "+Escape(o.Change.Body.Key().String()))
		}
		for _, d := range o.Differences {
			l.line(plain, "     "+Escape(difference(d)))
		}
	}
	return l.out.String()
}

func difference(d plan.Difference) string {
	text := d.Why
	if d.Path != "" {
		text = d.Path + ": want " + shortValue(d.Want) + ", is " + shortValue(d.Have)
	}
	if d.Holder.Manager != "" {
		text += ", by " + d.Holder.Manager
		if !d.Holder.Time.IsZero() {
			text += " at " + Time(d.Holder.Time)
		}
	}
	return text
}

func shortValue(value any) string {
	if value == nil {
		return "nothing"
	}
	text, err := state.Canonical(plan.Shown(value))
	if err != nil {
		return "a value without a form"
	}
	const most = 120
	if runes := []rune(string(text)); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(text)
}
