package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
)

// size of the large plan.
const size = 300

func TestAPlanOfManyObjectsHasOneHash(t *testing.T) {
	w := shared(t)
	w.Apply(t, kubetest.Admin, "test", widgetCRD)
	w.reinstall(t) // the gate may plan the new kind, too
	namespaces := []string{w.Namespace(t), w.Namespace(t), w.Namespace(t)}
	desired, live := many(size, namespaces)
	load(t, w.Cluster, live)
	writer := writer{rand.New(rand.NewPCG(1, 2))}

	ways := writer.ways(t, desired)
	first := ways[3].planned(t, w.as(kubetest.Admin))
	assert.DeepEqual(t, first.Summary, plan.Summary{Create: 96, Update: 102, None: 102})
	t.Run("in any order and form", func(t *testing.T) {
		for _, way := range ways {
			sameHash(t, first, way.planned(t, w.as(kubetest.Admin)), way.name)
		}
	})
	t.Run("while others write to the same objects", func(t *testing.T) {
		others := intrude(t, w.Cluster, live)
		for i, way := range append(writer.ways(t, desired), ways[:4]...) { // ten
			before := others.writes.Load()
			sameHash(t, first, way.planned(t, w.as([]string{kubetest.Admin, "ci"}[i%2])), way.name)
			assert.Assert(t, others.writes.Load() > before+10, "others hardly wrote: nothing was proved")
		}
		others.leave(t)
	})
}

// reinstall brings the gate's rights in step with the kinds of the cluster.
func (w world) reinstall(t *testing.T) {
	t.Helper()
	w.as(kubetest.Admin).run(t, "install", "--yes", "--name", clusterName, "--env", "prod",
		"--approvers", "group:sre", "--proposers", "group:dev").exits(t, 0)
}

// sameHash compares two plans, and names the changes that differ.
func sameHash(t *testing.T, want, got render.Plan, how string) {
	t.Helper()
	if got.Hash == want.Hash && got.Summary == want.Summary {
		return
	}
	content := func(c render.Change) string { return text([]any{c.Digest, c.Fields, c.Object, c.Admission}) }
	contents := map[string]string{}
	for _, c := range want.Changes {
		contents[c.Kind+"/"+c.Name] = content(c)
	}
	for _, c := range got.Changes {
		if was := contents[c.Kind+"/"+c.Name]; was != content(c) {
			t.Logf("%s/%s\n was %s\n is  %s", c.Kind, c.Name, was, content(c))
		}
	}
	t.Fatalf("%s: hash %s, %+v; want %s, %+v", how, got.Hash, got.Summary, want.Hash, want.Summary)
}

func text(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// at is where the server keeps an object of the large plan.
func at(client dynamic.Interface, o object) dynamic.ResourceInterface {
	for _, kind := range kindsOfMany() {
		if kind.kind == o["kind"] {
			return client.Resource(kind.resource).Namespace(o["metadata"].(object)["namespace"].(string))
		}
	}
	return nil
}

// load applies objects as changeward would.
func load(t *testing.T, cluster *kubetest.Cluster, objects []object) {
	t.Helper()
	client := cluster.Dynamic(kubetest.Admin)
	group := errgroup.Group{}
	group.SetLimit(16)
	for _, o := range objects {
		group.Go(func() error {
			applied := &unstructured.Unstructured{}
			if err := applied.UnmarshalJSON([]byte(text(o))); err != nil {
				return err
			}
			_, err := at(client, o).Apply(t.Context(), applied.GetName(), applied, metav1.ApplyOptions{FieldManager: dryrun.Manager})
			return err
		})
	}
	assert.NilError(t, group.Wait())
}

// intruders are controllers, autoscalers and people, who write to what the
// plan does not touch, 100 times a second.
type intruders struct {
	writes atomic.Int64
	stop   context.CancelFunc
	done   sync.WaitGroup
	failed atomic.Value
}

func intrude(t *testing.T, cluster *kubetest.Cluster, live []object) *intruders {
	ctx, stop := context.WithCancel(t.Context())
	in := &intruders{stop: stop}
	t.Cleanup(stop)
	client := cluster.Dynamic(kubetest.Admin)
	turns := make(chan int)
	in.done.Go(func() {
		defer close(turns)
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for turn := 0; ; turn++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			select {
			case <-ctx.Done():
				return
			case turns <- turn:
			}
		}
	})
	for range 4 {
		in.done.Go(func() {
			for turn := range turns {
				o := live[turn*7%len(live)]
				name, patch, subresources := intrusion(o, turn)
				_, err := at(client, o).Patch(ctx, name, types.MergePatchType, []byte(patch),
					metav1.PatchOptions{FieldManager: fmt.Sprint("stranger-", turn%3)}, subresources...)
				if err != nil && ctx.Err() == nil {
					in.failed.Store(err)
				}
				in.writes.Add(1)
			}
		})
	}
	return in
}

// leave stops the intruders; that none of their writes was refused is part of
// the test.
func (in *intruders) leave(t *testing.T) {
	t.Helper()
	in.stop()
	in.done.Wait()
	if err := in.failed.Load(); err != nil {
		t.Fatal(err)
	}
}

// intrusion is one foreign write: to status, to an annotation, or to fields
// that the manifest does not have.
func intrusion(o object, turn int) (name, patch string, subresources []string) {
	name = o["metadata"].(object)["name"].(string)
	patch = fmt.Sprintf(`{"metadata":{"annotations":{"stranger.example/seen":"%d"},"labels":{"stranger":"l%d"}}}`, turn, turn)
	switch o["kind"].(string) + fmt.Sprint(turn%2) {
	case "ConfigMap0", "Secret0":
		patch = fmt.Sprintf(`{"data":{"stranger":"%d"}}`, 1000+turn%9*1000) // base64 of something, too
	case "Deployment0":
		patch = fmt.Sprintf(`{"spec":{"replicas":%d}}`, 1+turn%5)
	case "Deployment1":
		patch, subresources = fmt.Sprintf(`{"status":{"observedGeneration":%d}}`, turn), []string{"status"}
	case "Service0":
		patch, subresources = fmt.Sprintf(`{"status":{"conditions":[{"type":"A","status":"True","reason":"R%d","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, turn), []string{"status"}
	case "Widget0":
		patch, subresources = fmt.Sprintf(`{"status":{"seen":%d}}`, turn), []string{"status"}
	case "Widget1":
		patch = fmt.Sprintf(`{"spec":{"mode":"busy %s"}}`, strings.Repeat("x", turn%5))
	}
	return name, patch, subresources
}
