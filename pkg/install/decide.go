package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/state"
)

// How long an API server may take to act on a new admission policy, and how
// often it is asked.
const (
	fenceTimeout  = 60 * time.Second
	fenceInterval = 250 * time.Millisecond
)

// decide lines up the tasks: namespaces, fence, rights, keys, records.
func (p *Plan) decide(ctx context.Context) error {
	gateKey, err := p.client.gatePublic(ctx)
	if err != nil {
		return err
	}
	digestKey, err := p.client.digestKey(ctx)
	if err != nil {
		return err
	}
	p.newEpoch = p.whyEpoch(gateKey)
	if err := p.decideObjects(); err != nil {
		return err
	}
	p.add(missing(gateKey != ""), "Secret/"+NamespaceGate+"/"+GateKeySecret, "the gate's signing key", p.client.makeGateKey)
	p.add(missing(digestKey), "Secret/"+NamespaceGate+"/"+DigestKeySecret, "keeps digests of Secret values from being guessed",
		func(ctx context.Context) error { return p.client.makeDigestKey(ctx, p.options.Rand) })
	return p.decideRecords(ctx)
}

func missing(there bool) string {
	if there {
		return ActionKeep
	}
	return ActionCreate
}

func (p *Plan) add(action, object, detail string, run func(context.Context) error) {
	p.tasks = append(p.tasks, task{Step: Step{Action: action, Object: object, Detail: detail}, run: run})
}

func (p *Plan) decideObjects() error {
	var absent []string
	for _, i := range p.objects.all() {
		if p.options.Finish && i.action() != ActionKeep && i.want.GetName() != RolePlan {
			absent = append(absent, fmt.Sprintf("%s (%s)", i, i.action()))
		}
	}
	if len(absent) > 0 {
		return fmt.Errorf("nothing to finish yet, these are missing or differ: %s", strings.Join(absent, ", "))
	}
	p.addItems(p.objects.namespaces)
	p.addItems(p.objects.fence)
	if p.fenceChanges() || p.NeedsSigner() {
		p.add(ActionWait, "ValidatingAdmissionPolicy/"+admission.RecordsPolicy, "until it refuses a false record", p.awaitFence)
	}
	p.addItems(p.objects.rights)
	return nil
}

func (p *Plan) addItems(items []item) {
	for n := range items {
		i := &items[n]
		action := i.action()
		if p.options.Finish {
			action = ActionKeep
		}
		detail := ""
		if action == ActionUpdate {
			detail = "differs in " + strings.Join(i.differences(), ", ")
		}
		p.add(action, i.String(), detail, func(ctx context.Context) error { return p.client.ensure(ctx, i) })
	}
}

func (p *Plan) fenceChanges() bool {
	return slices.ContainsFunc(p.objects.fence, func(i item) bool {
		return i.live == nil || slices.Contains(i.differences(), "spec")
	})
}

// whyEpoch says why the newest epoch does not describe what will be there;
// "" means that it does.
func (p *Plan) whyEpoch(gateKey string) string {
	last := p.history.epoch()
	switch {
	case last.Version == 0:
		return "from now on records are attested"
	case p.fenceChanges(), last.Admission != admission.Version:
		return "the admission text changes"
	case !slices.Equal(admissionObjects(p.objects.fence), last.Objects):
		return fmt.Sprintf("admission policies were changed since epoch %d; records written since then are not attested", last.Version)
	case gateKey != last.GateKey:
		return "the gate has a new key"
	}
	return ""
}

// NeedsSigner says that Apply will write records, and so needs Options.Signer.
func (p *Plan) NeedsSigner() bool { return p.newEpoch != "" || p.history.policy == nil }

func (p *Plan) decideRecords(ctx context.Context) error {
	if !p.NeedsSigner() {
		p.add(ActionKeep, recordObject(state.TypeEpoch, p.history.epoch().Version), "", nil)
		p.add(ActionKeep, recordObject(state.TypePolicy, 1), "", nil)
		return nil
	}
	w := &writer{store: p.cluster.Store, signer: p.options.Signer, clusterUID: p.clusterUID,
		actor: relevant(p.options.Caller, p.people), credential: p.options.Credential}
	if err := p.decideKey(w); err != nil {
		return err
	}
	if p.newEpoch != "" && w.signer != nil {
		now, err := p.cluster.Store.Now(ctx)
		if err != nil {
			return fmt.Errorf("read the server's clock: %w", err)
		}
		if err := p.history.mayWriteEpoch(w.actor, w.signer, now); err != nil {
			return err
		}
	}
	if p.newEpoch != "" {
		p.add(ActionCreate, recordObject(state.TypeEpoch, p.history.epoch().Version+1), p.newEpoch,
			func(ctx context.Context) error { return p.writeEpoch(ctx, w) })
	}
	if p.history.policy == nil {
		p.add(ActionCreate, recordObject(state.TypePolicy, 1), "the first policy", func(ctx context.Context) error {
			return w.firstPolicy(ctx, p.source)
		})
	}
	return nil
}

// decideKey enrolls the caller's key where it is not. Without a signer yet,
// it is shown as if it had to be.
func (p *Plan) decideKey(w *writer) error {
	detail := "enrolls your own key"
	if w.signer != nil {
		needed, err := p.history.enrollment(w.signer, w.actor.Username)
		if err != nil || !needed {
			return err
		}
		detail = "enrolls your key " + fingerprint(w.signer)
	}
	p.add(ActionCreate, "ConfigMap/"+Namespace+"/cw-key-…", detail, w.enroll)
	return nil
}

func (p *Plan) writeEpoch(ctx context.Context, w *writer) error {
	gateKey, err := p.client.gatePublic(ctx)
	if err != nil {
		return err
	}
	fence := slices.Clone(p.objects.fence)
	for i := range fence {
		if err := p.client.observe(ctx, &fence[i]); err != nil {
			return err
		}
	}
	if _, ok := admission.Matches(liveOf(fence), p.options.GateUsers, p.options.GateGroups); !ok {
		return errors.New("somebody changes the admission policies at this moment; look again")
	}
	return w.epoch(ctx, p.history, fence, p.options.GateUsers, p.options.GateGroups, gateKey)
}

func liveOf(items []item) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, i := range items {
		if i.live != nil {
			all = append(all, i.live)
		}
	}
	return all
}

func recordObject(t state.Type, version int) string {
	return "ConfigMap/" + Namespace + "/" + state.NumberedName(t, version)
}

// awaitFence waits until the records policy refuses a false record. The gate's
// own policy was made before it, and servers take them up in that order.
func (p *Plan) awaitFence(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, fenceInterval, fenceTimeout, true, func(ctx context.Context) (bool, error) {
		last = p.cluster.Store.Canary(ctx, falseActor)
		return last == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("the admission policy does not act: %w", last)
	}
	return err
}
