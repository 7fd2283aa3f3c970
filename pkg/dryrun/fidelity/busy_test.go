package fidelity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

// busy writes another key of n ConfigMaps in turn, 90 times a second, until
// the returned function is called, which says how often it wrote.
func busy(t *testing.T, namespace string, n int) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	client := kubetest.Shared(t).Client(kubetest.Admin).CoreV1().ConfigMaps(namespace)
	go func() {
		tick := time.NewTicker(11 * time.Millisecond)
		defer tick.Stop()
		for written := 0; ; {
			select {
			case <-ctx.Done():
				done <- written
				return
			case <-tick.C:
				patch := fmt.Appendf(nil, `{"data":{"other":"%d"}}`, written)
				if _, err := client.Patch(ctx, fmt.Sprintf("busy-%03d", written%n), types.MergePatchType, patch,
					metav1.PatchOptions{FieldManager: "writer"}); err == nil {
					written++
				}
			}
		}
	}()
	return func() int { cancel(); return <-done }
}

func TestAWriterInBetweenNeverLooksLikeAChangeOfAnApplierThatTakesFieldsOver(t *testing.T) {
	const n = 60
	namespace := kubetest.Shared(t).Namespace(t)
	maps := func(data string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: busy-%03d, namespace: %s}, data: {%s}}\n", i, namespace, data)
		}
		return out.String()
	}
	kubectlApply(t, maps("k: v, legacy: old"))
	for name, applier := range map[string]dryrun.Applier{"kubectl": dryrun.KubectlServer("", false), "Flux": fluxApplier(t, apps())} {
		hash := func() string {
			made, err := plan.Build(plan.Input{Cluster: plan.Cluster{UID: "uid"}, Observations: observe(t, applier, maps("k: v"))})
			assert.NilError(t, err)
			assert.Equal(t, len(made.Changes), n)
			assert.Assert(t, made.Complete(), "%s: %+v", name, made.Failed)
			for _, change := range made.Changes {
				for _, transition := range change.Body.Transitions {
					ours := transition.Path == "data.legacy" || strings.HasPrefix(transition.Path, "metadata.labels")
					assert.Assert(t, ours, "%s: %s", name, plan.TransitionText(transition))
				}
			}
			return made.Hash
		}
		calm, stop := hash(), busy(t, namespace, n)
		for range 3 {
			assert.Equal(t, hash(), calm, name)
		}
		assert.Assert(t, stop() > 20)
	}
	text := maps("k: v")
	prove(t, dryrun.KubectlServer("", false), text, real(t, text, "--server-side"))
}
