package flux_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// objects of a scenario, as they are, by kind and name.
type objects map[string]*unstructured.Unstructured

// snapshot reads all that a scenario could touch: its namespaces, and what is
// cluster-wide and has its name in front.
func (s stage) snapshot(t *testing.T, c scenario) objects {
	t.Helper()
	out := objects{}
	list := func(group, version, resource, namespace string) {
		kind := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
		found, err := s.Cluster.Dynamic(kubetest.Admin).Resource(kind).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		if apierrors.IsNotFound(err) { // its definition is not there yet
			return
		}
		assert.NilError(t, err)
		for _, object := range found.Items {
			if namespace != "" || object.GetLabels()["kustomize.toolkit.fluxcd.io/name"] == c.name {
				out[object.GetKind()+"/"+object.GetName()] = &object
			}
		}
	}
	for _, namespace := range []string{c.name, c.name + "-new"} {
		for _, resource := range []string{"configmaps", "secrets", "services"} {
			list("", "v1", resource, namespace)
		}
		list("apps", "v1", "deployments", namespace)
		list("helm.toolkit.fluxcd.io", "v2", "helmreleases", namespace)
		list("kinds.example.com", "v1", "crates", namespace)
	}
	list("", "v1", "namespaces", "")
	list("rbac.authorization.k8s.io", "v1", "clusterroles", "")
	list("apiextensions.k8s.io", "v1", "customresourcedefinitions", "")
	return out
}

// compare holds a plan against what came of it: every object that was planned,
// and every other that moved.
func (s stage) compare(t *testing.T, c scenario, d document, before, after objects) {
	t.Helper()
	planned := map[string]change{}
	for _, one := range d.Changes {
		planned[one.Kind+"/"+one.Name] = one
	}
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for key := range planned {
		keys[key] = nil
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		one, old, now := planned[key], before[key], after[key]
		switch {
		case !d.Complete || one.Skipped != "" || one.Operation == "" || one.Operation == "none":
			assert.Check(t, same(old, now), "%s: planned to stay as it is", key)
		case one.Operation == "create":
			assert.Check(t, old == nil && now != nil && holds(now.Object, one.Object), "%s: planned %v, became %v", key, one.Object, now)
		case one.Operation == "delete":
			assert.Check(t, old != nil && now == nil, "%s: planned to go", key)
		case one.Operation == "replace":
			assert.Check(t, now != nil && old.GetUID() != now.GetUID() && holds(now.Object, one.Object), "%s: planned as a replace", key)
		default:
			s.compareFields(t, key, one, old, now)
		}
	}
}

// same says that an object was not written to, or was not there.
func same(old, now *unstructured.Unstructured) bool {
	if old == nil || now == nil {
		return old == nil && now == nil
	}
	return old.GetUID() == now.GetUID() && old.GetGeneration() == now.GetGeneration() &&
		diff.Equal(diff.Clean(old.Object, true), diff.Clean(now.Object, true))
}

// holds says whether an object has all of a part of it; values of Secrets are
// masked there.
func holds(object, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		if part["masked"] == true {
			return object != nil
		}
		whole, ok := object.(map[string]any)
		for key, member := range part {
			ok = ok && holds(whole[key], member)
		}
		return ok
	case []any:
		whole, ok := object.([]any)
		ok = ok && len(whole) == len(part)
		for i := range part {
			ok = ok && holds(whole[i], part[i])
		}
		return ok
	}
	return fmt.Sprint(object) == fmt.Sprint(part)
}

// compareFields holds the fields of an update against those that differ.
func (s stage) compareFields(t *testing.T, key string, one change, old, now *unstructured.Unstructured) {
	t.Helper()
	if old == nil || now == nil {
		t.Errorf("%s: planned as an update: was there before: %v, is there now: %v", key, old != nil, now != nil)
		return
	}
	assert.Check(t, old.GetUID() == now.GetUID(), "%s: was replaced", key)
	seen := s.seen(t, now)
	var want, got []string
	hidden := map[string]bool{} // as a Secret's values are
	for _, f := range one.Fields {
		hidden[f.Path] = one.Kind == "Secret" || isMasked(f.Old) || isMasked(f.New)
		want = append(want, f.line(hidden[f.Path]))
	}
	for _, transition := range diff.Objects(diff.Clean(old.Object, seen.StatusSubresource), diff.Clean(now.Object, seen.StatusSubresource), nil, seen.Schema) {
		f := field{Path: transition.Path, Action: string(transition.Action)}
		if transition.Action != diff.Add {
			f.Old = transition.Old
		}
		if transition.Action != diff.Remove {
			f.New = transition.New
		}
		got = append(got, f.line(hidden[f.Path]))
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.Check(t, slices.Equal(want, got), "%s: planned\n%v\nbecame\n%v", key, want, got)
	assert.Check(t, len(want) > 0, "%s: an update of nothing", key)
}

func isMasked(value any) bool {
	members, _ := value.(map[string]any)
	return members["masked"] == true
}

// line is a field as text, without values that no plan shows.
func (f field) line(hidden bool) string {
	if hidden {
		return f.Action + " " + f.Path
	}
	values, _ := json.Marshal([]any{f.Old, f.New}) // both come from JSON
	return f.Action + " " + f.Path + " " + string(values)
}

// seen asks for what is known of an object's kind: its schema.
func (s stage) seen(t *testing.T, object *unstructured.Unstructured) plan.Observation {
	t.Helper()
	client, err := dryrun.New(s.Cluster.Config(kubetest.Admin))
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	changed := object.DeepCopy() // of what does not change no schema is read
	changed.SetManagedFields(nil)
	changed.SetResourceVersion("")
	changed.SetAnnotations(map[string]string{"example.com/changed": "yes"})
	set, _ := manifest.Resolve([]manifest.Object{{Content: changed.Object}}, kinds, "")
	seen, err := client.Observe(t.Context(), set, dryrun.ObserveOptions{Kinds: kinds, Applier: dryrun.Changeward(true),
		Masker: manifest.NewMasker([]byte("a key of the test's"), "uid", false)})
	assert.NilError(t, err)
	assert.Assert(t, seen[0].Failure == nil, "%+v", seen[0].Failure)
	return seen[0]
}
