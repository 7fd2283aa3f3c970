package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/state"
)

// diagnosed waits until doctor says so, with this exit code.
func (s shop) diagnosed(t *testing.T, code int, says ...string) {
	t.Helper()
	eventually(t, "the doctor does not say so", func() error {
		got := s.as(kubetest.Admin).run(t, "doctor")
		for _, text := range says {
			if got.code != code || !strings.Contains(got.stdout, text) {
				return errors.New(got.String())
			}
		}
		return nil
	})
}

func TestTheDoctorNamesWhatIsAboutToEndAndWhatHasEnded(t *testing.T) {
	s := own(t).open(t)
	s.diagnosed(t, 0, "ok    expiry: ")
	week := state.FormatTime(time.Now().Add(7 * 24 * time.Hour))
	s.setPolicy(t, "default: approval\n", "default: approval\n  expires: "+week+"\n")
	s.diagnosed(t, 0, "warn  expiry: the policy expires at "+week, "set a policy with a later `expires`")
	soon := state.FormatTime(time.Now().Add(3 * time.Second))
	s.setPolicy(t, week, soon)
	s.diagnosed(t, 3, "fail  expiry: the policy expired at "+soon+": nothing passes")
	s.gate(t, "ci").exits(t, 1)
}

func TestTheDoctorNamesThoseWhomThePolicyGivesMoreThanTheCluster(t *testing.T) {
	s := own(t).open(t)
	bindings := s.Client(kubetest.Admin).RbacV1().RoleBindings(install.Namespace)
	list, err := bindings.List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	for _, binding := range list.Items {
		if binding.RoleRef.Name == install.RoleApprove {
			assert.NilError(t, bindings.Delete(t.Context(), binding.Name, metav1.DeleteOptions{}))
		}
	}
	s.diagnosed(t, 0, "warn  people: ", "group:sre may not ", "though the policy says so", "set the policy again without --no-bindings")
}

func TestTheDoctorNamesKeysThatNothingVouchesForSinceTheFenceWasDown(t *testing.T) {
	s := own(t).open(t)
	enrolled := time.Now()
	s.diagnosed(t, 0, "ok    keys: ")
	for _, name := range []string{admission.RecordsPolicy, admission.GatePolicy} {
		assert.NilError(t, s.Client(kubetest.Admin).AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	s.diagnosed(t, 3, "warn  keys: while the admission policies may be down (AdmissionMissing)")
	eventually(t, "the second of the enrolments is not over", func() error { // records know seconds
		if time.Since(enrolled) < 2*time.Second {
			return errors.New("wait")
		}
		return nil
	})
	s.as(kubetest.Admin).run(t, "install", "--yes")
	s.diagnosed(t, 0, "warn  keys: approvals with these keys do not count: ", " of alice", "signer enroll")
}
