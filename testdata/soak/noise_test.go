package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
)

// noise is everyone else in the cluster. It writes to what is being planned at
// the moment, and only what no manifest says.
type noise struct {
	client dynamic.Interface
	writes atomic.Int64

	mu     sync.Mutex
	active map[*scope][]thing
}

// thing is a live object.
type thing struct {
	resource             schema.GroupVersionResource
	kind, apiVersion     string
	namespace, name      string
	replicas, statusable bool
}

func newNoise(c *cluster) *noise {
	return &noise{client: c.Dynamic(kubetest.Admin), active: map[*scope][]thing{}}
}

// plural are the resources of the kinds that sets have.
func plural(kind string) string {
	switch kind {
	case "Ingress":
		return "ingresses"
	case "NetworkPolicy":
		return "networkpolicies"
	}
	return strings.ToLower(kind) + "s"
}

func thingOf(o manifest.Object) thing {
	kind := o.Kind()
	return thing{resource: schema.GroupVersionResource{Group: o.Group(), Version: o.Version(), Resource: plural(kind)},
		kind: kind, apiVersion: o.APIVersion(), namespace: o.Namespace(), name: o.Name(),
		replicas:   slices.Contains([]string{"Deployment", "StatefulSet"}, kind),
		statusable: slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "Widget"}, kind)}
}

// watch has the others write to a scope, until the answered function is called.
func (n *noise) watch(s *scope) func() {
	objects, _ := manifest.Parse("set.yaml", []byte(manifests(s.set, s.namespace, 1)))
	var things []thing
	for _, o := range objects {
		things = append(things, thingOf(o))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.active[s] = things
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.active, s)
	}
}

// pick is some object of those that are planned now.
func (n *noise) pick(want func(thing) bool) (thing, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []thing
	for _, things := range n.active {
		for _, one := range things {
			if want(one) {
				all = append(all, one)
			}
		}
	}
	if len(all) == 0 {
		return thing{}, false
	}
	return all[rand.IntN(len(all))], true
}

func whatever(thing) bool { return true }

func (n *noise) patch(ctx context.Context, one thing, kind types.PatchType, manager, body string, subresources ...string) {
	force := true
	options := metav1.PatchOptions{FieldManager: manager}
	if kind == types.ApplyPatchType {
		options.Force = &force
	}
	_, err := n.client.Resource(one.resource).Namespace(one.namespace).Patch(ctx, one.name, kind, []byte(body), options, subresources...)
	if err == nil {
		n.writes.Add(1)
	}
}

// writers are the others: what they write, and how often.
func (n *noise) writers() map[time.Duration][]func(context.Context, int) {
	autoscaler := func(ctx context.Context, i int) {
		if one, ok := n.pick(func(o thing) bool { return o.replicas }); ok {
			n.patch(ctx, one, types.MergePatchType, "horizontal-pod-autoscaler", fmt.Sprintf(`{"spec":{"replicas":%d}}`, 1+i%9), "scale")
		}
	}
	status := func(ctx context.Context, i int) {
		one, ok := n.pick(func(o thing) bool { return o.statusable })
		body := fmt.Sprintf(`{"status":{"observedGeneration":%d}}`, i)
		if ok {
			n.patch(ctx, one, types.MergePatchType, "controller", body, "status")
		}
	}
	annotator := func(ctx context.Context, i int) {
		if one, ok := n.pick(whatever); ok {
			n.patch(ctx, one, types.MergePatchType, "monitoring", fmt.Sprintf(`{"metadata":{"annotations":{"monitoring.example/seen":"%d"}}}`, i))
		}
	}
	fighters := func(ctx context.Context, i int) {
		if one, ok := n.pick(whatever); ok {
			for _, manager := range []string{"ctrl-a", "ctrl-b"} {
				n.patch(ctx, one, types.ApplyPatchType, manager, fmt.Sprintf(
					`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"labels":{"fought":"%s-%d"}}}`, one.apiVersion, one.kind, one.name, manager, i))
			}
		}
	}
	between := func(ctx context.Context, i int) { // often enough to come between LIST and dry run
		if one, ok := n.pick(func(o thing) bool { return o.kind == "ConfigMap" }); ok {
			n.patch(ctx, one, types.MergePatchType, "writer", fmt.Sprintf(`{"data":{"other":"%d"}}`, i))
		}
	}
	return map[time.Duration][]func(context.Context, int){
		100 * time.Millisecond: {autoscaler, status, annotator, fighters},
		30 * time.Millisecond:  {between},
	}
}

// start runs all writers until the test ends.
func (n *noise) start(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	t.Cleanup(func() { cancel(); group.Wait() })
	for pause, writers := range n.writers() {
		for _, write := range writers {
			group.Go(func() {
				tick := time.NewTicker(pause)
				defer tick.Stop()
				for i := 0; ; i++ {
					select {
					case <-ctx.Done():
						return
					case <-tick.C:
						write(ctx, i)
					}
				}
			})
		}
	}
}
