package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
)

const filePolicy = `apiVersion: changeward.dev/v1alpha1
kind: Policy
spec:
  clusterName: trial
  admins: {users: [bob]}
  rules:
  - name: all
    match: "true"
    decision: approval
    approvers: [{users: [carol], count: 1}]
  approvals: {identity: signed}
`

func TestRecordsInFilesServeATrialFromTheFirstPolicyToTheAudit(t *testing.T) {
	s := shared(t).open(t)
	folder := "dir:" + filepath.Join(t.TempDir(), "records")
	s.as("bob").run(t, "list", "--state", folder).exits(t, 1).tells(t, "policy set FILE --state")
	weak := manifest(t, "weak.yaml", strings.Replace(filePolicy, "identity: signed", "identity: both", 1))
	s.as("bob").run(t, "policy", "set", weak, "--state", folder, "--yes").exits(t, 1).tells(t, "no approval would ever count")
	policy := manifest(t, "policy.yaml", filePolicy)
	s.as("bob").run(t, "policy", "set", policy, "--state", folder, "--yes").exits(t, 0).prints(t, "policy version 1 is in force")
	s.as("bob").run(t, "policy", "set", "-f", policy, "--state", folder, "--yes").exits(t, 0).prints(t, "is in force already")

	gate := []string{"gate", "-f", s.dir, "--state", folder, "--target", "trial"}
	waiting := s.as("bob").run(t, gate...).exits(t, 2).tells(t, "signatures are all there is")
	s.as("bob").run(t, "approve", idOf(t, waiting), "--state", folder, "--yes").exits(t, 1)
	s.as("carol").run(t, "approve", "1", "--state", folder, "--yes", "-o", "json").exits(t, 0)
	s.as("bob").run(t, gate...).exits(t, 0)
	s.as("carol").run(t, "list", "--state", folder).exits(t, 0).prints(t, "approved")
	s.as("carol").run(t, "show", "1", "--state", folder).exits(t, 0)
	assert.Equal(t, len(s.records(t)), 0, "nothing lies in the cluster")

	v := s.verified(t, "eve", 0, "--state", folder, "--kubeconfig", "/nowhere")
	assert.Assert(t, v.Offline && v.Entries == 2 && v.Decisions == 1)
	s.as("eve").run(t, "audit", "report", "--state", folder, "--kubeconfig", "/nowhere").exits(t, 0).prints(t, "approved by carol")
	s.as("bob").run(t, "audit", "archive", "--older-than", "1ms", "--out", filepath.Join(t.TempDir(), "b"), "--state", folder, "--yes").
		exits(t, 0).prints(t, "nothing to archive")
}

func TestFilesWhosePolicyWasTakenAwayDoNotBeginAnew(t *testing.T) {
	w := shared(t)
	root := filepath.Join(t.TempDir(), "records")
	policy := manifest(t, "policy.yaml", filePolicy)
	set := []string{"policy", "set", policy, "--state", "dir:" + root, "--yes"}
	w.as("bob").run(t, set...).exits(t, 0)
	assert.NilError(t, os.RemoveAll(filepath.Join(root, string(state.TypePolicy))))
	w.as("bob").run(t, set...).exits(t, 0) // as if stopped before the policy was written
	assert.NilError(t, os.Mkdir(filepath.Join(root, string(state.TypePlan)), 0o700))
	assert.NilError(t, os.Rename(filepath.Join(root, "policy", "cw-policy-000001"), filepath.Join(root, "plan", "cw-plan-000001")))
	w.as("bob").run(t, set...).exits(t, 1)
}
