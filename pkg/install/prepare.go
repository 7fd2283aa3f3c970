package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// Plan is an install that was observed and decided, and not yet carried out.
type Plan struct {
	cluster    Cluster
	options    Options
	client     client
	clusterUID string
	history    history
	people     policy.Roles // of the policy in force, or of the first one
	source     string       // of the first policy, where there is none yet
	objects    objects
	newEpoch   string // why one must be written; "": it need not
	tasks      []task
}

// Prepare looks at the cluster and decides what is missing. Options that
// contradict each other or what is installed are an error.
func Prepare(ctx context.Context, cluster Cluster, options Options) (*Plan, error) {
	p, err := observe(ctx, cluster, options)
	if err != nil {
		return nil, err
	}
	return p, p.decide(ctx)
}

// observe reads what is there, and settles what the options leave open.
func observe(ctx context.Context, cluster Cluster, options Options) (*Plan, error) {
	p := &Plan{cluster: cluster, options: options}
	var err error
	if p.client, err = newClient(cluster); err != nil {
		return nil, err
	}
	if p.clusterUID, err = p.client.clusterUID(ctx); err != nil {
		return nil, err
	}
	if p.history, err = readHistory(ctx, cluster.Store, p.clusterUID); err != nil {
		return nil, err
	}
	if err := p.settle(); err != nil {
		return nil, err
	}
	if p.objects, err = p.client.wanted(ctx, p.options, p.people); err != nil {
		return nil, err
	}
	for _, i := range p.objects.all() {
		if err := p.client.observe(ctx, i); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// settle takes from the records what the options leave open, and finds all
// contradictions.
func (p *Plan) settle() error {
	epoch := p.history.epoch()
	if p.options.GateUsers == nil {
		p.options.GateUsers = epoch.GateUsers
	}
	if p.options.GateGroups == nil {
		p.options.GateGroups = epoch.GateGroups
	}
	if p.options.People.Admins.Empty() {
		p.options.People.Admins = policy.Subjects{Users: []string{p.options.Caller.Username}}
	}
	if err := errors.Join(append(p.checkCaller(), p.checkPolicy()...)...); err != nil {
		return err
	}
	inForce := p.history.policy
	if inForce == nil {
		p.source = policy.Default(p.options.Name, p.options.Env, p.options.People)
		var err error
		if inForce, err = policy.Parse([]byte(p.source)); err != nil {
			return fmt.Errorf("the first policy: %w", err)
		}
	}
	p.people = inForce.Roles()
	gates, _ := splitGates(policy.Union(p.people.Approvers, p.people.Admins), p.options.GateUsers, p.options.GateGroups)
	if !gates.Empty() {
		return fmt.Errorf("a gate cannot approve or administer: %s", gates)
	}
	return nil
}

func (p *Plan) checkCaller() []error {
	o, problems := p.options, []error{}
	if err := admission.Check(o.GateUsers, o.GateGroups); err != nil {
		problems = append(problems, err)
	}
	if IsGate(o.Caller, o.GateUsers, o.GateGroups) {
		problems = append(problems, fmt.Errorf("%s is a gate, and could change nothing any more", o.Caller.Username))
	}
	if !person(o.Caller) {
		problems = append(problems, fmt.Errorf("%q is not a person: policy and epoch are written by people", o.Caller.Username))
	}
	return problems
}

func (p *Plan) checkPolicy() []error {
	var problems []error
	o, set := p.options, p.history.policy
	if set == nil {
		if o.Name == "" {
			problems = append(problems, errors.New("the cluster needs a name: --name"))
		}
		if o.People.Approvers.Empty() {
			problems = append(problems, errors.New("nobody could approve: name people with --approvers"))
		}
		return problems
	}
	if o.Name != "" && o.Name != set.ClusterName {
		problems = append(problems, fmt.Errorf("installed already, with the name %q, not %q", set.ClusterName, o.Name))
	}
	if o.Env != "" && o.Env != set.Env {
		problems = append(problems, fmt.Errorf("installed already, with the environment %q, not %q", set.Env, o.Env))
	}
	return problems
}

// person says whether admission takes the caller for one.
func person(caller state.Person) bool {
	system := strings.HasPrefix(caller.Username, "system:") && caller.Username != "system:admin"
	return caller.Username != "" && !system && !slices.Contains(caller.Groups, "system:serviceaccounts")
}

// Steps lists what Apply will do, in order; steps of ActionKeep are things
// that are there already.
func (p *Plan) Steps() []Step { return steps(p.tasks) }

// Installed says that nothing is missing.
func (p *Plan) Installed() bool {
	return !slices.ContainsFunc(p.tasks, func(t task) bool { return t.Action != ActionKeep })
}

// Apply carries the plan out and calls done after each step that is not
// ActionKeep. It can be stopped anywhere and prepared again.
func (p *Plan) Apply(ctx context.Context, done func(Step)) error {
	if p.NeedsSigner() && p.options.Signer == nil {
		return errors.New("the records of an install are signed: no key was given")
	}
	return runAll(ctx, p.tasks, done)
}
