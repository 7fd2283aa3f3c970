package install

import (
	"context"
	"io"

	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Records is the store of records, and the probe of the policy over them.
type Records interface {
	state.Store
	// Canary sends, as a dry run, a plan in the name of actor. It returns nil
	// only if the records policy refused it in its own words; a
	// *cluster.CanaryError says why it proved nothing.
	Canary(ctx context.Context, actor string) error
}

// falseActor is nobody: the name in which canaries are sent.
const falseActor = "changeward:canary"

// Cluster is where an install lives, seen as one user.
type Cluster struct {
	Config *rest.Config
	Store  Records
}

// Options of an install.
type Options struct {
	Name, Env string       // clusterName and env of the first policy
	People    policy.Roles // of the first policy; no admins: the caller

	// GateUsers and GateGroups are further gate identities, for clouds that
	// cannot map GateGroup. nil keeps what is installed.
	GateUsers, GateGroups []string
	// Scope lists the namespaces that gates may plan; empty: what is
	// installed, else the whole cluster.
	Scope []string
	// ArgoCD is the namespace of an Argo CD whose hook Jobs are gates in each
	// namespace of Scope; "" makes no identity for them.
	ArgoCD string
	// NoSecrets leaves Secrets out of the planning rights, now and whenever
	// the install is run again.
	NoSecrets bool

	Caller     state.Person // with all groups, as the API server knows the admin
	Credential string       // of the caller, where the server names one
	Signer     sign.Signer  // the admin's own key: signs the records; see Plan.NeedsSigner
	Rand       io.Reader    // for the digest key
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

// Step is one thing that a Plan or a Removal will do.
type Step struct {
	Action string `json:"action"`
	Object string `json:"object"` // Kind/namespace/name or Kind/name
	Detail string `json:"detail,omitempty"`
}

// task is a Step and what does it.
type task struct {
	Step
	run func(ctx context.Context) error
}

func steps(tasks []task) []Step {
	all := make([]Step, 0, len(tasks))
	for _, t := range tasks {
		all = append(all, t.Step)
	}
	return all
}

// runAll does all but the steps of ActionKeep, in order, up to the first error.
func runAll(ctx context.Context, tasks []task, done func(Step)) error {
	for _, t := range tasks {
		if t.Action == ActionKeep {
			continue
		}
		if err := t.run(ctx); err != nil {
			return err
		}
		if done != nil {
			done(t.Step)
		}
	}
	return nil
}
