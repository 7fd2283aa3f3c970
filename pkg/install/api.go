package install

import (
	"context"
	"io"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// ErrCanaryAdmitted is the answer of a Canary that was let through.
const ErrCanaryAdmitted = canaryError("a false record was admitted")

type canaryError string

func (e canaryError) Error() string { return string(e) }

// Canary asks the API server to create, as a dry run, a record in a false
// name. nil: the records policy refused it with its own message.
// ErrCanaryAdmitted: it was let through. Any other error: something else
// answered.
type Canary func(ctx context.Context) error

// Cluster is where an install lives.
type Cluster struct {
	Config *rest.Config
	Store  state.Store // of namespace Namespace
	Canary Canary
}

// People are the subjects a policy names, by role.
type People struct {
	Proposers, Approvers, Admins, Auditors policy.Subjects
}

// Options of an install.
type Options struct {
	Name, Env string // clusterName and env of the first policy
	People    People // of the first policy

	// GateUsers and GateGroups are further gate identities, for clouds that
	// cannot map GateGroup. nil keeps what is installed.
	GateUsers, GateGroups []string
	// Scope lists the namespaces that gates may plan; empty: the whole cluster.
	Scope []string
	// NoSecrets leaves Secrets out of the planning rights.
	NoSecrets bool

	Caller     state.Person // with all groups, as the API server knows the admin
	Credential string       // of the caller, where the server names one
	Signer     sign.Signer  // the admin's own key: signs epoch and policy
	Rand       io.Reader    // for the key Secrets
	// Finish makes keys and records only; the objects must be there already.
	Finish bool
}

// Actions of a Step.
const (
	ActionCreate = "create"
	ActionUpdate = "update"
	ActionDelete = "delete"
	ActionKeep   = "keep"
	ActionWait   = "wait"
)

// Step is one thing that a plan will do.
type Step struct {
	Action string `json:"action"`
	Object string `json:"object"` // Kind/namespace/name or Kind/name
	Detail string `json:"detail,omitempty"`
}

// Plan is an install that was observed and decided, and not yet carried out.
type Plan struct{}

// Prepare looks at the cluster and decides what is missing. Options that
// contradict what is installed are an error.
func Prepare(ctx context.Context, cluster Cluster, options Options) (*Plan, error) { panic("to do") }

// Steps lists what Apply will do, in order; steps of ActionKeep are things
// that are there already.
func (p *Plan) Steps() []Step { panic("to do") }

// Apply carries the plan out and calls done after each step that is not
// ActionKeep. It can be stopped anywhere and prepared again.
func (p *Plan) Apply(ctx context.Context, done func(Step)) error { panic("to do") }

// Export writes the YAML of all objects but keys and records.
func Export(ctx context.Context, cluster Cluster, options Options, out io.Writer) error {
	panic("to do")
}

// Removal is an uninstall that was observed and not yet carried out.
type Removal struct{}

// PrepareUninstall lists what an install left in the cluster.
func PrepareUninstall(ctx context.Context, cluster Cluster) (*Removal, error) { panic("to do") }

// Steps lists what Apply will delete, in order.
func (r *Removal) Steps() []Step { panic("to do") }

// Apply deletes: bindings, policies, then namespaces with all records, roles
// last. It returns when nothing is left.
func (r *Removal) Apply(ctx context.Context, done func(Step)) error { panic("to do") }

// Statuses of a Check.
const (
	StatusOK   = "ok"
	StatusWarn = "warn"
	StatusFail = "fail"
)

// Check is one answer of the doctor.
type Check struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// Report is all answers of the doctor.
type Report struct {
	Checks []Check `json:"checks"`
}

// Doctor examines an install as the caller sees it.
func Doctor(ctx context.Context, cluster Cluster, caller state.Person) (Report, error) {
	panic("to do")
}

// Standing is what one run found out about the fence. Void is the reason
// constant why nothing can be taken as attested now, "" if the fence stands
// since Epoch.
type Standing struct {
	Void, Detail string
	Epoch        int
}

// Attest compares the live fence with the epochs (oldest first, verified by
// the caller) and sends the canary.
func Attest(ctx context.Context, cluster Cluster, epochs []state.Epoch) Standing { panic("to do") }

// IsGate says whether admission takes this person (with all groups) for a
// gate, given the further gate users and groups of the epoch.
func IsGate(person state.Person, users, groups []string) bool { panic("to do") }

// GateTooPowerful lists the rights by which the caller could take the fence
// down or step around it, as sentences; none is fine. For a gate any of them
// refuses the plan (ReasonGateTooPowerful), for a person it is a note.
func GateTooPowerful(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	panic("to do")
}

// TokenOptions describe a service account for a robot.
type TokenOptions struct {
	Name     string
	Role     string        // "propose" or "approve"
	Duration time.Duration // asked for; the server may give less
	Scope    []string      // propose: namespaces it may plan; empty: the whole cluster
}

// Token is a kubeconfig with a token in it, and when that dies.
type Token struct {
	Account    string // system:serviceaccount:…
	Kubeconfig []byte
	Expires    time.Time
}

// CreateToken makes the service account if it is not there, binds its roles
// and asks for a token.
func CreateToken(ctx context.Context, cluster Cluster, options TokenOptions) (Token, error) {
	panic("to do")
}

// SyncBindings keeps one RoleBinding per role in step with the people a policy
// names, and returns the changes as sentences; with dryRun it only returns
// them. epoch names the further gate users and groups.
func SyncBindings(ctx context.Context, cluster Cluster, people People, epoch state.Epoch, dryRun bool) ([]string, error) {
	panic("to do")
}
