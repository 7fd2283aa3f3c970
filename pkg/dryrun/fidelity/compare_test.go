package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

func masker() manifest.Masker { return manifest.NewMasker([]byte("a key of the test's"), "uid", false) }

// observe plans manifests as an applier, and objects that it adds.
func observe(t *testing.T, applier dryrun.Applier, text string, added ...manifest.Object) []plan.Observation {
	t.Helper()
	client, err := dryrun.New(kubetest.Shared(t).Config(kubetest.Admin))
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	objects, problems := manifest.Parse("test.yaml", []byte(text))
	assert.Equal(t, len(problems), 0, "%v", problems)
	set, problems := manifest.Resolve(objects, kinds, "default")
	assert.Equal(t, len(problems), 0, "%v", problems)
	set.Objects = append(set.Objects, added...)
	seen, err := client.Observe(t.Context(), set, dryrun.ObserveOptions{Kinds: kinds, Applier: applier, Masker: masker()})
	assert.NilError(t, err)
	return seen
}

// reader reads live objects, masked as observations are.
type reader struct {
	client  dynamic.Interface
	mapping func(plan.Observation) dynamic.ResourceInterface
}

func newReader(t *testing.T) reader {
	t.Helper()
	shared := kubetest.Shared(t)
	groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(shared.Config(kubetest.Admin)))
	assert.NilError(t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	r := reader{client: shared.Dynamic(kubetest.Admin)}
	r.mapping = func(seen plan.Observation) dynamic.ResourceInterface {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": seen.Object.APIVersion(), "kind": seen.Object.Kind()}}
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		assert.NilError(t, err)
		return r.client.Resource(mapping.Resource).Namespace(seen.Object.Namespace())
	}
	return r
}

func (r reader) live(t *testing.T, seen plan.Observation) map[string]any {
	t.Helper()
	live, err := r.mapping(seen).Get(t.Context(), seen.Object.Name(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	assert.NilError(t, err)
	if manifest.IsSecret(live.Object) {
		return masker().Object(live.Object)
	}
	return live.Object
}

// prove plans, applies for real, and compares each object with its plan, field
// by field. It returns what was observed.
func prove(t *testing.T, applier dryrun.Applier, text string, apply func() string) []plan.Observation {
	t.Helper()
	seen := observe(t, applier, text)
	r := newReader(t)
	before := make([]map[string]any, len(seen))
	for i := range seen {
		before[i] = r.live(t, seen[i])
	}
	said := apply()
	for i, o := range seen {
		compare(t, o, before[i], r.live(t, o), said)
	}
	return seen
}

// compare holds what came of an object against its plan.
func compare(t *testing.T, o plan.Observation, before, after map[string]any, said string) {
	t.Helper()
	name := o.Object.Key().String()
	want := o.Merged
	if o.Failure != nil || o.Skip != "" {
		want = before
	}
	if failed := !succeeded(said, o); failed != (o.Failure != nil) {
		t.Errorf("%s: planned to fail: %+v; failed: %v (%s)", name, o.Failure, failed, shortened(said))
	}
	if want == nil || after == nil {
		assert.Check(t, want == nil && after == nil, "%s: planned %v, found %v (%s)", name, want, after, shortened(said))
		return
	}
	for _, difference := range differences(o, want, after) {
		t.Errorf("%s: planned and applied differ: %s (%s)", name, difference, shortened(said))
	}
	if o.Failure == nil {
		assert.Check(t, lastApplied(want) == lastApplied(after), "%s: last-applied is there: %v", name, lastApplied(after))
	}
	checkIdentity(t, o, before, after)
}

// lastApplied says whether an object carries the bookkeeping of client-side
// appliers.
func lastApplied(object map[string]any) bool {
	_, there, _ := unstructured.NestedFieldNoCopy(object, "metadata", "annotations", diff.LastApplied)
	return there
}

// succeeded says whether kubectl reports an object as applied.
func succeeded(said string, o plan.Observation) bool {
	kind := strings.ToLower(o.Object.Kind())
	if o.Object.Group() != "" {
		kind += "." + o.Object.Group()
	}
	return strings.Contains("\n"+said, "\n"+kind+"/"+o.Object.Name()+" ")
}

// shortened is what kubectl said apart from its successes and its advice.
func shortened(said string) string {
	var out []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(line, "applied") || strings.HasSuffix(line, "configured") || strings.HasSuffix(line, "unchanged") ||
			strings.HasPrefix(line, "*") || strings.Contains(line, "field") && !strings.Contains(line, "conflict") {
			continue
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// differences between a plan and what came of it, but for what the server
// makes up.
func differences(o plan.Observation, want, after map[string]any) (out []string) {
	planned, applied := diff.Clean(want, o.StatusSubresource), diff.Clean(after, o.StatusSubresource)
	for _, transition := range diff.Objects(planned, applied, nil, o.Schema) {
		if !assigned(o, transition.Path) {
			out = append(out, plan.TransitionText(transition))
		}
	}
	if len(out) == 0 && o.Admission == nil && !diff.Equal(planned, applied) {
		out = append(out, "no field accounts for it")
	}
	return out
}

func assigned(o plan.Observation, path string) bool {
	for _, value := range o.Admission {
		if value.Mark == plan.MarkAssigned && strings.HasPrefix(path, value.Path) {
			return true
		}
	}
	return o.Object.Kind() == "Service" && strings.HasSuffix(path, "].nodePort") || // a placeholder
		o.Object.Kind() == "Pod" && strings.Contains(path, "kube-api-access-") ||
		o.Object.Kind() == "Pod" && strings.Contains(path, "/var/run/secrets/kubernetes.io/serviceaccount")
}

// checkIdentity proves that what was planned as an update was no replace, that
// a replace was one, and that what was planned as unchanged has not moved.
func checkIdentity(t *testing.T, o plan.Observation, before, after map[string]any) {
	t.Helper()
	if before == nil || o.Failure != nil {
		return
	}
	of := func(object map[string]any, field string) any {
		value, _, _ := unstructured.NestedFieldNoCopy(object, "metadata", field)
		return value
	}
	name := o.Object.Key().String()
	assert.Check(t, (of(before, "uid") != of(after, "uid")) == o.Replace, "%s: planned as a replace: %v", name, o.Replace)
	made, err := plan.Build(plan.Input{Cluster: plan.Cluster{UID: "uid"}, Observations: []plan.Observation{o}})
	assert.NilError(t, err)
	assert.Check(t, made.Complete(), "%s: %+v", name, made.Failed)
	if moved := !diff.Equal(of(before, "generation"), of(after, "generation")); !o.Replace && moved && made.Empty() {
		annotations := of(before, "annotations")
		assert.Check(t, !diff.Equal(annotations, of(after, "annotations")), "%s: planned as unchanged, and its generation moved", name)
	}
}
