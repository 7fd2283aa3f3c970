package state

import (
	"testing"

	"gotest.tools/v3/assert"
)

func outcome() Outcome {
	return Outcome{Actor: Person{Username: "alice"}, ClusterUID: "uid", Number: 3, Sequence: 2, Time: "2026-12-02T10:00:00Z", Result: ResultDiverged,
		Objects: []ObjectResult{{Version: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "web", Operation: "update", Result: ObjectDiverged,
			Fields: []string{"data.a"}, Managers: []string{"kubectl-edit"}, UID: "u1", Digest: "sha256:aa"}}}
}

func TestAnOutcomeOfAnUnknownResultIsRefusedByName(t *testing.T) {
	assert.NilError(t, outcome().Check())
	bad := outcome()
	bad.Result = "undone"
	assert.ErrorContains(t, bad.Check(), `"undone"`)
	bad = outcome()
	bad.Objects[0].Result = "half"
	assert.ErrorContains(t, bad.Check(), `unknown result "half" of ConfigMap web`)
}

func TestAnOutcomeOfAsManyObjectsAsOneNamesFitsInARecord(t *testing.T) {
	full := outcome()
	one := full.Objects[0]
	one.Digest = Digest([]byte("change"))
	one.Group, one.Name, one.UID = "networking.k8s.io", "a-name-of-sixty-three-letters-which-is-as-long-as-a-label-may-be", "5f0c2d9e-7b1a-4c55-9a53-0d6c1b6f2f11"
	full.Objects = nil
	for range MaxObjects {
		full.Objects = append(full.Objects, one)
	}
	data, err := Canonical(full)
	assert.NilError(t, err)
	assert.Assert(t, len(data)*4/3 < MaxInline, "%d bytes", len(data))
}

func FuzzAnOutcomeIsReadAsItIsWritten(f *testing.F) {
	for _, seed := range []Outcome{outcome(), {Result: ResultStarted, Plan: "sha256:aa"}, {Result: ResultReconciled, Revision: "4f3c2b1"}} {
		data, err := Canonical(seed)
		assert.NilError(f, err)
		f.Add(data)
	}
	f.Add([]byte(`{"actor":{"username":"a"},"objects":[{"value":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var read Outcome
		if DecodeStrict(data, &read) != nil {
			return
		}
		first, err := Canonical(read)
		assert.NilError(t, err)
		var again Outcome
		assert.NilError(t, DecodeStrict(first, &again))
		second, err := Canonical(again)
		assert.NilError(t, err)
		assert.Equal(t, string(second), string(first))
	})
}
