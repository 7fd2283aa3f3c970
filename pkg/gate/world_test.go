package gate_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/dir"
)

const clusterUID = "11111111-2222-3333-4444-555555555555"

// A policy without admission: these records lie in a folder, so signatures
// alone must speak.
const policyText = `apiVersion: changeward.dev/v1alpha1
kind: Policy
spec:
  clusterName: test
  env: prod
  admins: {groups: [admins]}
  rules:
  - name: harmless
    match: change.operation == "create" && change.risks.size() == 0
    decision: allow
  - name: no-volume-deletes
    match: change.kind == "PersistentVolumeClaim"
    decision: deny
    reason: volumes are for the storage team
  - name: prod-needs-sre
    match: change.env == "prod"
    decision: approval
    approvers: [{users: [alice], count: 1}]
    reason: production needs SRE approval
  default: approval
  approvals: {identity: signed}
`

// world is an install in a folder, with a clock of its own.
type world struct {
	t     *testing.T
	root  string
	store *dir.Store
	now   time.Time
	gate  sign.Signer
	keys  map[string]sign.Signer
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), keys: map[string]sign.Signer{}}
	w.root = filepath.Join(t.TempDir(), "records")
	store, err := dir.Create(w.root, func() time.Time { return w.now })
	assert.NilError(t, err)
	w.store = store
	private, public, err := sign.NewGateKey()
	assert.NilError(t, err)
	w.gate, err = sign.ParseGateKey(private)
	assert.NilError(t, err)
	w.enrollByHand("root", "admins")
	w.put(state.TypeEpoch, 1, state.Epoch{Actor: person("root", "admins"), Admission: 1, ClusterUID: clusterUID, GateKey: public,
		Objects: []state.AdmissionObject{}, Time: w.stamp(), Version: 1})
	w.put(state.TypePolicy, 1, state.Policy{Actor: person("root", "admins"), ClusterUID: clusterUID, Source: policyText, Time: w.stamp(), Version: 1})
	w.tick()
	return w
}

func person(name string, groups ...string) state.Person {
	return state.Person{Username: name, Groups: groups}
}

func (w *world) stamp() string { return w.now.Format(time.RFC3339) }

func (w *world) tick() { w.now = w.now.Add(2 * time.Second) }

// put writes a numbered record that root signs, as install does.
func (w *world) put(t state.Type, number int, predicate any) {
	w.t.Helper()
	envelope, _, err := sign.Seal(w.keys["root"], t, "", "", predicate)
	assert.NilError(w.t, err)
	_, err = w.store.Create(context.Background(), state.Record{Type: t, Name: state.NumberedName(t, number),
		Data:   map[string][]byte{state.DataEnvelope: envelope},
		Claims: state.Claims{Actor: "root", Groups: []string{"admins"}}})
	assert.NilError(w.t, err)
}

func (w *world) enrollByHand(name string, groups ...string) {
	w.t.Helper()
	private, _, err := sign.NewGateKey()
	assert.NilError(w.t, err)
	w.keys[name], err = sign.ParseGateKey(private)
	assert.NilError(w.t, err)
	proof, err := sign.ProvePossession(w.keys[name], clusterUID, name)
	assert.NilError(w.t, err)
	predicate := state.Key{Action: state.KeyEnroll, ClusterUID: clusterUID, Person: state.Person{Username: name},
		Possession: proof, PublicKey: sign.AuthorizedKey(w.keys[name].PublicKey()), Time: w.stamp()}
	envelope, payload, err := sign.Seal(w.keys[name], state.TypeKey, "", "", predicate)
	assert.NilError(w.t, err)
	_, err = w.store.Create(context.Background(), state.Record{Type: state.TypeKey, Name: state.ContentName(state.TypeKey, payload),
		Data: map[string][]byte{state.DataEnvelope: envelope}, Claims: state.Claims{Actor: name, Groups: groups}})
	assert.NilError(w.t, err)
}

func (w *world) as(who state.Person) *gate.Gate {
	return &gate.Gate{Store: w.store, ClusterUID: clusterUID, Caller: who, Signer: w.gate, Gone: gone}
}

func (w *world) load() *gate.Ledger {
	w.t.Helper()
	ledger, err := w.as(ci()).Load(context.Background())
	assert.NilError(w.t, err)
	return ledger
}

func ci() state.Person { return person("system:serviceaccount:changeward-gate:ci") }

// run puts a plan through the gate as ci.
func (w *world) run(p *plan.Plan) *gate.Result {
	w.t.Helper()
	w.tick()
	result, err := w.as(ci()).Run(context.Background(), nil, gate.Input{Plan: p, Header: state.Plan{Scope: p.Scope}})
	assert.NilError(w.t, err)
	return result
}

// decide answers a request in a person's name.
func (w *world) decide(who state.Person, id, action string) error {
	w.t.Helper()
	w.tick()
	ledger := w.load()
	request, err := ledger.Find(id)
	assert.NilError(w.t, err)
	_, err = w.as(who).Decide(context.Background(), ledger, gate.DecideInput{Request: request, Action: action, Signer: w.keys[who.Username]})
	w.tick()
	return err
}

func (w *world) count(t state.Type) int {
	w.t.Helper()
	list, err := w.store.List(context.Background(), t, state.Selector{})
	assert.NilError(w.t, err)
	return len(list)
}

func (w *world) total() int {
	total := 0
	for _, t := range state.Types() {
		total += w.count(t)
	}
	return total
}

// flag is a plan of the scope that takes a flag from one value to another; the
// same value twice is an empty plan.
func flag(scope, from, to string) *plan.Plan { return flagOn(clusterUID, scope, "flags", from, to) }

// flagOn is flag in another cluster, of another ConfigMap.
func flagOn(uid, scope, name, from, to string) *plan.Plan {
	desired := configMap(name, to)
	live := configMap(name, from)
	set := live["metadata"].(map[string]any)
	set["uid"], set["resourceVersion"] = "u1", "7"
	merged := configMap(name, to)
	merged["metadata"] = set
	return buildOn(uid, scope, plan.Observation{Object: object(desired), Live: live, Merged: merged, ResourceVersion: "7", Applier: applier()})
}

func object(content map[string]any) manifest.Object {
	return manifest.Object{Content: content, Source: manifest.Source{File: "app.yaml", Line: 1}}
}

func applier() plan.Applier {
	return plan.Applier{Name: "changeward", Mode: plan.ModeServerSide, Manager: "changeward"}
}

func configMap(name, value string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"}, "data": map[string]any{"flag": value}}
}

func create(scope string, content map[string]any) *plan.Plan {
	return build(scope, plan.Observation{Object: object(content), Merged: content, Applier: applier()})
}

func build(scope string, observations ...plan.Observation) *plan.Plan {
	return buildOn(clusterUID, scope, observations...)
}

func buildOn(uid, scope string, observations ...plan.Observation) *plan.Plan {
	p, err := plan.Build(plan.Input{Cluster: plan.Cluster{Name: "test", UID: uid}, Scope: scope, Observations: observations})
	if err != nil {
		panic(fmt.Sprintf("build a plan: %v", err))
	}
	return p
}

func decision(r *gate.Result) string { return r.Verdict.Decision }

func needs(r *gate.Result) []policy.Requirement {
	var out []policy.Requirement
	for _, n := range r.Verdict.Requirements {
		out = append(out, n.Requirement)
	}
	return out
}
