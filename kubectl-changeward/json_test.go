package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
)

const shopNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"

// A change that policy sends to people: it touches a Secret and a ConfigMap,
// and runs a hook.
const shopManifests = `apiVersion: v1
kind: ConfigMap
metadata: {name: shop-config, namespace: shop}
data: {feature_new_cart: "true", size: "9007199254740993"}
---
apiVersion: v1
kind: Secret
metadata: {name: shop-db, namespace: shop}
stringData: {password: marker-new-secret}
---
apiVersion: batch/v1
kind: Job
metadata:
  generateName: migrate-
  namespace: shop
  annotations: {argocd.argoproj.io/hook: PreSync}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: m, image: "example.com/m:1"}]
`

// policyCases is one case that holds and one that does not.
const policyCases = `apiVersion: changeward.dev/v1alpha1
kind: PolicyTest
cases:
- name: a new ConfigMap is allowed
  plan: {changes: [{operation: create, kind: ConfigMap, namespace: shop, name: settings}]}
  expect: {verdict: allowed, rule: new-and-harmless}
- name: a new ConfigMap is denied
  plan: {changes: [{operation: create, kind: ConfigMap, namespace: shop, name: settings}]}
  expect: {verdict: denied}
`

// stage is a cluster with an install, a live app, and its people.
type stage struct {
	admin, alice, bob person
}

func newStage(t *testing.T) stage {
	t.Helper()
	cluster := kubetest.StartWithControllers(t, "alice:sre", "bob:dev,sre")
	assert.NilError(t, house(cluster))
	w := world{cluster}
	s := stage{admin: w.as("admin"), alice: w.as("alice"), bob: w.as("bob")}
	cluster.Apply(t, "admin", "changeward", shopNamespace)
	cluster.Apply(t, "admin", "changeward", `apiVersion: v1
kind: ConfigMap
metadata: {name: shop-config, namespace: shop}
data: {feature_new_cart: "false", size: "9007199254740993"}
`)
	cluster.Apply(t, "admin", "changeward", "apiVersion: v1\nkind: Secret\nmetadata: {name: shop-db, namespace: shop}\nstringData: {password: marker-old-secret}\n")
	return s
}

func TestEveryVerbAnswersWithOneDocumentOfThePublishedSchema(t *testing.T) {
	s := newStage(t)
	file := manifest(t, "shop.yaml", shopManifests)
	s.admin.run(t, "plan", "-f", file, "-o", "json").exits(t, 0).is(t, "Plan")
	s.admin.run(t, "gate", "-f", file, "-o", "json").exits(t, 1).is(t, "Error")
	s.admin.run(t, "doctor", "-o", "json").exits(t, 3).is(t, "DoctorReport")

	s.setUp(t)
	gate := s.token(t)
	id := s.propose(t, gate, file)
	s.decide(t, gate, id, file)
	s.settings(t, id)
	s.admin.run(t, "uninstall", "--yes", "-o", "json").exits(t, 0).is(t, "UninstallResult")
	s.admin.run(t, "uninstall", "--yes", "-o", "json").exits(t, 0).is(t, "UninstallResult")
}

func (s stage) setUp(t *testing.T) {
	install := []string{"install", "--name", "demo", "--env", "prod", "--approvers", "group:sre", "--proposers", "group:dev", "-o", "json"}
	s.admin.run(t, install...).exits(t, 1).is(t, "Error") // nobody there to ask
	s.admin.run(t, append(install, "--yes")...).exits(t, 0).is(t, "InstallResult")
	s.admin.run(t, append(install, "--yes")...).exits(t, 0).is(t, "InstallResult")
	s.admin.run(t, "doctor", "-o", "json").exits(t, 0).is(t, "DoctorReport")
}

// token makes the gate's identity.
func (s stage) token(t *testing.T) person {
	gate := stranger(t)
	s.admin.run(t, "token", "create", "ci", "--role", "propose", "--out", gate.kubeconfig(), "-o", "json").exits(t, 0).is(t, "Token")
	s.admin.run(t, "token", "create", "ci", "--role", "propose", "-o", "json").exits(t, 0).is(t, "Token")
	s.admin.run(t, "token", "create", "bot", "--role", "approve", "-o", "json").exits(t, 0).is(t, "Token")
	s.admin.run(t, "token", "create", "bot", "--role", "all", "-o", "json").exits(t, 1).is(t, "Error")
	return gate
}

// propose puts the plan forward and returns the change request.
func (s stage) propose(t *testing.T, gate person, file string) string {
	gate = gate.with("GITHUB_ACTOR", "carol")
	s.alice.run(t, "list", "-o", "json").exits(t, 0).is(t, "ChangeRequestList")
	plan := gate.run(t, "plan", "-f", file, "-o", "json", "--show-unchanged").exits(t, 0).is(t, "Plan")
	gate.run(t, "plan", "-f", file, "-o", "json", "--exit-code").exits(t, 2).is(t, "Plan")
	result := gate.run(t, "gate", "-f", file, "--target", "demo", "-o", "json").exits(t, 2).is(t, "GateResult")
	assert.Equal(t, result["plan"].(map[string]any)["hash"], plan["hash"])
	gate.run(t, "gate", "-f", file, "--target", "elsewhere", "-o", "json").exits(t, 1).is(t, "Error")
	gate.run(t, "approve", "1", "--yes", "-o", "json").exits(t, 1).is(t, "Error")
	s.alice.run(t, "list", "-o", "json").exits(t, 0).is(t, "ChangeRequestList")
	s.alice.run(t, "show", "1", "-o", "json").exits(t, 0).is(t, "ChangeRequest")
	s.alice.run(t, "show", "7", "-o", "json").exits(t, 1).is(t, "Error")
	s.alice.run(t, "policy", "explain", "1", "-o", "json").exits(t, 0).is(t, "PolicyExplanation")
	return result["change"].(map[string]any)["id"].(string)
}

// decide approves, revokes, approves again, and rejects.
func (s stage) decide(t *testing.T, gate person, id, file string) {
	hash := s.alice.run(t, "show", id, "-o", "json").is(t, "ChangeRequest")["hash"].(string)
	confirm := []string{"--yes", "-o", "json", "--confirm", hash[len(hash)-4:]}
	s.alice.run(t, "approve", id, "--yes", "-o", "json").exits(t, 1).is(t, "Error")
	s.alice.run(t, append([]string{"approve", id}, confirm...)...).exits(t, 0).is(t, "DecisionList")
	gate.run(t, "gate", "-f", file, "-o", "json").exits(t, 0).is(t, "GateResult")
	s.alice.run(t, "revoke", id, "--yes", "-o", "json", "--reason", "wrong window").exits(t, 0).is(t, "DecisionList")
	gate.run(t, "gate", "-f", file, "-o", "json").exits(t, 2).is(t, "GateResult")
	s.bob.run(t, "reject", id, "--yes", "-o", "json", "--reason", "not today").exits(t, 0).is(t, "DecisionList")
	gate.run(t, "gate", "-f", file, "-o", "json").exits(t, 4).is(t, "GateResult")
	gate.run(t, "gate", "-f", file, "--again", "-o", "json").exits(t, 1).is(t, "Error")
	again := gate.run(t, "gate", "-f", file, "--again", "--reason", "tomorrow then", "-o", "json").exits(t, 2).is(t, "GateResult")
	assert.Equal(t, again["change"].(map[string]any)["number"], 2.0)
	s.alice.run(t, "show", id, "-o", "json").exits(t, 0).is(t, "ChangeRequest")
}

// replay asks what a draft would have said of the plans that are recorded.
func (s stage) replay(t *testing.T, same string) {
	none := s.alice.run(t, "policy", "diff", same, "-o", "json").exits(t, 0).is(t, "PolicyDiff")
	assert.Equal(t, none["replayed"], 2.0)
	strict := manifest(t, "strict.yaml", "apiVersion: changeward.dev/v1alpha1\nkind: Policy\nspec: {clusterName: demo, default: deny}\n")
	found := s.alice.run(t, "policy", "diff", "-f", strict, "-o", "json").exits(t, 3).is(t, "PolicyDiff")
	first := found["differences"].([]any)[0].(map[string]any)
	assert.Equal(t, first["before"].(map[string]any)["verdict"].(map[string]any)["decision"], "approval-required")
	assert.Equal(t, first["after"].(map[string]any)["verdict"].(map[string]any)["decision"], "denied")
	s.alice.run(t, "policy", "diff", strict).exits(t, 3).says(t, "  now    approval-required: 1 of ", "  draft  denied", "2 of 2 recorded plans get another answer")
	s.alice.run(t, "policy", "diff", manifest(t, "bad.yaml", "kind: Policy\nspec: {rulez: []}\n"), "-o", "json").exits(t, 1).is(t, "Error")
}

// settings are policy and keys.
func (s stage) settings(t *testing.T, id string) {
	var shown struct{ Source string }
	out := s.admin.run(t, "policy", "show", "-o", "json").exits(t, 0)
	out.is(t, "Policy")
	assert.NilError(t, json.Unmarshal([]byte(out.stdout), &shown))
	policy := manifest(t, "policy.yaml", shown.Source+"# looked at\n")
	s.replay(t, policy)
	s.admin.run(t, "policy", "set", policy, "-o", "json", "--yes").exits(t, 0).is(t, "PolicySet")
	s.admin.run(t, "policy", "set", "-f", policy, "-o", "json", "--yes").exits(t, 0).is(t, "PolicySet")
	s.admin.run(t, "policy", "set", policy, "--yes").exits(t, 0).says(t, " is in force already\n")
	s.bob.run(t, "policy", "set", "-f", policy, "-o", "json", "--yes").exits(t, 1).is(t, "Error")
	s.admin.run(t, "policy", "set", "-f", manifest(t, "bad.yaml", "kind: Policy\nspec: {rulez: []}\n"), "-o", "json", "--yes").exits(t, 1).is(t, "Error")
	cases := manifest(t, "cases.yaml", policyCases)
	s.alice.run(t, "policy", "test", cases, "-o", "json").exits(t, 3).is(t, "PolicyTestReport")
	s.alice.run(t, "policy", "test", "-f", policy, "-o", "json").exits(t, 1).is(t, "Error")
	s.alice.run(t, "signer", "list", "-o", "json").exits(t, 0).is(t, "SignerList")
	s.alice.run(t, "signer", "enroll", "-o", "json", "--yes").exits(t, 1).is(t, "Error")
	second := filepath.Join(s.alice.home, "second")
	s.alice.run(t, "signer", "create", "--file", second, "-o", "json").exits(t, 0).is(t, "Signer")
	s.alice.run(t, "signer", "create", "--file", second, "-o", "json").exits(t, 1).is(t, "Error")
	first := s.alice.key()
	s.alice.run(t, "signer", "enroll", "--key", second, "--voucher", first, "-o", "json", "--yes").exits(t, 0).is(t, "Signer")
	s.admin.run(t, "connect", "prod", "--context", "admin", "--env", "prod", "-o", "json").exits(t, 0).is(t, "Target")
	s.admin.run(t, "connect", "dev", "--context", "admin", "--env", "dev", "-o", "json").exits(t, 1).is(t, "Error")
	s.admin.run(t, "targets", "-o", "json").exits(t, 0).is(t, "TargetList")
	s.admin.run(t, "version", "-o", "json").exits(t, 0).is(t, "Version")
}
