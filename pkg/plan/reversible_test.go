package plan_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

func TestWhatCannotBeTakenBackSaysWhy(t *testing.T) {
	job := `apiVersion: batch/v1, kind: Job`
	for _, c := range []struct{ name, live, merged, why string }{
		{name: "a create", merged: `{kind: ConfigMap}`},
		{name: "an update", live: `{kind: ConfigMap, data: {a: "1"}}`, merged: `{kind: ConfigMap, data: {a: "2"}}`},
		{name: "a Job that will run", merged: `{` + job + `}`, why: "what the Job does cannot be undone"},
		{name: "a Job that waits", merged: `{` + job + `, spec: {suspend: true}}`},
		{name: "a Job that goes on", live: `{` + job + `, spec: {suspend: true}}`, merged: `{` + job + `, spec: {suspend: false}}`, why: "what the Job does cannot be undone"},
		{name: "a CronJob", merged: `{apiVersion: batch/v1, kind: CronJob}`},
		{name: "a claim grows", live: `{kind: PersistentVolumeClaim, spec: {resources: {requests: {storage: 1Gi}}}}`,
			merged: `{kind: PersistentVolumeClaim, spec: {resources: {requests: {storage: 2Gi}}}}`, why: "a storage or reclaim change: spec.resources.requests.storage"},
		{name: "a claim's label", live: `{kind: PersistentVolumeClaim}`, merged: `{kind: PersistentVolumeClaim, metadata: {labels: {a: b}}}`},
		{name: "another reclaim policy", live: `{apiVersion: storage.k8s.io/v1, kind: StorageClass, reclaimPolicy: Retain}`,
			merged: `{apiVersion: storage.k8s.io/v1, kind: StorageClass, reclaimPolicy: Delete}`, why: "a storage or reclaim change: reclaimPolicy"},
		{name: "an object made immutable", live: `{kind: ConfigMap}`, merged: `{kind: ConfigMap, immutable: true}`, why: "an immutable object cannot be made mutable again"},
		{name: "a load balancer's address", live: `{kind: Service, spec: {type: LoadBalancer}}`, merged: `{kind: Service, spec: {type: ClusterIP}}`,
			why: "the load balancer's address is given up"},
		{name: "a field that a CRD drops", live: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {versions: [{name: v1, schema: {a: 1, b: 1}}]}}`,
			merged: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {versions: [{name: v1, schema: {a: 1}}]}}`,
			why:    "fields that the schema no longer has are dropped from objects: spec.versions[0].schema.b"},
		{name: "a description of a CRD", live: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {versions: [{name: v1, description: a}]}}`,
			merged: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {versions: [{name: v1, description: b}]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged := riskyObject(t, c.merged)
			p := build(t, plan.Observation{Object: manifest.Object{Content: merged}, Live: riskyObject(t, c.live), Merged: merged})
			assert.Equal(t, p.Changes[0].Why, c.why)
			assert.Equal(t, p.Changes[0].Reversible, c.why == "")
			assert.Equal(t, p.Reversible, c.why == "")
		})
	}
}

func TestOldValuesOfSecretsAreNotKept(t *testing.T) {
	secret := func(data map[string]any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "data": data}
	}
	one, other := map[string]any{"pw": state.Masked{Tag: "k:1"}}, map[string]any{"pw": state.Masked{Tag: "k:2"}}
	more := map[string]any{"pw": state.Masked{Tag: "k:1"}, "new": state.Masked{Tag: "k:3"}}
	for name, c := range map[string]struct {
		live, merged map[string]any
		why          string
	}{
		"another value": {one, other, "the old value of data.pw is not kept"},
		"a value less":  {more, one, "the old value of data.new is not kept"},
		"a value more":  {one, more, ""},
	} {
		p := build(t, plan.Observation{Object: manifest.Object{Content: secret(c.merged)}, Live: secret(c.live), Merged: secret(c.merged)})
		assert.Equal(t, p.Changes[0].Why, c.why, name)
	}
}

func TestHooksDoNotMakeAPlanIrreversible(t *testing.T) {
	p := readHashCase(t, "../../testdata/hashes/v1/hook.json")
	var observations []plan.Observation
	for _, in := range p.Observations {
		observations = append(observations, in.observation(realListKinds(t)))
	}
	assert.Assert(t, build(t, observations...).Reversible)
}

func TestDeletesThatTakeMoreThanTheManifestAreIrreversible(t *testing.T) {
	for kind, why := range map[string]string{
		"/ConfigMap":             "",
		"apps/Deployment":        "",
		"/Secret":                "the values are not kept",
		"/Namespace":             "everything in the namespace goes with it",
		"/PersistentVolume":      "the data goes with it",
		"/PersistentVolumeClaim": "the data goes with it",
		"apiextensions.k8s.io/CustomResourceDefinition": "every object of the kind goes with it",
		"/Service":               "data or identity that it holds may go with it",
		"/ServiceAccount":        "data or identity that it holds may go with it",
		"apps/StatefulSet":       "data or identity that it holds may go with it",
		"example.com/Database":   "data or identity that it holds may go with it",
		"example.com/Deployment": "data or identity that it holds may go with it",
	} {
		group, name, _ := strings.Cut(kind, "/")
		c := hashCase{Bodies: []plan.Body{{Group: group, Kind: name, Version: "v1", Name: "x", Operation: plan.Delete, Delete: &plan.Deletion{}}}}
		p := c.build(t, nil)
		assert.Equal(t, p.Changes[0].Why, why, kind)
	}
	p := readHashCase(t, "../../testdata/hashes/v1/replace.json").build(t, nil)
	assert.Equal(t, p.Changes[0].Why, "the object is deleted and created anew")
	assert.Assert(t, !p.Reversible)
}
