package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/state"
)

// setPolicy sets the policy in force with some of its text replaced.
func (s shop) setPolicy(t *testing.T, old, text string) {
	t.Helper()
	admin := s.as(kubetest.Admin)
	policy := admin.run(t, "policy", "show").exits(t, 0).stdout
	assert.Assert(t, strings.Contains(policy, old), policy)
	admin.run(t, "policy", "set", "-f", s.write(t, "policy.next", strings.ReplaceAll(policy, old, text)), "--yes").exits(t, 0)
}

// setRoster sets the roster.
func (s shop) setRoster(t *testing.T, text string) {
	t.Helper()
	s.as(kubetest.Admin).run(t, "signer", "roster", "set", "-f", s.write(t, "roster.next", text), "--yes").exits(t, 0)
}

func TestWherePolicyAsksForARosterAnApprovalCountsOnlyWithAKeyOnIt(t *testing.T) {
	s := own(t).open(t)
	admin := s.as(kubetest.Admin)
	roster := admin.run(t, "signer", "roster", "show").exits(t, 0).tells(t, "this is a draft").stdout
	carols := "  - keys:\n    - " + publicKey(t, s.as("carol")) + "\n    user: carol\n"
	assert.Assert(t, strings.Contains(roster, carols), roster)
	s.setRoster(t, strings.ReplaceAll(roster, carols, ""))
	s.setPolicy(t, "enrollment: attested", "enrollment: roster")
	change := s.proposed(t)
	s.as("carol").run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, "NotOnRoster")
	s.gate(t, "ci").exits(t, 2)
	s.as("carol").run(t, "signer", "list").exits(t, 0).prints(t, "not-on-roster")
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 0)
	s.gate(t, "ci").exits(t, 0)

	t.Run("an older version does not come back", func(t *testing.T) { s.rosterGoesBack(t, roster) })
	t.Run("one that has expired counts nobody", func(t *testing.T) { s.rosterExpires(t, roster) })
}

func publicKey(t *testing.T, p person) string {
	t.Helper()
	return strings.Join(strings.Fields(string(read(t, p.key()+".pub")))[:2], " ")
}

// rosterGoesBack replays the first version, as an admin signed it, as the newest.
func (s shop) rosterGoesBack(t *testing.T, everyone string) {
	s.setRoster(t, everyone)
	maps := s.Client(kubetest.Admin).CoreV1().ConfigMaps(install.Namespace)
	first, err := maps.Get(t.Context(), state.NumberedName(state.TypeRoster, 1), metav1.GetOptions{})
	assert.NilError(t, err)
	replayed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: state.NumberedName(state.TypeRoster, 3), Labels: first.Labels, Annotations: first.Annotations},
		Immutable: first.Immutable, Data: first.Data}
	_, err = maps.Create(t.Context(), replayed, metav1.CreateOptions{})
	assert.NilError(t, err)
	s.as("carol").run(t, "list").exits(t, 0).tells(t, "note: roster record "+replayed.Name+" does not count: NotEntitled: ")
	s.as("carol").run(t, "signer", "roster", "show").exits(t, 0).prints(t, "user: carol\n")
	s.as(kubetest.Admin).run(t, "doctor").exits(t, 3).prints(t, "fail  versions: these count for nothing: "+replayed.Name)
	assert.NilError(t, maps.Delete(t.Context(), replayed.Name, metav1.DeleteOptions{}))
}

func (s shop) rosterExpires(t *testing.T, everyone string) {
	s.write(t, "shop.yaml", s.config("later"))
	s.approved(t)
	s.gate(t, "ci").exits(t, 0)
	soon := state.FormatTime(time.Now().Add(2 * time.Second))
	s.setRoster(t, strings.Replace(everyone, "spec:\n", "spec:\n  expires: "+soon+"\n", 1))
	eventually(t, "the roster has not expired", func() error {
		if got := s.gate(t, "ci"); got.code != 2 || !strings.Contains(got.stdout, "RosterExpired") {
			return errors.New(got.String())
		}
		return nil
	})
	s.as(kubetest.Admin).run(t, "doctor").prints(t, "expiry: ")
}

func TestWithTheFenceDownPolicySaysWhetherSignaturesAreEnough(t *testing.T) {
	s := own(t).open(t)
	change := s.proposed(t)
	for _, name := range []string{admission.RecordsPolicy, admission.GatePolicy} {
		assert.NilError(t, s.Client(kubetest.Admin).AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, "AdmissionMissing")
	s.gate(t, "ci").exits(t, 2).prints(t, "AdmissionMissing")
	s.setPolicy(t, "identity: both", "identity: signed")
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, "GroupsNotAttested")
	s.setPolicy(t, "approvers: [{groups: [sre], count: 1}]", "approvers: [{users: [alice], count: 1}]")
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 0)
	s.gate(t, "ci").exits(t, 0).prints(t, "signed only")
	s.as("carol").run(t, "show", change.ID).exits(t, 0).prints(t, "signed only")
}
