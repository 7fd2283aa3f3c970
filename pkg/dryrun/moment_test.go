package dryrun_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// configMaps are n of them, with one key each.
func configMaps(namespace string, n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: m-%03d, namespace: %s}, data: {k: v}}\n", i, namespace)
	}
	return text.String()
}

// busyWriter sets another key of each of n ConfigMaps in turn, about 90 times
// a second, until the returned function is called. That answers with the
// number of writes.
func busyWriter(t *testing.T, namespace string, n int) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	client := cluster(t).Client(kubetest.Admin).CoreV1().ConfigMaps(namespace)
	go func() {
		tick := time.NewTicker(11 * time.Millisecond)
		defer tick.Stop()
		written := 0
		for {
			select {
			case <-ctx.Done():
				done <- written
				return
			case <-tick.C:
				patch := fmt.Appendf(nil, `{"data":{"other":"%d"}}`, written)
				_, err := client.Patch(ctx, fmt.Sprintf("m-%03d", written%n), types.MergePatchType, patch,
					metav1.PatchOptions{FieldManager: "writer"})
				if err == nil {
					written++
				}
			}
		}
	}()
	return func() int { cancel(); return <-done }
}

func TestAWriterInBetweenNeverLooksLikeAChangeOfOurs(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	text := configMaps(namespace, 200)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, strings.SplitAfter(text, "\n---")...)
	_, calm := observation{}.plan(t, text)
	stop := busyWriter(t, namespace, 200)
	for range 3 {
		lines, hash := observation{concurrency: 4}.plan(t, text)
		assert.Equal(t, len(lines), 200)
		for _, line := range lines {
			assert.Assert(t, strings.HasPrefix(line, "= "), line)
		}
		assert.Equal(t, hash, calm)
	}
	assert.Assert(t, stop() > 20)
}

func TestAnObjectThatChangesBeforeEachDryRunIsSaidToMove(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, configMaps(namespace, 1))
	client := cluster(t).Client(kubetest.Admin).CoreV1().ConfigMaps(namespace)
	write := func(count int64) {
		patch := fmt.Appendf(nil, `{"data":{"other":"%d"}}`, count)
		_, err := client.Patch(t.Context(), "m-000", types.MergePatchType, patch, metav1.PatchOptions{})
		assert.NilError(t, err)
	}
	seen := observation{config: meddled(t, http.MethodPatch, write)}.observe(t, configMaps(namespace, 1))
	assert.Equal(t, seen[0].Failure.Reason, plan.ReasonMoving)
}

func TestAnObjectWhoseStatusAloneMovesIsPlanned(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	deployment := strings.ReplaceAll(caseFile(t, "B18-port-default-protocol.yaml"), "team-a", namespace)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, deployment)
	client := cluster(t).Client(kubetest.Admin).AppsV1().Deployments(namespace)
	write := func(count int64) {
		patch := fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, count)
		_, err := client.Patch(t.Context(), "b18", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		assert.NilError(t, err)
	}
	lines, _ := observation{config: meddled(t, http.MethodPatch, write)}.plan(t, deployment)
	assert.DeepEqual(t, lines, []string{"= " + namespace + "/Deployment.apps/b18 (none)"})
}

func TestAnObjectThatIsCreatedInBetweenIsObservedAgain(t *testing.T) {
	for _, method := range []string{http.MethodPatch, http.MethodPost} {
		namespace := cluster(t).Namespace(t)
		create := func(count int64) {
			if count == 1 {
				cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, configMaps(namespace, 1))
			}
		}
		lines, _ := observation{config: meddled(t, method, create)}.plan(t, configMaps(namespace, 1))
		assert.DeepEqual(t, lines, []string{"= " + namespace + "/ConfigMap/m-000 (none)"})
	}
}

func TestAnObjectThatIsDeletedInBetweenIsObservedAgain(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, configMaps(namespace, 1))
	remove := func(int64) {
		_ = cluster(t).Client(kubetest.Admin).CoreV1().ConfigMaps(namespace).Delete(t.Context(), "m-000", metav1.DeleteOptions{})
	}
	lines, _ := observation{config: meddled(t, http.MethodPatch, remove)}.plan(t, configMaps(namespace, 1))
	assert.DeepEqual(t, lines, []string{"+ " + namespace + "/ConfigMap/m-000 (create)"})
}

func TestThreeHundredObjectsComeInTheOrderOfTheSet(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	text := configMaps(namespace, 300)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, strings.Join(strings.SplitAfter(text, "\n---")[:150], ""))
	var hash string
	for i, concurrency := range []int{1, 8, 64} {
		seen := observation{concurrency: concurrency}.observe(t, text)
		assert.Equal(t, len(seen), 300)
		for i, one := range seen {
			assert.Equal(t, one.Object.Name(), fmt.Sprintf("m-%03d", i))
			assert.Assert(t, one.Failure == nil)
		}
		made, err := plan.Build(plan.Input{Observations: seen})
		assert.NilError(t, err)
		assert.Assert(t, i == 0 || made.Hash == hash)
		hash = made.Hash
	}
}

func TestACancelledContextEndsAtOnceWithoutObservations(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	client, err := dryrun.New(meddled(t, http.MethodPatch, func(count int64) {
		if calls.Store(count); count == 5 {
			cancel()
		}
	}))
	assert.NilError(t, err)
	kinds, err := client.Kinds(ctx)
	assert.NilError(t, err)
	objects, _ := manifest.Parse("test.yaml", []byte(configMaps("team-a", 300)))
	seen, err := client.Observe(ctx, manifest.Set{Objects: objects}, dryrun.ObserveOptions{Kinds: kinds,
		Applier: dryrun.Changeward(false), Masker: manifest.NewMasker([]byte("k"), "uid", false), Concurrency: 4})
	var problem *dryrun.Error
	assert.Assert(t, asError(err, &problem) && problem.Reason == dryrun.Cancelled, "%v", err)
	assert.Assert(t, seen == nil)
	assert.Assert(t, calls.Load() < 20, "%d requests", calls.Load())
}
