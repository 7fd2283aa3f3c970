package render

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/apply"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// KindApplyResult is the kind of what apply and rollback answer.
const KindApplyResult = "ApplyResult"

// Applied is how far a direct apply came.
type Applied struct {
	View     PlanView
	Gate     *gate.Result
	Result   string // of the outcome; "" where nothing was allowed
	Objects  []state.ObjectResult
	Rollouts []apply.Rollout
	Lost     []string // what a rollback cannot bring back
}

// OrNil is nil where the gate was not even asked.
func (a *Applied) OrNil() *Applied {
	if a.Gate == nil {
		return nil
	}
	return a
}

// Add takes results of a part over. An object that was tried again counts once.
func (a *Applied) Add(results []state.ObjectResult) { a.Objects = append(a.Objects, results...) }

// ApplyResult answers `apply -o json` and `rollback -o json`.
type ApplyResult struct {
	Type
	// Result is applied, unready, stopped, or "" where nothing was allowed.
	Result   string               `json:"result"`
	Gate     GateResult           `json:"gate"`
	Objects  []state.ObjectResult `json:"objects"`
	Rollouts []Rollout            `json:"rollouts"`
	Lost     []string             `json:"lost,omitempty"`
}

// Rollout is how a workload stands, in kstatus' words.
type Rollout struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     string `json:"state"`
	Message   string `json:"message,omitempty"`
}

// ApplyDocument is the JSON form of a direct apply.
func ApplyDocument(a *Applied) ApplyResult {
	document := ApplyResult{Type: Head(KindApplyResult), Result: a.Result, Gate: GateDocument(a.View, a.Gate),
		Objects: list(a.Objects), Rollouts: []Rollout{}, Lost: a.Lost}
	for _, r := range a.Rollouts {
		document.Rollouts = append(document.Rollouts, Rollout{Group: r.Key.Group, Version: r.Version, Kind: r.Key.Kind,
			Namespace: r.Key.Namespace, Name: r.Key.Name, State: r.State, Message: r.Message})
	}
	return document
}

// Applied is a direct apply as text: what the gate said, and how it ended. The
// single objects were told on the way.
func (s Style) Applied(a *Applied) string {
	out := s.Gate(a.View, a.Gate)
	l := &lines{style: s}
	if a.Result == "" {
		return out
	}
	counts := map[string]int{}
	for _, r := range a.Objects {
		counts[r.Result]++
	}
	var parts []string
	for _, result := range []string{state.ObjectWritten, state.ObjectUnchanged, state.ObjectFailed, state.ObjectUnknown, state.ObjectUntried} {
		if n := counts[result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, result))
		}
	}
	colour := green
	if a.Result != state.ResultApplied {
		colour = red
	}
	if len(parts) == 0 {
		parts = []string{"nothing was left to write"}
	}
	l.line(colour, a.Result+": "+strings.Join(parts, ", "))
	return out + l.out.String()
}

// ObjectResult is what became of one object, as a line of the story. failure may
// be nil.
func (s Style) ObjectResult(r state.ObjectResult, failure *plan.Failure) string {
	l := &lines{style: s}
	colour, text := plain, objectResult(r)
	if failure != nil {
		colour, text = red, text+": "+failure.Message
	}
	l.line(colour, Escape(text))
	return l.out.String()
}

// Rollout is how a workload stands, as a line of the story.
func (s Style) Rollout(r apply.Rollout) string {
	l := &lines{style: s}
	l.line(plain, Escape(r.Key.String()+": "+r.State+because(r.Message)))
	return l.out.String()
}
