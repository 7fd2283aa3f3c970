package manifest_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
)

const withheld = "the server's text about this Secret may repeat values and is withheld"

func TestErrorTextsOfSecretsNeverRepeatAValue(t *testing.T) {
	object := secret(map[string]any{"bad": "CANARY_b42_not_base64!", "tls.crt": encoded("CANARY-b42-plaintext")}, map[string]any{"pin": int64(4711)}, nil)
	for text, want := range map[string]string{
		`failed to create typed patch object (team-a/b42-int; /v1, Kind=Secret): .stringData.pin: expected string, got &value.valueUnstructured{Value:4711}`: withheld + "; expected string; fields: stringData.pin",
		`Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 6`:                                                          withheld + "; illegal base64 data",
		`admission webhook "deny.example.com" denied the request: weak password CANARY-b42-plaintext`:                                                        withheld + `; denied the request; admission webhook "deny.example.com"`,
		`secrets "b" is forbidden: ValidatingAdmissionPolicy 'no-pins' with binding 'x' denied request: pin 4711`:                                            withheld + "; denied request; ValidatingAdmissionPolicy 'no-pins'",
		`Internal error occurred: failed calling webhook "w.example.com": Post "https://x/": refused`:                                                        withheld + `; failed calling webhook; failed calling webhook "w.example.com"`,
		`Secret "s" is invalid: data[tls.crt]: Invalid value: "CANARY-b42-plaintext": field is immutable when ` + "`immutable`" + ` is set`:                  withheld + `; field is immutable; fields: data["tls.crt"]`,
		`Apply failed with 1 conflict: conflict with "CANARY-b42-plaintext" using v1: .data.bad`:                                                             withheld + "; fields: data.bad",
		`CANARY of another version of the Secret`: withheld,
	} {
		got := manifest.Redact(text, object)
		assert.Equal(t, got, want)
		for _, leak := range []string{"4711", "CANARY"} {
			assert.Assert(t, !strings.Contains(got, leak), got)
		}
	}
}

func TestErrorTextsThatNeverHoldValuesAreKept(t *testing.T) {
	object := secret(map[string]any{"k": encoded("v")}, nil, nil)
	for _, text := range []string{
		`secrets "s" not found`,
		`namespaces "shop" not found`,
		`secrets "s" is forbidden: User "system:serviceaccount:team-a:planner" cannot patch resource "secrets" in API group "" in the namespace "team-a"`,
		`Operation cannot be fulfilled on secrets "s": the object has been modified; please apply your changes to the latest version and try again`,
		`Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.k`,
		`Patch "https://127.0.0.1:6443/api/v1/namespaces/shop/secrets/s": dial tcp 127.0.0.1:6443: connect: connection refused`,
	} {
		assert.Equal(t, manifest.Redact(text, object), text)
	}
	configMap := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": "v"}}
	assert.Equal(t, manifest.Redact("anything v", configMap), "anything v")
}
