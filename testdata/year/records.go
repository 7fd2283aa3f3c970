package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
)

// year writes records as gates and people would.
type year struct {
	*plane
	gate, alice   sign.Signer
	admin, person state.Store
	uid           string
	written       int    // changes
	entry         int    // newest entry
	head          string // its digest
}

func (c *plane) install(ctx context.Context) (*year, error) {
	y := &year{plane: c}
	var err error
	for _, who := range []string{"admin", "alice"} {
		if y.alice, err = sign.CreateKey(c.key(who), who); err != nil {
			return nil, err
		}
	}
	if _, err := c.run(ctx, "admin", "install", "--name", "year", "--env", "prod", "--approvers", "group:sre", "--yes"); err != nil {
		return nil, err
	}
	if _, err := c.run(ctx, "alice", "signer", "enroll", "--yes"); err != nil {
		return nil, err
	}
	config, err := c.config("admin", nil)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	system, err := client.CoreV1().Namespaces().Get(ctx, "kube-system", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	y.uid = string(system.UID)
	secret, err := client.CoreV1().Secrets(install.NamespaceGate).Get(ctx, install.GateKeySecret, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if y.gate, err = sign.ParseGateKey(secret.Data[install.DataKey]); err != nil {
		return nil, err
	}
	if y.admin, err = cluster.New(config); err != nil {
		return nil, err
	}
	if config, err = c.config("alice", nil); err == nil {
		y.person, err = cluster.New(config)
	}
	return y, err
}

// write adds so many changes of each application, each proposed, approved,
// allowed and applied.
func (y *year) write(ctx context.Context, apps, changes int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for range changes {
		for app := range apps {
			y.written++
			records, err := y.change(fmt.Sprintf("apps/app-%02d", app), y.written)
			if err != nil {
				return err
			}
			group.Go(func() error { return records(ctx) })
		}
	}
	return group.Wait()
}

// change signs the records of one change, and returns what stores them. The
// chain of entries is made in order; they are stored in any.
func (y *year) change(scope string, number int) (func(context.Context) error, error) {
	p, err := plan.Build(plan.Input{Cluster: plan.Cluster{Name: "year", UID: y.uid}, Scope: scope, Observations: []plan.Observation{rollout(scope, number)}})
	if err != nil {
		return nil, err
	}
	encoded, err := plan.Encode(p)
	if err != nil {
		return nil, err
	}
	body, err := state.PackBody(encoded, encoded)
	if err != nil {
		return nil, err
	}
	now, id := state.FormatTime(time.Now()), state.ChangeID(y.uid, p.Hash, number)
	admin := state.Person{Username: "admin"}
	header := state.Plan{ClusterUID: y.uid, Number: number, Proposer: admin, Scope: scope, Time: now}
	body.Describe(&header)
	proposed, err := y.seal(state.TypePlan, state.NumberedName(state.TypePlan, number), id, p.Hash, scope, header, y.gate, "admin")
	if err != nil {
		return nil, err
	}
	approval, err := y.seal(state.TypeDecision, "", id, p.Hash, scope, state.Decision{Action: state.ActionApprove, ClusterUID: y.uid,
		Number: number, Person: state.Person{Username: "alice", Groups: []string{"sre"}}, Reason: "looked at it", Time: now}, y.alice, "alice")
	if err != nil {
		return nil, err
	}
	approval.Claims.Groups = []string{"sre"}
	outcome, err := y.seal(state.TypeOutcome, state.OutcomeName(number, 1), id, p.Hash, scope, state.Outcome{Actor: admin, ClusterUID: y.uid,
		Number: number, Observed: true, Result: state.ResultApplied, Sequence: 1, Time: now}, y.gate, "admin")
	if err != nil {
		return nil, err
	}
	waits, err := y.append(scope, p.Hash, number, now, state.VerdictApprovalRequired)
	if err != nil {
		return nil, err
	}
	passes, err := y.append(scope, p.Hash, number, now, state.VerdictAllowed, state.Digest(approval.Data[state.DataEnvelope]))
	return func(ctx context.Context) error {
		if _, err := state.PutPlan(ctx, y.admin, proposed, body); err != nil {
			return err
		}
		if _, err := y.person.Create(ctx, approval); err != nil {
			return err
		}
		for _, r := range []state.Record{waits, passes, outcome} {
			if _, err := y.admin.Create(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}, err
}

// append makes the next entry of the chain.
func (y *year) append(scope, hash string, request int, now, verdict string, decisions ...string) (state.Record, error) {
	y.entry++
	e := state.Audit{Actor: state.Person{Username: "admin"}, ClusterUID: y.uid, Decisions: decisions, Epoch: 1, Number: y.entry, PlanHash: hash,
		PolicyVersion: 1, Previous: y.head, Request: request, Scope: scope, Time: now, Verdict: verdict,
		Requirements: []state.Requirement{{Count: 1, Groups: []string{"sre"}, Met: len(decisions), Rule: "prod-needs-sre"}}}
	record, err := y.seal(state.TypeAudit, state.NumberedName(state.TypeAudit, y.entry), "", "", scope, e, y.gate, "admin")
	y.head = state.Digest(record.Data[state.DataEnvelope])
	return record, err
}

func (y *year) seal(t state.Type, name, subject, hash, scope string, predicate any, signer sign.Signer, actor string) (state.Record, error) {
	envelope, payload, err := sign.Seal(signer, t, subject, hash, predicate)
	if name == "" {
		name = state.ContentName(t, payload)
	}
	r := state.Record{Type: t, Name: name, Data: map[string][]byte{state.DataEnvelope: envelope}, Scope: state.ScopeLabel(scope),
		Claims: state.Claims{Actor: actor}}
	if hash != "" {
		r.Plan = state.PlanLabel(hash)
	}
	if t == state.TypeDecision {
		r.Claims.PlanHash = hash
	}
	return r, err
}

// rollout is a change of a middling object: forty values, of which some do not
// compress, as digests and tokens do not.
func rollout(scope string, number int) plan.Observation {
	source := rand.New(rand.NewPCG(1, uint64(number)))
	object := func() map[string]any {
		data := map[string]any{}
		for i := range 40 {
			data[fmt.Sprintf("setting-%02d", i)] = fmt.Sprintf("%s: %x", scope, source.Uint64())
		}
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": map[string]any{"name": "settings", "namespace": "shop", "uid": "u1", "resourceVersion": "7"}}
	}
	live, merged := object(), object()
	return plan.Observation{Object: manifest.Object{Content: merged, Source: manifest.Source{File: "app.yaml", Line: 1}}, Live: live, Merged: merged,
		ResourceVersion: "7", Applier: plan.Applier{Name: "changeward", Mode: plan.ModeServerSide, Manager: "changeward"}}
}
