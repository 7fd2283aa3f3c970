package main

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// inCase is a shop in which a case's manifest is the only one.
func inCase(t *testing.T, name string) shop {
	t.Helper()
	s := shop{world: shared(t), dir: t.TempDir()}
	s.namespace = s.Namespace(t)
	s.write(t, "case.yaml", s.caseText(t, name))
	return s
}

func (s shop) caseText(t *testing.T, name string) string {
	t.Helper()
	return strings.ReplaceAll(caseText(t, name), "team-a", s.namespace)
}

// hash is that of the plan, as a person gets it who may do all.
func (s shop) hash(t *testing.T, flags ...string) string {
	t.Helper()
	return given{"", append([]string{"-f", s.dir}, flags...), ""}.planned(t, s.as(kubetest.Admin)).Hash
}

func TestAnApprovalDoesNotOutliveTheWorldThatItWasGivenFor(t *testing.T) {
	t.Parallel()
	s := inCase(t, "B58-stale-approval")
	s.apply(t, "changeward", s.caseText(t, "B58-stale-approval.live"))
	force := []string{"--force-conflicts", "--applier", "changeward"}
	proposed := s.gate(t, "ci", force...).exits(t, 2).prints(t, `data.limit: "10" → "20"`)
	s.as("alice").run(t, "approve", idOf(t, proposed), "--yes").exits(t, 0)
	s.gate(t, "ci", force...).exits(t, 0)
	before := s.hash(t, force...)

	s.apply(t, "someone", s.caseText(t, "B58-stale-approval.live-after"))
	object := s.namespace + "/ConfigMap/b58"
	moved := s.gate(t, "ci", force...).exits(t, 2).prints(t, object, `data.limit: "15" → "20"`, `takes over data.limit from "someone"`,
		"stale: the approval of "+idOf(t, proposed))
	assert.Assert(t, idOf(t, moved) != idOf(t, proposed))
	assert.Assert(t, s.hash(t, force...) != before)
	s.gate(t, "ci", "--applier", "changeward").exits(t, 1).prints(t, "✗ "+object+" (Conflict)", `data.limit: held by "someone", would become "20"`)

	s.apply(t, "changeward", s.caseText(t, "B58-stale-approval.live"))
	assert.Equal(t, s.hash(t, force...), before, "the same manifest and live state have the same hash")
	assert.Equal(t, idOf(t, s.gate(t, "ci", force...).exits(t, 0)), idOf(t, proposed))
}

func TestAnApprovalOpensNothingButThePlanThatWasSeen(t *testing.T) {
	t.Parallel()
	s := inCase(t, "B59-approval-scope")
	old := func(name string) string { return strings.Replace(s.caseText(t, name), "k: v", "k: old", 1) }
	s.apply(t, "changeward", old("B59-approval-scope"))
	s.apply(t, "changeward", old("B59-approval-scope-other-dir"))
	proposed := s.proposed(t)
	hashes := map[string]string{}
	for _, flags := range []string{"", "--force-conflicts", "--applier kubectl-server --force-conflicts", "--applier kubectl-client", "--applier kubectl-server --force-conflicts --field-manager other"} {
		hashes[s.hash(t, strings.Fields(flags)...)] = flags
	}
	assert.Equal(t, len(hashes), 5, "%v", hashes)
	s.as("alice").run(t, "approve", proposed.ID, "--yes").exits(t, 0)
	for _, flags := range []string{"--force-conflicts", "--applier kubectl-client"} {
		s.gate(t, "ci", strings.Fields(flags)...).exits(t, 2)
	}
	other := shop{world: s.world, namespace: s.namespace, dir: t.TempDir()}
	other.write(t, "case.yaml", other.caseText(t, "B59-approval-scope-other-dir"))
	assert.Assert(t, idOf(t, other.gate(t, "ci").exits(t, 2)) != proposed.ID)
	s.gate(t, "ci").exits(t, 0)

	other.write(t, "case.yaml", old("B59-approval-scope-other-dir")) // nothing to change, which needs no approval
	other.gate(t, "ci").exits(t, 0).prints(t, "nothing to change")
	other.write(t, "case.yaml", other.caseText(t, "B59-approval-scope-other-dir"))
	other.gate(t, "ci").exits(t, 2)
}

func TestWhatAdmissionAddsIsShownHashedAndNotAutoApproved(t *testing.T) {
	t.Parallel()
	s := inCase(t, "B70-admission")
	without := s.hash(t)
	s.Apply(t, kubetest.Admin, "test", caseText(t, "B70-admission.live"))
	t.Cleanup(func() {
		client := s.Client(kubetest.Admin).AdmissionregistrationV1()
		_ = client.MutatingAdmissionPolicyBindings().Delete(context.Background(), "b70", metav1.DeleteOptions{})
		_ = client.MutatingAdmissionPolicies().Delete(context.Background(), "b70", metav1.DeleteOptions{})
	})
	poll.WaitOn(t, func(poll.LogT) poll.Result { // the server takes a moment to heed it
		if s.hash(t) == without {
			return poll.Continue("no policy yet")
		}
		return poll.Success()
	})
	got := s.gate(t, "ci").exits(t, 2).prints(t, "(create)", "set by admission: spec.template.spec.hostNetwork: true",
		`set by admission: metadata.annotations["b70.example.com/by"]: "admission"`, "! privileged: spec.template.spec.hostNetwork = true")
	assert.Equal(t, s.request(t, idOf(t, got)).Hash, s.hash(t))
}

func TestOneForbiddenObjectIsAnErrorBesideTheOthersEvenForWhoMayKnowLittle(t *testing.T) {
	t.Parallel()
	s := inCase(t, "B39-rbac-forbidden")
	s.Apply(t, kubetest.Admin, "test", s.caseText(t, "B39-rbac-forbidden.live"))
	planner := "system:serviceaccount:" + s.namespace + ":planner"
	args := []string{"plan", "-f", s.dir, "--as", planner}
	s.as(kubetest.Admin).run(t, args...).exits(t, 1).prints(t, "+ "+s.namespace+"/ConfigMap/b39-ok (create)", "✗ "+s.namespace+"/Secret/b39-secret (Forbidden)",
		planner, "cannot patch", "✗ ClusterRole/b39-escalates (Forbidden)", "attempting to grant RBAC permissions not currently held", "not approvable").
		tells(t, "note: you may not read Namespace kube-system")
	var document render.PlanResult
	s.as(kubetest.Admin).run(t, append(args, "-o", "json")...).exits(t, 1).json(t, &document)
	assert.Equal(t, document.Cluster.UID, "")
	assert.Equal(t, len(document.Changes), 1)
	assert.Equal(t, len(document.Errors), 2)
	s.as(kubetest.Admin).run(t, "gate", "-f", s.dir, "--as", planner).exits(t, 1).tells(t, "error: ", "forbidden")
}
