package soak_test

import (
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/dir"
)

const policyText = `apiVersion: changeward.dev/v1alpha1
kind: Policy
spec:
  clusterName: soak
  env: prod
  rules:
  - {name: all, match: "true", decision: approval, approvers: [{users: [alice], count: 1}]}
  approvals: {identity: signed}
`

// office keeps the records of one scope in a folder: a gate's key, a policy by
// which alice approves everything, and her key.
type office struct {
	store *dir.Store
	uid   string
	keys  map[string]sign.Signer // by person
}

func newOffice(t *testing.T, uid string) *office {
	t.Helper()
	store, err := dir.Create(filepath.Join(t.TempDir(), "records"), time.Now)
	assert.NilError(t, err)
	o := &office{store: store, uid: uid, keys: map[string]sign.Signer{}}
	o.enroll(t, "root")
	o.enroll(t, "alice")
	_, public := o.key(t, "gate")
	root, now := state.Person{Username: "root"}, state.FormatTime(time.Now())
	o.put(t, state.TypeEpoch, state.NumberedName(state.TypeEpoch, 1), "root", state.Epoch{Actor: root, Admission: 1, ClusterUID: uid,
		GateKey: public, Objects: []state.AdmissionObject{}, Time: now, Version: 1})
	o.put(t, state.TypePolicy, state.NumberedName(state.TypePolicy, 1), "root", state.Policy{Actor: root, ClusterUID: uid,
		Source: policyText, Time: now, Version: 1})
	return o
}

func (o *office) key(t *testing.T, person string) (sign.Signer, string) {
	t.Helper()
	private, public, err := sign.NewGateKey()
	assert.NilError(t, err)
	o.keys[person], err = sign.ParseGateKey(private)
	assert.NilError(t, err)
	return o.keys[person], public
}

func (o *office) enroll(t *testing.T, person string) {
	t.Helper()
	key, _ := o.key(t, person)
	proof, err := sign.ProvePossession(key, o.uid, person)
	assert.NilError(t, err)
	o.put(t, state.TypeKey, "", person, state.Key{Action: state.KeyEnroll, ClusterUID: o.uid, Person: state.Person{Username: person},
		Possession: proof, PublicKey: sign.AuthorizedKey(key.PublicKey()), Time: state.FormatTime(time.Now())})
}

func (o *office) put(t *testing.T, kind state.Type, name, person string, predicate any) {
	t.Helper()
	envelope, payload, err := sign.Seal(o.keys[person], kind, "", "", predicate)
	assert.NilError(t, err)
	if name == "" {
		name = state.ContentName(kind, payload)
	}
	_, err = o.store.Create(t.Context(), state.Record{Type: kind, Name: name, Data: map[string][]byte{state.DataEnvelope: envelope},
		Claims: state.Claims{Actor: person}})
	assert.NilError(t, err)
}

// as is the gate as someone runs it.
func (o *office) as(person string) *gate.Gate {
	return &gate.Gate{Store: o.store, ClusterUID: o.uid, Caller: state.Person{Username: person}, Signer: o.keys["gate"]}
}

func (o *office) approve(t *testing.T, id string) {
	t.Helper()
	g := o.as("alice")
	ledger, err := g.Load(t.Context())
	assert.NilError(t, err)
	request, err := ledger.Find(id)
	assert.NilError(t, err)
	_, err = g.Decide(t.Context(), ledger, gate.DecideInput{Request: request, Action: state.ActionApprove, Signer: o.keys["alice"]})
	assert.NilError(t, err)
}
