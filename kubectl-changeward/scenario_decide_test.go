package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

func TestAnApproverIsShownThePlanBeforeBeingAskedAndANoWritesNothing(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.proposed(t)
	for _, said := range []string{"n\n", "\n", "yes please\n", ""} {
		got := s.as("alice").typing(said).run(t, "approve", change.ID).exits(t, 1).tells(t, "error: not confirmed")
		assert.Equal(t, got.stdout, "")
		plan, question := strings.Index(got.stderr, `data.feature_new_cart: "false" → "true"`), strings.Index(got.stderr, "approve "+change.ID+" (#")
		assert.Assert(t, plan >= 0 && question > plan, "%s", got)
		assert.Assert(t, cmp.Contains(got.stderr, "? [y/N] "))
	}
	nobody := s.as("alice").run(t, "approve", change.ID).exits(t, 1)
	nobody.tells(t, "error: not confirmed: there is no terminal to ask on\nhint: say --yes")
	assert.DeepEqual(t, s.records(t, state.TypeDecision), []string(nil))
	assert.Equal(t, s.request(t, change.ID).Status, "awaiting-approval")
}

func TestAnApproverWhoSaysYesSigns(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.proposed(t)
	s.as("alice").run(t, "approve", change.ID, "--yes", "--confirm", "zzzz").exits(t, 1).tells(t, `"zzzz" is not the end of this plan's hash`)
	got := s.as("alice").typing("y\n").run(t, "approve", change.ID).exits(t, 0).tells(t, "approve "+change.ID+" (#", ")? [y/N] ")
	got.prints(t, "approved "+change.ID)
	var list struct {
		Items []struct{ Action, Hash string }
	}
	s.as("carol").typing("y\n").run(t, "approve", change.ID, "-o", "json").exits(t, 0).tells(t, "warning: this plan is approved already\n").json(t, &list)
	assert.Equal(t, list.Items[0].Action, "approve")
}

func TestAFirstKeyIsEnrolledWhenItIsFirstUsed(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.proposed(t)
	frank := s.as("frank")
	frank.typing("y\nn\n").run(t, "approve", change.ID).exits(t, 1).tells(t, "enroll key SHA256:", "error: not confirmed: nothing was done")
	frank.run(t, "signer", "list", "-o", "json").exits(t, 0)
	assert.DeepEqual(t, s.records(t, state.TypeDecision), []string(nil))
	frank.typing("y\ny\n").run(t, "approve", change.ID).exits(t, 0).tells(t, " as that of frank? [y/N] ", "enrolled key SHA256:")
	s.gate(t, "ci").exits(t, 0).prints(t, "approved by frank")
}

func TestADangerousPlanIsConfirmedByTheEndOfItsHash(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.write(t, "shop.yaml", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: NS-debug},
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}`)
	result := s.judged(t, "ci", 2)
	id, digits := result.Change.ID, result.Plan.Hash[len(result.Plan.Hash)-4:]
	s.as("alice").run(t, "approve", id, "--yes").exits(t, 1).tells(t, "the last four digits of the plan hash are needed", "hint: this plan is dangerous")
	s.as("alice").run(t, "approve", id, "--yes", "--confirm", "zzzz").exits(t, 1).tells(t, `"zzzz" is not the end of this plan's hash`)
	s.as("alice").typing("y\n").run(t, "approve", id).exits(t, 1).tells(t, "this plan is dangerous.")
	assert.DeepEqual(t, s.records(t, state.TypeDecision), []string(nil))
	s.as("alice").run(t, "approve", id, "--yes", "--confirm", digits).exits(t, 0)
	s.gate(t, "ci").exits(t, 0)
}

func TestSeveralRequestsAreReadAndSignedOneByOne(t *testing.T) {
	t.Parallel()
	a, b := shared(t).open(t), shared(t).open(t)
	one, two := a.proposed(t), b.proposed(t)
	got := a.as("alice").run(t, "approve", one.ID, two.ID, "--yes").exits(t, 0)
	got.tells(t, a.namespace+"/ConfigMap/shop-config", b.namespace+"/ConfigMap/shop-config").prints(t, "approved "+one.ID, "approved "+two.ID)
	a.gate(t, "ci").exits(t, 0)
	b.gate(t, "ci").exits(t, 0)
	wrong := a.as("alice").run(t, "approve", one.ID, "c_000000000000", "--yes").exits(t, 1).tells(t, "no change request c_000000000000")
	assert.Equal(t, wrong.stdout, "")
	assert.Equal(t, counts(a.records(t))["decision"], 1)
}

func TestARejectionStopsThePlanUntilItIsPutForwardAgainUnderANewNumber(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.proposed(t)
	rejected := s.as("carol").run(t, "reject", change.ID, "--yes", "--reason", "not today").exits(t, 0)
	rejected.prints(t, "rejected "+change.ID, "now rejected")
	got := s.gate(t, "ci").exits(t, 4).prints(t, "): rejected\n", "rejected by carol (SHA256:", "policy: denied: rejected by carol (not today)")
	got.tells(t, "error: denied: rejected by carol (not today)\nhint: once the objection is met, ask again with --again --reason\n")
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, "warning: this request is rejected, and no approval changes that", "was rejected, and no approval of the same number changes that")
	s.gate(t, "ci").exits(t, 4).prints(t, "policy: denied: rejected by carol")

	s.gate(t, "ci", "--again").exits(t, 1).tells(t, "error: --again needs a --reason")
	asked := s.judged(t, "ci", 2, "--again", "--reason", "carol is back")
	assert.Assert(t, asked.Change.Number > change.Number)
	assert.Assert(t, asked.Change.ID != change.ID)
	assert.Equal(t, s.request(t, asked.Change.ID).Reason, "carol is back")
	s.as("carol").run(t, "approve", asked.Change.ID, "--yes").exits(t, 0)
	assert.Equal(t, s.judged(t, "ci", 0).Change.ID, asked.Change.ID)
	assert.Equal(t, s.request(t, change.ID).Status, "rejected")
}

func TestOnesOwnApprovalCanBeTakenBack(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.approved(t)
	s.gate(t, "ci").exits(t, 0)
	s.as("carol").run(t, "revoke", change.ID, "--yes").exits(t, 1).tells(t, "carol has no approval of "+change.ID+" to take back")
	s.as("alice").run(t, "revoke", change.ID, "--yes", "--reason", "wrong window").exits(t, 0).
		prints(t, "revoked the approval of "+change.ID, "now awaiting-approval")
	s.gate(t, "ci").exits(t, 2).prints(t, "): awaiting-approval\n", "approved by alice (SHA256:", "does not count")
	s.as("carol").run(t, "approve", change.ID, "--yes").exits(t, 0)
	s.gate(t, "ci").exits(t, 0).prints(t, "policy: allowed: approved by carol")
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 4, "decision": 3})
}

func TestOnlyThoseWhomPolicyNamesCanApprove(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.proposed(t)
	grace := s.as("grace").run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, "error: ")
	assert.Assert(t, !strings.Contains(grace.stderr, "enrolled key"), "%s", grace)
	s.as("dave").run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, "error: ", "hint: who may do what is in the policy: `kubectl changeward policy show`")
	s.as("eve").run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, "error: ", "forbidden")
	assert.DeepEqual(t, s.records(t, state.TypeDecision), []string(nil))
}

func TestAPersonsSecondKeySignsOnlyOnceTheFirstHasVouchedForIt(t *testing.T) {
	t.Parallel()
	s, other := shared(t).open(t), shared(t).open(t)
	first, second := s.proposed(t), filepath.Join(t.TempDir(), "second")
	_, err := sign.CreateKey(second, "second")
	assert.NilError(t, err)
	s.as("carol").run(t, "approve", first.ID, "--yes").exits(t, 0)
	stolen := s.as("carol").run(t, "approve", first.ID, "--yes", "--key", second).exits(t, 1)
	stolen.tells(t, "is not enrolled for carol", "hint: a further key is vouched for by an enrolled one")
	assert.Equal(t, counts(s.records(t))["decision"], 1)
	asked := s.as("carol").run(t, "signer", "enroll", "--key", second, "--yes").exits(t, 0).prints(t, " waits: you with an enrolled key, or an admin, must sign for it")
	fingerprint := strings.Fields(asked.stdout)[1]
	s.as("carol").run(t, "signer", "list").exits(t, 0).prints(t, "waiting")
	s.as("carol").run(t, "approve", first.ID, "--yes", "--key", second).exits(t, 1)
	s.as("carol").run(t, "signer", "countersign", fingerprint, "--key", second, "--yes").exits(t, 1).tells(t, "is not enrolled for carol")
	s.as("bob").run(t, "signer", "countersign", fingerprint, "--yes").exits(t, 1).tells(t, "bob is no admin of policy version 1")
	s.as("carol").run(t, "signer", "countersign", fingerprint, "--yes").exits(t, 0).prints(t, "signed for key "+fingerprint+" of carol\n")
	other.as("carol").run(t, "approve", other.proposed(t).ID, "--yes", "--key", second).exits(t, 0)
	other.gate(t, "ci").exits(t, 0)
	s.as("carol").run(t, "signer", "list").exits(t, 0).prints(t, "carol", "young")
	s.as("bob").run(t, "signer", "revoke", fingerprint, "--yes", "--reason", "mine").exits(t, 1).tells(t, "bob is no admin")
	s.as(kubetest.Admin).run(t, "signer", "revoke", fingerprint, "--yes").exits(t, 1).tells(t, "a reason is required\nhint: say why with --reason")
	s.as(kubetest.Admin).run(t, "signer", "revoke", fingerprint, "--yes", "--reason", "laptop stolen").exits(t, 0).prints(t, "revoked key "+fingerprint+" of carol\n")
	other.gate(t, "ci").exits(t, 2).prints(t, "does not count: KeyRevoked")
	s.as("carol").run(t, "signer", "list").exits(t, 0).prints(t, "revoked")
}

func TestAnApprovalIsVerifiedWithSshKeygenAlone(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.approved(t)
	name, folder := s.records(t, state.TypeDecision)[0], t.TempDir()
	signed := s.as("carol").run(t, "show", name, "--pae").exits(t, 0).stdout
	signature := s.as("carol").run(t, "show", name, "--signature").exits(t, 0).stdout
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "sig"), []byte(signature), 0o600))
	allowed := "alice " + string(read(t, s.as("alice").key()+".pub"))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "allowed"), []byte(allowed), 0o600))
	verify := icmd.Command("ssh-keygen", "-Y", "verify", "-n", "decision@changeward.dev", "-I", "alice",
		"-f", filepath.Join(folder, "allowed"), "-s", filepath.Join(folder, "sig"))
	icmd.RunCmd(verify, icmd.WithStdin(strings.NewReader(signed))).Assert(t, icmd.Success)
	icmd.RunCmd(verify, icmd.WithStdin(strings.NewReader(signed+" "))).Assert(t, icmd.Expected{ExitCode: 255})
}
