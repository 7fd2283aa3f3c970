package render

import "github.com/changeward/changeward/pkg/plan"

// Kinds of documents.
const (
	KindGateResult        = "GateResult"
	KindGateResultList    = "GateResultList"
	KindPlan              = "Plan"
	KindPlanList          = "PlanList"
	KindChangeRequest     = "ChangeRequest"
	KindChangeRequestList = "ChangeRequestList"
	KindError             = "Error"
)

// Type stands at the head of every document.
type Type struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// Head is the Type of a kind in the current version.
func Head(kind string) Type { return Type{APIVersion: APIVersion, Kind: kind} }

// GateResult answers `gate -o json`.
type GateResult struct {
	Type
	Enforced      bool       `json:"enforced"`
	Verdict       Verdict    `json:"verdict"`
	Change        *ChangeRef `json:"change"` // null: nothing was recorded
	Plan          Plan       `json:"plan"`
	PolicyVersion int        `json:"policyVersion"`
	Resumed       bool       `json:"resumed,omitempty"`
	Stale         []Stale    `json:"stale,omitempty"`
	StaleChange   *ChangeRef `json:"staleChange,omitempty"` // the approved request that this plan voids
	Warnings      []string   `json:"warnings,omitempty"`
	ChainHead     string     `json:"chainHead,omitempty"`
}

// PlanResult answers `plan -o json`: the members of Plan, and what policy
// would say.
type PlanResult struct {
	Type
	Plan
	Enforced bool     `json:"enforced"`
	Verdict  *Verdict `json:"verdict"` // null: no install, no policy
}

// GateResultList answers `gate -o json` for several owners, in the order in which
// they depend on each other.
type GateResultList struct {
	Type
	Items  []GateResult `json:"items"`
	Errors []Problem    `json:"errors"` // of owners that have no answer
}

// PlanList answers a plan of several owners.
type PlanList struct {
	Type
	Items  []PlanResult `json:"items"`
	Errors []Problem    `json:"errors"` // of owners that have no answer
}

// Verdict of the gate. Decision is allowed, approval-required, denied or
// error.
type Verdict struct {
	Decision     string        `json:"decision"`
	Reasons      []Reason      `json:"reasons"`
	Requirements []Requirement `json:"requirements"`
}

// Reason is a constant and a sentence.
type Reason struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Requirement is who must approve, how many, and how many have.
type Requirement struct {
	Rule    string   `json:"rule"`
	Groups  []string `json:"groups,omitempty"`
	Users   []string `json:"users,omitempty"`
	Count   int      `json:"count"`
	Met     int      `json:"met"`
	Message string   `json:"message"`
}

// ChangeRef points to a change request.
type ChangeRef struct {
	ID     string `json:"id"`
	Number int    `json:"number"`
	Status string `json:"status"`
}

// Stale is one way in which a plan differs from an approved one of its scope.
type Stale struct {
	Cause   string `json:"cause"`
	Object  string `json:"object"`
	Path    string `json:"path,omitempty"`
	Manager string `json:"manager,omitempty"`
	Time    string `json:"time,omitempty"`
	Message string `json:"message"`
}

// Plan is a plan without a head.
type Plan struct {
	ID         string       `json:"id"`
	Hash       string       `json:"hash"`
	Complete   bool         `json:"complete"`
	Reversible bool         `json:"reversible"`
	Scope      string       `json:"scope"`
	Cluster    plan.Cluster `json:"cluster"`
	Namespaces []string     `json:"namespaces"`
	Prune      bool         `json:"prune"`
	Summary    plan.Summary `json:"summary"`
	Changes    []Change     `json:"changes"`
	Errors     []Problem    `json:"errors"`
	Notes      []string     `json:"notes,omitempty"`
}

// Change is one object and its operation. Update carries fields; create,
// delete, replace and hook carry the object, masked.
type Change struct {
	Operation        plan.Operation        `json:"operation"`
	Group            string                `json:"group"`
	Version          string                `json:"version"`
	Kind             string                `json:"kind"`
	Namespace        string                `json:"namespace"`
	Name             string                `json:"name"`
	Env              string                `json:"env"`
	Digest           string                `json:"digest"`
	Reversible       bool                  `json:"reversible"`
	Irreversible     string                `json:"irreversible,omitempty"` // why
	Unverified       bool                  `json:"unverified"`
	UnverifiedReason string                `json:"unverifiedReason,omitempty"`
	Owner            *string               `json:"owner"`
	Risks            []plan.Risk           `json:"risks"`
	Source           string                `json:"source"`
	Skipped          string                `json:"skipped,omitempty"` // why the applier leaves the object alone
	Applier          plan.Applier          `json:"applier"`
	Phases           []string              `json:"phases,omitempty"`
	Fields           []Field               `json:"fields,omitempty"`
	Object           any                   `json:"object,omitempty"`
	Admission        []plan.AdmissionValue `json:"admission,omitempty"`
	TakesOver        []plan.Takeover       `json:"takesOver,omitempty"`
	Deletion         *Deletion             `json:"deletion,omitempty"`
	Notes            []string              `json:"notes"`
}

// Field is one transition. Old is absent for add, New for remove.
type Field struct {
	Path   string `json:"path"`
	Action string `json:"action"`
	Old    *any   `json:"old,omitempty"`
	New    *any   `json:"new,omitempty"`
}

// Deletion says what goes with a deleted object.
type Deletion struct {
	Propagation string            `json:"propagation"`
	Guards      map[string]string `json:"guards,omitempty"`   // annotations of the live object that steer pruning
	Contents    map[string]int    `json:"contents,omitempty"` // by kind
	Wanted      int               `json:"wanted,omitempty"`   // how many of the contents the manifests hold
	Volumes     []string          `json:"volumes,omitempty"`  // UIDs of claims
	Claims      []string          `json:"claims,omitempty"`   // their names
}

// Problem is one object or input that could not be handled.
type Problem struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Source    string `json:"source"`
	Path      string `json:"path,omitempty"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

// Error is the one document of a command that failed before it had a result.
type Error struct {
	Type
	Reason   string    `json:"reason"`
	Message  string    `json:"message"`
	ExitCode int       `json:"exitCode"`
	Hints    []string  `json:"hints"`
	Errors   []Problem `json:"errors"`
}
