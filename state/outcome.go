package state

import (
	"fmt"
	"slices"
)

// Results of an outcome.
const (
	// ResultStarted: the first write of an apply is about to be sent. Alone, it
	// says that anything from nothing to all may have been written since.
	ResultStarted = "started"
	// ResultWritten: some objects of an apply that goes on, each with its result.
	ResultWritten = "written"
	// ResultStopped: an apply ended before all was written.
	ResultStopped = "stopped"
	// ResultApplied: all that was approved is in the cluster.
	ResultApplied = "applied"
	// ResultUnready: all is written, and not all of it came to run in time.
	ResultUnready = "unready"
	// ResultResumed: what was left of the plan passed the gate.
	ResultResumed = "resumed"
	// ResultDiverged: live objects are not, or no longer, as was approved.
	ResultDiverged = "diverged"
	// ResultReconciled: Git has what was applied past it.
	ResultReconciled = "reconciled"
)

// Results of one object.
const (
	ObjectWritten    = "written"
	ObjectUnchanged  = "unchanged" // it was as approved already
	ObjectFailed     = "failed"    // the server refused; Reason says why
	ObjectUnknown    = "unknown"   // sent, and no answer came
	ObjectUntried    = "untried"   // nothing was sent
	ObjectUnready    = "unready"
	ObjectDiverged   = "diverged"
	ObjectReconciled = "reconciled"
)

// Outcome says what became of an allowed plan; the subject is the request and
// the plan hash. It never holds a value of an object.
type Outcome struct {
	Actor      Person         `json:"actor"`
	ClusterUID string         `json:"clusterUID"`
	Number     int            `json:"number"`
	Objects    []ObjectResult `json:"objects,omitempty"`
	Observed   bool           `json:"observed,omitempty"` // seen, not done by changeward
	Plan       string         `json:"plan,omitempty"`     // resumed, started: hash of the plan that passed as what is left of this one
	Result     string         `json:"result"`
	Revision   string         `json:"revision,omitempty"` // reconciled: of Git, where the change was seen
	Sequence   int            `json:"sequence"`
	Time       string         `json:"time"`
}

// ObjectResult is what became of one object of a plan.
type ObjectResult struct {
	Digest    string   `json:"digest,omitempty"` // of the change
	Fields    []string `json:"fields,omitempty"` // diverged, reconciled: paths
	Group     string   `json:"group"`
	Kind      string   `json:"kind"`
	Managers  []string `json:"managers,omitempty"` // diverged: who wrote these fields since
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	Operation string   `json:"operation,omitempty"`
	Reason    string   `json:"reason,omitempty"` // a constant
	Result    string   `json:"result"`
	UID       string   `json:"uid,omitempty"` // of the object that was written, or is gone
	Version   string   `json:"version"`
}

// MaxObjects is how many objects one outcome names at most, so that it fits in
// a record; more go into further ones.
const MaxObjects = 500

// Check names a result that this version does not know.
func (o Outcome) Check() error {
	if !slices.Contains([]string{ResultStarted, ResultWritten, ResultStopped, ResultApplied, ResultUnready, ResultResumed,
		ResultDiverged, ResultReconciled}, o.Result) {
		return fmt.Errorf("unknown result %q of an outcome", o.Result)
	}
	known := []string{ObjectWritten, ObjectUnchanged, ObjectFailed, ObjectUnknown, ObjectUntried, ObjectUnready, ObjectDiverged, ObjectReconciled}
	for _, object := range o.Objects {
		if !slices.Contains(known, object.Result) {
			return fmt.Errorf("unknown result %q of %s %s", object.Result, object.Kind, object.Name)
		}
	}
	return nil
}

// Unfinished says that an apply goes on, or that what it left may be resumed.
func (o Outcome) Unfinished() bool {
	return slices.Contains([]string{ResultStarted, ResultWritten, ResultStopped}, o.Result)
}
