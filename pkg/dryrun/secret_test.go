package dryrun_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
)

func TestStringDataIsPlannedAsTheDataThatItBecomes(t *testing.T) {
	live(t, "B27-stringdata")
	assert.DeepEqual(t, planned(t, caseFile(t, "B27-stringdata.live.yaml")), []string{"= team-a/Secret/b27 (none)"})
	assert.DeepEqual(t, planned(t, caseFile(t, "B27-stringdata.yaml")), []string{
		"~ team-a/Secret/b27 (update)", "+ data.username: (masked)",
	})
}

func TestTypedSecretsAreDryRunWithTheirRealValues(t *testing.T) {
	assert.DeepEqual(t, planned(t, caseFile(t, "B43-typed-secret.yaml")), []string{
		"+ team-a/ConfigMap/b43-sibling (create)", "+ team-a/Secret/b43-pull (create)",
	})
}

func TestTwoValuesUnderOneMaskMakeTwoPlans(t *testing.T) {
	live(t, "B45-secret-same-length")
	a, hashOfA := observation{}.plan(t, caseFile(t, "B45-secret-same-length-a.yaml"))
	b, hashOfB := observation{}.plan(t, caseFile(t, "B45-secret-same-length-b.yaml"))
	assert.DeepEqual(t, a, []string{"~ team-a/Secret/b45 (update)", "data.pw: (masked) → (masked)"})
	assert.DeepEqual(t, a, b)
	assert.Assert(t, hashOfA != hashOfB)
}

func TestNoObservationHoldsAValueOfASecret(t *testing.T) {
	const canary = "CANARY-in-a-secret"
	secret := func(value string) string {
		return "{apiVersion: v1, kind: Secret, metadata: {name: canary, namespace: team-a, annotations: {note: " + value + "}}, stringData: {k: " + value + "}}"
	}
	cluster(t).Apply(t, kubetest.Admin, "someone", secret(canary+"-old"))
	refused := strings.ReplaceAll(secret(canary), "name: canary", "name: Not_a_name")
	for _, text := range []string{
		secret(canary), secret(canary + "-old"), refused,
		strings.ReplaceAll(secret(canary), "name: canary,", "name: canary-created,"),
		strings.ReplaceAll(secret(canary), "team-a", "nowhere"),
		strings.ReplaceAll(secret(canary), "stringData", "type: kubernetes.io/tls, stringData"),
		"{apiVersion: v1, kind: Namespace, metadata: {name: nowhere}}\n---\n" + strings.ReplaceAll(secret(canary), "team-a", "nowhere"),
	} {
		for _, force := range []bool{false, true} {
			assertWithout(t, observation{force: force}.observe(t, text), canary)
		}
	}
}

func TestASecretThatParsingLetsThroughIsRefusedWithoutItsValues(t *testing.T) {
	client, err := dryrun.New(cluster(t).Config(kubetest.Admin))
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	secret := func(name, field string, values map[string]any) manifest.Object {
		return manifest.Object{Content: map[string]any{"apiVersion": "v1", "kind": "Secret", field: values,
			"metadata": map[string]any{"name": name, "namespace": "team-a"}}}
	}
	seen, err := client.Observe(t.Context(), manifest.Set{Objects: []manifest.Object{
		secret("b42-int", "stringData", map[string]any{"pin": int64(4711), "token": "CANARY-b42-plaintext"}),
		secret("b42-base64", "data", map[string]any{"bad": "CANARY_b42_not_base64!"}),
	}}, dryrun.ObserveOptions{Kinds: kinds, Applier: dryrun.Changeward(false), Masker: manifest.NewMasker([]byte("k"), "uid", false)})
	assert.NilError(t, err)
	for _, one := range seen {
		assert.Equal(t, one.Failure.Reason, "Invalid", one.Failure.Message)
	}
	assert.Assert(t, strings.Contains(seen[0].Failure.Message, "pin"), seen[0].Failure.Message)
	assertWithout(t, seen, "4711")
	assertWithout(t, seen, "CANARY")
}

// assertWithout looks for a value in all that an observation holds.
func assertWithout(t *testing.T, observations any, value string) {
	t.Helper()
	text, err := json.Marshal(observations)
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(string(text), value), "%s", text)
}
