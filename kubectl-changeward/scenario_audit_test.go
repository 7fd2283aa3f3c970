package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// rolled takes the shop from one feature to the next through the gate, with
// alice's approval, and applies it.
func (s shop) rolled(t *testing.T, feature string) render.GateResult {
	t.Helper()
	s.write(t, "shop.yaml", s.config(feature))
	change := s.judged(t, "ci", 2).Change
	s.as("alice").run(t, "approve", change.ID, "--yes", "--reason", "looked at "+feature, "--ticket", "SHOP-7").exits(t, 0)
	passed := s.judged(t, "ci", 0)
	s.apply(t, "changeward", s.config(feature))
	s.judged(t, "ci", 0)
	return passed
}

func (w world) verified(t *testing.T, who string, code int, more ...string) render.AuditVerification {
	t.Helper()
	var v render.AuditVerification
	w.as(who).run(t, append([]string{"audit", "verify", "-o", "json"}, more...)...).exits(t, code).json(t, &v)
	return v
}

func TestAnAuditorProvesWhatWasApprovedWithAndWithoutTheCluster(t *testing.T) {
	s := own(t).open(t)
	head := s.rolled(t, "on").ChainHead
	s.rolled(t, "beta")
	s.gate(t, "ci").exits(t, 0).prints(t, "audit head: sha256:")
	v := s.verified(t, "alice", 0, "--expect-head", head)
	assert.Equal(t, v.Behind, 2)
	s.verified(t, "alice", 0, "--target", clusterName, "--trust", v.FirstPolicy)
	s.as("alice").run(t, "audit", "verify", "--target", "nowhere").exits(t, 1).tells(t, "unknown target")
	s.as("alice").run(t, "audit", "log", "--scope", s.dir).exits(t, 0).prints(t, "approval-required", "allowed", "system:serviceaccount:changeward-gate:ci")
	s.as("alice").run(t, "audit", "log", "--since", "1h", "-o", "json").exits(t, 0)
	s.as("alice").run(t, "audit", "report").exits(t, 0).prints(t, "applied without an approval: 0", "all that passed through a gate: 2",
		"approved by alice", "ticket SHOP-7: looked at beta", "live objects last compared")
	s.as("alice").run(t, "audit", "report", "-o", "markdown").exits(t, 0).prints(t, "```")

	file := filepath.Join(t.TempDir(), "audit.bundle")
	var export render.AuditExport
	s.as("alice").run(t, "audit", "export", "--out", file, "-o", "json").exits(t, 0).json(t, &export)
	s.as("alice").run(t, "audit", "export", "--out", file).exits(t, 1).tells(t, "never overwritten")
	auditor := world{s.Cluster}
	offline := auditor.verified(t, "eve", 0, "--bundle", file, "--kubeconfig", "/nowhere", "--expect-head", v.Head, "--trust", v.FirstPolicy)
	assert.Assert(t, offline.Offline && offline.Head == v.Head && export.Head == v.Head)
	assert.Assert(t, strings.Contains(strings.Join(offline.Limits, " "), "attestation"))
	auditor.verified(t, "eve", 3, "--bundle", file, "--trust", state.Digest(nil))
	s.as("eve").run(t, "audit", "report", "--bundle", file, "-o", "json").exits(t, 0)
	content, err := os.ReadFile(file)
	assert.NilError(t, err)
	content[len(content)/2]++
	assert.NilError(t, os.WriteFile(file, content, 0o600))
	s.as("eve").run(t, "audit", "verify", "--bundle", file).exits(t, 1).tells(t, file)
}

func TestAnAuditNamesWhatDoesNotBelong(t *testing.T) {
	w := own(t)
	junk := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cw-plan-000009", Labels: map[string]string{state.LabelType: "plan"},
		Annotations: map[string]string{state.AnnotationActor: kubetest.Admin}}, Type: "changeward.dev/plan", Immutable: new(true)}
	_, err := w.Client(kubetest.Admin).CoreV1().Secrets(install.Namespace).Create(t.Context(), junk, metav1.CreateOptions{})
	assert.NilError(t, err)
	v := w.verified(t, "alice", 3)
	assert.Equal(t, len(v.Findings), 1)
	assert.Equal(t, v.Findings[0].Reason, gate.ReasonRecordInvalid)
	assert.Equal(t, v.Findings[0].Record, junk.Name)
	assert.Equal(t, v.Notes[0].Reason, audit.PlanUnheard)
}

func TestAnAdminArchivesAndEverythingGoesOn(t *testing.T) {
	s := own(t).open(t)
	s.rolled(t, "on")
	s.rolled(t, "beta")
	last := s.rolled(t, "gamma").Change
	file := filepath.Join(t.TempDir(), "old.bundle")
	archive := []string{"audit", "archive", "--older-than", "1ms", "--out", file, "--yes"}
	s.as("alice").run(t, archive...).exits(t, 1)
	assert.Equal(t, len(s.records(t, state.TypePlan)), 3)

	var done render.AuditArchive
	s.as(kubetest.Admin).run(t, append(archive, "-o", "json")...).exits(t, 0).json(t, &done)
	// What ended in the very second in which the newest began may stay.
	assert.Assert(t, done.Entries == 2 || done.Entries == 4, "%v", done)
	assert.Equal(t, len(s.records(t, state.TypePlan)), 3-done.Entries/2)
	v := s.verified(t, "alice", 0)
	assert.Equal(t, v.Archived, done.Entries)
	s.verified(t, "eve", 0, "--bundle", file, "--trust", v.FirstPolicy)

	s.as(kubetest.Admin).run(t, append(archive, "-o", "json")...).exits(t, 0).json(t, &done) // nothing is left to do
	assert.Assert(t, done.Resumed && done.Deleted == 0)
	assert.Equal(t, s.rolled(t, "delta").Change.Number, last.Number+1)
	s.as("alice").run(t, "list").exits(t, 0)
	s.verified(t, "alice", 0)
}

func TestAnEntryOfTheChainIsVerifiedWithSshKeygenAlone(t *testing.T) {
	s := shared(t).open(t)
	s.proposed(t)
	name, folder := s.records(t, state.TypeAudit)[0], t.TempDir()
	signed := s.as("carol").run(t, "show", name, "--pae").exits(t, 0).stdout
	signature := s.as("carol").run(t, "show", name, "--signature").exits(t, 0).stdout
	epoch := s.as("carol").run(t, "show", "cw-epoch-000001", "--pae").exits(t, 0).stdout
	_, key, found := strings.Cut(epoch, `"gateKey":"`)
	assert.Assert(t, found, epoch)
	key, _, _ = strings.Cut(key, `"`)
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "sig"), []byte(signature), 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "allowed"), []byte("gate "+key+"\n"), 0o600))
	verify := icmd.Command("ssh-keygen", "-Y", "verify", "-n", "audit@changeward.dev", "-I", "gate",
		"-f", filepath.Join(folder, "allowed"), "-s", filepath.Join(folder, "sig"))
	icmd.RunCmd(verify, icmd.WithStdin(strings.NewReader(signed))).Assert(t, icmd.Success)
	icmd.RunCmd(verify, icmd.WithStdin(strings.NewReader(signed+" "))).Assert(t, icmd.Expected{ExitCode: 255})
}
