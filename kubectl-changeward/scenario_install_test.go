package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
)

// What an install goes through, from a bare cluster to a bare cluster, on a
// cluster of its own: each step stands on the one before.
func TestAnInstallFromFirstToLast(t *testing.T) {
	t.Parallel()
	w := world{kubetest.StartWithControllers(t, people()...)}
	assert.NilError(t, house(w.Cluster))
	s := w.open(t)
	for _, step := range []struct {
		promise string
		prove   func(*testing.T)
	}{
		{"without it every verb says so, and a plan is still made", s.isMissing},
		{"it is shown and asked for, made once, and made no second time", s.isMade},
		{"a robot that approves counts as a person", s.robotApproves},
		{"a policy is checked whole, shown, asked for, and set as the next version", s.policyIsSet},
		{"a target leads to one cluster, and says so when it does not", s.targetsAreKept},
		{"an ambiguous id lists what it fits", s.idsAreTold},
		{"without its fence no approval counts, and the doctor says so", s.fenceIsMissed},
		{"a record that was changed counts no more", s.changedRecordsAreVoid},
		{"a policy that nobody could set stops every gate", s.forgedPolicyCountsForNothing},
		{"installing again mends the fence, and only newer records are attested", s.isMended},
		{"uninstalling it leaves nothing", s.isRemoved},
	} {
		if !t.Run(step.promise, func(t *testing.T) {
			if t.Failed() {
				return
			}
			step.prove(t)
		}) {
			return
		}
	}
}

func (s shop) isMissing(t *testing.T) {
	admin := s.as(kubetest.Admin)
	for _, verb := range [][]string{{"gate", "-f", s.dir}, {"list"}, {"show", "1"}, {"approve", "1"}, {"policy", "show"}, {"policy", "explain", "1"},
		{"signer", "list"}, {"token", "create", "ci", "--role", "propose"}} {
		admin.fails(t, "NoInstall", verb...).tells(t, `namespaces "changeward`, "hint: ")
	}
	admin.run(t, "list").tells(t, "hint: changeward is not installed in this cluster: an admin does that with `kubectl changeward install`\n")
	admin.run(t, "plan", "-f", s.dir).exits(t, 0).prints(t, " · no install, not approvable\n", `data.feature_new_cart: "false" → "true"`)
	admin.run(t, "doctor").exits(t, 3).prints(t, "fail  installed: changeward is not installed in this cluster\n      fix: run `kubectl changeward install`\n")
	admin.run(t, "uninstall").exits(t, 0).prints(t, "changeward is not installed here: nothing to do\n")
	admin.fails(t, "UnknownTarget", "plan", "-f", s.dir, "--target", clusterName).tells(t, `unknown target "demo"`, "hint: store it with `kubectl changeward connect demo")
}

func (s shop) isMade(t *testing.T) {
	admin, made := s.as(kubetest.Admin), []string{"install", "--name", clusterName, "--env", "prod", "--approvers", "group:sre", "--proposers", "group:dev"}
	admin.run(t, "install").exits(t, 1).tells(t, "error: the cluster needs a name: --name\n", "error: nobody could approve: name people with --approvers\n")
	admin.run(t, append(made, "--admins", "root")...).exits(t, 1).tells(t, "error: --admins root: want group:NAME or user:NAME\n")
	admin.run(t, made...).exits(t, 1).tells(t, "+ create Namespace/changeward\n", "error: not confirmed: there is no terminal")
	no := admin.typing("n\n").run(t, made...).exits(t, 1).tells(t, "+ create ConfigMap/changeward/cw-policy-000001 (the first policy)\ninstall changeward in this cluster (")
	assert.Equal(t, no.stdout, "")
	s.as("alice").run(t, append(made, "--yes")...).exits(t, 1).tells(t, `User "alice" cannot`)
	_, err := s.Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), install.Namespace, metav1.GetOptions{})
	assert.Assert(t, apierrors.IsNotFound(err), "something was made: %v", err)

	admin.typing("y\n").run(t, made...).exits(t, 0).prints(t, "installed. `kubectl changeward doctor` checks it")
	s.writesNothing(t, func() {
		admin.run(t, append(made, "--yes")...).exits(t, 0).prints(t, "changeward is installed already: nothing to do\n")
		admin.run(t, "install").exits(t, 0).prints(t, "nothing to do")
		admin.run(t, "install", "--name", "other", "--yes").exits(t, 1).tells(t, `installed already, with the name "demo", not "other"`)
	})
	token := admin.run(t, "token", "create", "ci", "--role", "propose", "--out", s.as("ci").kubeconfig()).exits(t, 0)
	token.prints(t, "kubeconfig written to "+s.as("ci").kubeconfig()).tells(t, "system:serviceaccount:changeward-gate:ci: the token dies at 2")
	s.as("alice").run(t, "token", "create", "mine", "--role", "propose").exits(t, 1).tells(t, `User "alice" cannot`)
	admin.run(t, "doctor").exits(t, 0).prints(t, `ok    installed: cluster "demo" (prod), epoch 1`, "ok    admission: ", "ok    separation: ")
	s.as("ci").run(t, "doctor").exits(t, 0).prints(t, "ok    rights: system:serviceaccount:changeward-gate:ci (a gate) may read records, propose\n", "ok    gate-power: ")
}

func (s shop) robotApproves(t *testing.T) {
	policy := s.as(kubetest.Admin).run(t, "policy", "show").exits(t, 0).stdout
	robots := strings.ReplaceAll(policy, "groups: [sre]", `groups: [sre, "system:serviceaccounts:changeward-approvers"]`)
	s.as(kubetest.Admin).run(t, "policy", "set", "-f", s.write(t, "policy.robots", robots), "--yes").exits(t, 0)
	token := s.as(kubetest.Admin).run(t, "token", "create", "chatops", "--role", "approve").exits(t, 0)
	kubeconfig := filepath.Join(t.TempDir(), "chatops")
	assert.NilError(t, os.WriteFile(kubeconfig, []byte(token.stdout), 0o600))
	change := s.proposed(t)
	s.as("eve").run(t, "approve", change.ID, "--yes", "--kubeconfig", kubeconfig).exits(t, 0).prints(t, "now approved")
	s.gate(t, "ci").exits(t, 0).prints(t, "policy: allowed: approved by system:serviceaccount:changeward-approvers:chatops\n")
	s.as(kubetest.Admin).run(t, "policy", "set", "-f", s.write(t, "policy.people", policy), "--yes").exits(t, 0)
	s.gate(t, "ci").exits(t, 2).prints(t, "does not count: NotInGroup")
}

func (s shop) policyIsSet(t *testing.T) {
	admin := s.as(kubetest.Admin)
	policy := admin.run(t, "policy", "show").exits(t, 0).stdout
	bad := s.write(t, "policy.bad", strings.ReplaceAll(policy, "change.env ==", "change.evn ==")+"  nonsense: 1\n")
	s.writesNothing(t, func() {
		got := admin.fails(t, "BadInput", "policy", "set", "-f", bad, "--yes")
		got.tells(t, "error: "+bad+":", ": spec.rules[2].match: undefined field 'evn'", ": spec.nonsense: unknown key\n")
		admin.fails(t, "BadInput", "policy", "set", "-f", s.write(t, "policy.broken", "spec: ["), "--yes")
		renamed := s.write(t, "policy.renamed", strings.ReplaceAll(policy, "clusterName: demo", "clusterName: other"))
		admin.fails(t, "NotEligible", "policy", "set", "-f", renamed, "--yes").tells(t, `the cluster is named "demo"; renaming it to "other" would void every approval`)
		next := s.write(t, "policy.next", strings.ReplaceAll(policy, "groups: [dev]", "groups: [dev, ops]"))
		asked := admin.typing("n\n").run(t, "policy", "set", "-f", next).exits(t, 1)
		asked.tells(t, "-  proposers: {groups: [dev]}\n+  proposers: {groups: [dev, ops]}\n", "role binding: RoleBinding/changeward/changeward-propose: add group:ops\n", "set this policy? [y/N] ")
		s.as("alice").run(t, "policy", "set", "-f", next, "--yes").exits(t, 1)
	})
	s.writes(t, map[string]int{"policy": 1}, func() {
		admin.run(t, "policy", "set", "-f", s.dir+"/policy.next", "--yes").exits(t, 0).prints(t, "is in force\n")
	})
	assert.Assert(t, cmp.Contains(s.members(t, "changeward-propose"), "ops"))
	s.writesNothing(t, func() { admin.run(t, "policy", "set", "-f", s.dir+"/policy.next", "--yes").exits(t, 0) })
	admin.run(t, "policy", "show", "--version", "1").exits(t, 0).prints(t, "proposers: {groups: [dev]}\n")
	admin.run(t, "policy", "set", "-f", s.write(t, "policy.first", policy), "--yes").exits(t, 0)

	cases := s.write(t, "policy.cases", `{apiVersion: changeward.dev/v1alpha1, kind: PolicyTest, cases: [{name: a flag needs SRE,
  plan: {changes: [{operation: update, kind: ConfigMap, namespace: shop, name: c, fields: [{path: data.a, action: change, old: "1", new: "2"}]}]},
  expect: {verdict: approval-required, rule: prod-needs-sre}}]}`)
	s.as("alice").run(t, "policy", "test", "-f", cases).exits(t, 0).prints(t, "a flag needs SRE")
	wrong := s.write(t, "policy.wrong", strings.ReplaceAll(string(read(t, cases)), "approval-required, rule: prod-needs-sre", "allowed"))
	s.as("alice").run(t, "policy", "test", "-f", wrong).exits(t, 3).prints(t, "a flag needs SRE", "approval-required").tells(t, "error: 1 of 1 cases failed\n")
}

// members are the subjects of a role binding of namespace changeward.
func (w world) members(t *testing.T, binding string) []string {
	t.Helper()
	found, err := w.Client(kubetest.Admin).RbacV1().RoleBindings(install.Namespace).Get(t.Context(), binding, metav1.GetOptions{})
	assert.NilError(t, err)
	var names []string
	for _, subject := range found.Subjects {
		names = append(names, subject.Name)
	}
	return names
}

func (s shop) targetsAreKept(t *testing.T) {
	elsewhere := shared(t).as("alice")
	alice := s.as("alice").with("XDG_CONFIG_HOME", t.TempDir())
	alice.run(t, "targets").exits(t, 0).prints(t, "no targets are stored: ")
	alice.run(t, "connect", "here", "--env", "staging").exits(t, 1).tells(t, "target here is said to be staging, but the policy of this cluster says prod\nhint: is this the right cluster?")
	alice.run(t, "targets", "-o", "name").exits(t, 0).prints(t, "")
	alice.run(t, "connect", "here", "--env", "prod", "--context", "alice").exits(t, 0).prints(t, "target here stored: context alice\n")
	alice.run(t, "connect", "other", "--kubeconfig", elsewhere.kubeconfig(), "--adapter", "kubernetes", "--option", "namespace=shop", "--option", "kubectl=x").exits(t, 0)
	alice.run(t, "targets").exits(t, 0).prints(t, "here    alice", "other   alice     shop")
	alice.run(t, "list", "--target", "here").exits(t, 0).prints(t, "#1")
	// Without other flags the stored kubeconfig leads to the other cluster.
	there := alice.process(t, "list", "--target", "other", "-o", "name").exits(t, 0)
	assert.Assert(t, !strings.Contains(there.stdout, s.request(t, "1").ID), "%s", there)
	alice.run(t, "list", "--target", "other").exits(t, 1).tells(t, "contradicts target other", "hint: leave out either --target or the other flag")
	alice.run(t, "connect", "here", "--context", "nope").exits(t, 1).tells(t, `the kubeconfig has no context "nope"`, "hint: the kubeconfig has these contexts: admin, alice")
	alice.run(t, "connect", "here", "--adapter", "docker").exits(t, 1).tells(t, `no adapter "docker": changeward knows kubernetes`)
	alice.run(t, "connect", "here", "--option", "colour=red").exits(t, 1).tells(t, "no such option: choose one of context, namespace, kubeconfig, rollout_timeout")
	// A stored target that has an environment is checked at each use.
	moved := alice.with("KUBECONFIG", alice.kubeconfig())
	staging := strings.ReplaceAll(s.as(kubetest.Admin).run(t, "policy", "show").stdout, "env: prod", "env: staging")
	before := s.as(kubetest.Admin).run(t, "policy", "show").stdout
	s.as(kubetest.Admin).run(t, "policy", "set", "-f", s.write(t, "policy.staging", staging), "--yes").exits(t, 0)
	moved.run(t, "list", "--target", "here").exits(t, 1).tells(t, "target here is said to be prod, but the policy of this cluster says staging")
	s.as(kubetest.Admin).run(t, "policy", "set", "-f", s.write(t, "policy.prod", before), "--yes").exits(t, 0)
}

func (s shop) isRemoved(t *testing.T) {
	admin := s.as(kubetest.Admin)
	s.writesNothing(t, func() {
		got := admin.typing("n\n").run(t, "uninstall").exits(t, 1)
		got.tells(t, "- delete ValidatingAdmissionPolicyBinding/changeward-records\n", "records are lost for good", "delete all of this, records and all, from this cluster (")
		s.as("alice").run(t, "uninstall", "--yes").exits(t, 1).tells(t, "forbidden")
	})
	admin.run(t, "uninstall", "--yes").exits(t, 0).prints(t, "uninstalled\n")
	for _, name := range []string{install.Namespace, install.NamespaceGate, install.NamespaceApprovers} {
		_, err := s.Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		assert.Assert(t, apierrors.IsNotFound(err), "%s: %v", name, err)
	}
	assert.DeepEqual(t, s.leftovers(t), []string(nil))
	admin.run(t, "uninstall", "--yes").exits(t, 0).prints(t, "changeward is not installed here: nothing to do\n")
	_, err := s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "after"}}, metav1.CreateOptions{})
	assert.NilError(t, err, "the cluster works as before")
	admin.fails(t, "NoInstall", "list")
}

// leftovers are cluster-scoped objects that bear changeward's name.
func (w world) leftovers(t *testing.T) []string {
	t.Helper()
	var names []string
	client, ctx, all := w.Client(kubetest.Admin), t.Context(), metav1.ListOptions{}
	roles, err := client.RbacV1().ClusterRoles().List(ctx, all)
	assert.NilError(t, err)
	for _, item := range roles.Items {
		names = append(names, item.Name)
	}
	bindings, err := client.RbacV1().ClusterRoleBindings().List(ctx, all)
	assert.NilError(t, err)
	for _, item := range bindings.Items {
		names = append(names, item.Name)
	}
	policies, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, all)
	assert.NilError(t, err)
	for _, item := range policies.Items {
		names = append(names, item.Name)
	}
	fences, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, all)
	assert.NilError(t, err)
	for _, item := range fences.Items {
		names = append(names, item.Name)
	}
	var left []string
	for _, name := range names {
		if strings.Contains(name, "changeward") {
			left = append(left, name)
		}
	}
	return left
}

// eventually waits for something that the server takes up in its own time.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if err := try(); err != nil {
			return poll.Continue("%s", fmt.Sprintf("%s: %v", what, err))
		}
		return poll.Success()
	})
}
