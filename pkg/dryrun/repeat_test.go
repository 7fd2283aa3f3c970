package dryrun_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// pair are a ConfigMap that is there and changes, and a new one.
func pair(namespace, value string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: old, namespace: %[1]s}
data: {k: %[2]s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: new, namespace: %[1]s}
data: {k: %[2]s}
`, namespace, value)
}

func applyOld(t *testing.T, namespace string) {
	t.Helper()
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, strings.Split(pair(namespace, "v1"), "---")[0])
}

func TestValuesThatAWebhookDrawsAnewAreMarkedAndTheHashStays(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	applyOld(t, namespace)
	cluster(t).Mutate(t, []string{namespace}, []string{"configmaps"}, func() map[string]string {
		return map[string]string{"random": fmt.Sprint(rand.Uint64()), "team": "a"}
	})
	poll.WaitOn(t, func(poll.LogT) poll.Result { // the server takes a moment to heed a webhook
		if lines := planned(t, pair(namespace, "v2")); strings.Contains(fmt.Sprint(lines), "random") {
			return poll.Success()
		}
		return poll.Continue("no webhook yet")
	})
	lines, hash := observation{twice: true}.plan(t, pair(namespace, "v2"))
	assert.DeepEqual(t, lines, []string{
		"+ " + namespace + "/ConfigMap/new (create)",
		"  admission metadata.annotations.random: differs",
		"  admission metadata.annotations.team: a",
		"~ " + namespace + "/ConfigMap/old (update)",
		`data.k: "v1" → "v2"`,
		"metadata.annotations.random: (differs from run to run)",
		`+ metadata.annotations.team: "a"`,
	})
	_, again := observation{twice: true}.plan(t, pair(namespace, "v2"))
	assert.Equal(t, again, hash)
	_, once := observation{}.plan(t, pair(namespace, "v2"))
	assert.Assert(t, once != hash)
	_, other := observation{twice: true}.plan(t, pair(namespace, "v3"))
	assert.Assert(t, other != hash)

	// Whoever writes the object has a new value drawn, and changes nothing.
	patch := []byte(`{"data":{"elsewhere":"1"},"metadata":{"annotations":{"team":null}}}`)
	_, err := cluster(t).Client(kubetest.Admin).CoreV1().ConfigMaps(namespace).Patch(t.Context(), "old", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "someone"})
	assert.NilError(t, err)
	lines, _ = observation{twice: true}.plan(t, pair(namespace, "v2"))
	assert.DeepEqual(t, lines[3:], []string{
		"~ " + namespace + "/ConfigMap/old (update)",
		`data.k: "v1" → "v2"`,
		"metadata.annotations.random: (differs from run to run)",
	})
}

// stamping is a policy that writes down when an object was written: managed
// fields are the one clock that its language can read.
const stamping = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: dryrun-stamping}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  matchConditions: [{name: ours, expression: "request.namespace == 'NAMESPACE'"}]
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{metadata: Object.metadata{annotations: {"stamp": object.metadata.managedFields.map(m, string(m.time)).join(" ")}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: dryrun-stamping}
spec: {policyName: dryrun-stamping}
`

func TestATimeStampOfWholeSecondsIsMarked(t *testing.T) {
	c := cluster(t)
	namespace := c.Namespace(t)
	applyOld(t, namespace)
	mutatingPolicy(t, "dryrun-stamping", strings.ReplaceAll(stamping, "NAMESPACE", namespace))
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if lines := planned(t, pair(namespace, "v2")); strings.Contains(fmt.Sprint(lines), "stamp") {
			return poll.Success()
		}
		return poll.Continue("no policy yet")
	})
	lines, hash := observation{twice: true}.plan(t, pair(namespace, "v2"))
	assert.DeepEqual(t, lines, []string{
		"+ " + namespace + "/ConfigMap/new (create)",
		"  admission metadata.annotations.stamp: differs",
		"~ " + namespace + "/ConfigMap/old (update)",
		`data.k: "v1" → "v2"`,
		"metadata.annotations.stamp: (differs from run to run)",
	})
	_, again := observation{twice: true}.plan(t, pair(namespace, "v2"))
	assert.Equal(t, again, hash)
}

// mutatingPolicy applies a policy and its binding, both of one name, for the
// time of the test.
func mutatingPolicy(t *testing.T, name, text string) {
	t.Helper()
	c := cluster(t)
	c.Apply(t, kubetest.Admin, "test", text)
	t.Cleanup(func() {
		client := c.Client(kubetest.Admin).AdmissionregistrationV1()
		_ = client.MutatingAdmissionPolicyBindings().Delete(context.Background(), name, metav1.DeleteOptions{})
		_ = client.MutatingAdmissionPolicies().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
}

func TestAMutationThatNeverComesToRestIsNoRandomOne(t *testing.T) {
	c := cluster(t)
	mutatingPolicy(t, "b35-stamp", caseFile(t, "B35-nonidempotent-mutation.live.yaml"))
	manifest := caseFile(t, "B35-nonidempotent-mutation.yaml")
	var lines []string
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if lines = planned(t, manifest); len(lines) > 1 {
			return poll.Success()
		}
		return poll.Continue("no policy yet")
	})
	assert.DeepEqual(t, lines, []string{"+ team-a/ConfigMap/b35 (create)",
		"  admission metadata.annotations.drip: x", "  admission metadata.annotations.injected: sidecar-v2"})
	c.Apply(t, kubetest.Admin, dryrun.Manager, manifest)
	lines, hash := observation{twice: true}.plan(t, manifest)
	assert.DeepEqual(t, lines, []string{"~ team-a/ConfigMap/b35 (update)", `metadata.annotations.drip: "x" → "xx"`})
	assert.DeepEqual(t, built(t, observation{}.observe(t, manifest)).Changes[0].Notes,
		[]string{"metadata.annotations.drip is not in the manifest: set by admission"})
	_, again := observation{twice: true}.plan(t, manifest)
	assert.Equal(t, again, hash)
}

func TestInventedValuesDifferNoMoreWhenLookedAtTwice(t *testing.T) {
	text := creates(t) + "\n---\n" + caseFile(t, "B65-generated-values.yaml")
	once, hash := observation{}.plan(t, text)
	twice, again := observation{twice: true}.plan(t, text)
	assert.DeepEqual(t, twice, once)
	assert.Equal(t, again, hash)
}

func TestOnlyTheFirstFiftyChangesAreRepeatedAndTheOthersSaySo(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	seen := observation{twice: true}.observe(t, configMaps(namespace, dryrun.Repeated+2))
	var unrepeated []string
	for _, one := range seen {
		if one.Again == nil {
			assert.Assert(t, is.Contains(one.Notes[0], "not repeated"))
			unrepeated = append(unrepeated, one.Object.Name())
		}
	}
	assert.DeepEqual(t, unrepeated, []string{"m-050", "m-051"})
}

func TestWhoElseChangesDecidesWhoIsRepeatedAndNothingAboutTheOthers(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	digests := func(text string) map[string]string {
		out := map[string]string{}
		for _, c := range built(t, observation{twice: true}.observe(t, text)).Changes {
			out[c.Body.Name] = c.Digest
		}
		return out
	}
	all := configMaps(namespace, dryrun.Repeated+2)
	before := digests(all)
	after := digests(strings.Replace(all, ", data:", ", dada:", 1)) // in error, so that one more is among the first
	assert.Equal(t, len(before), dryrun.Repeated+2)
	assert.Equal(t, len(after), len(before)-1)
	for name, digest := range after {
		assert.Equal(t, digest, before[name], name)
	}
}

func TestWhatOthersWriteBetweenTheTwoLooksIsLookedAtAnew(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	applyOld(t, namespace)
	client := cluster(t).Client(kubetest.Admin).CoreV1().ConfigMaps(namespace)
	edit := func(count int64) {
		if count == 2 { // before the second look
			patch := fmt.Appendf(nil, `{"data":{"k":"edited"}}`)
			_, err := client.Patch(t.Context(), "old", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: dryrun.Manager})
			assert.Check(t, err)
		}
	}
	manifest := strings.Split(pair(namespace, "v2"), "---")[0]
	lines, _ := observation{twice: true, force: true, config: meddled(t, http.MethodPatch, edit)}.plan(t, manifest)
	assert.Equal(t, lines[1], `data.k: "edited" → "v2"`)
}

func TestWhatChangesAllTheTimeIsSaidToMove(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	applyOld(t, namespace)
	client := cluster(t).Client(kubetest.Admin).CoreV1().ConfigMaps(namespace)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				patch := fmt.Appendf(nil, `{"data":{"k":"%d"}}`, i)
				_, _ = client.Patch(ctx, "old", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: dryrun.Manager})
			}
		}
	}()
	lines, _ := observation{twice: true, force: true}.plan(t, strings.Split(pair(namespace, "v2"), "---")[0])
	assert.Assert(t, is.Contains(lines[0], "Moving"), "%v", lines)
}
