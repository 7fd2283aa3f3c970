package main

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// These are steps of TestAnInstallFromFirstToLast: what an administrator could
// do to records, and what it leads to.

// forgedPlan is a plan record that an administrator writes by hand.
func (w world) forgedPlan(t *testing.T, number int, hash string) {
	t.Helper()
	signer, err := sign.CreateKey(t.TempDir()+"/key", "nobody")
	assert.NilError(t, err)
	id := state.ChangeID(w.uid(t), hash, number)
	envelope, _, err := sign.Seal(signer, state.TypePlan, id, hash, state.Plan{ClusterUID: w.uid(t), Number: number, Scope: "forged",
		Proposer: state.Person{Username: kubetest.Admin}, Time: "2026-01-01T00:00:00Z"})
	assert.NilError(t, err)
	immutable := true
	_, err = w.Client(kubetest.Admin).CoreV1().Secrets(install.Namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: state.NumberedName(state.TypePlan, number), Labels: map[string]string{state.LabelType: "plan"},
			Annotations: map[string]string{state.AnnotationActor: kubetest.Admin}},
		Immutable: &immutable, Type: "changeward.dev/plan", Data: map[string][]byte{state.DataEnvelope: envelope, state.DataPlan: []byte("nothing")}}, metav1.CreateOptions{})
	assert.NilError(t, err)
}

func (w world) uid(t *testing.T) string {
	t.Helper()
	namespace, err := w.Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
	assert.NilError(t, err)
	return string(namespace.UID)
}

func (s shop) idsAreTold(t *testing.T) {
	const number = 900
	real, uid := s.request(t, "1"), s.uid(t)
	hash := ""
	for i := range 1 << 20 {
		hash = state.Digest([]byte{byte(i), byte(i >> 8), byte(i >> 16)})
		if strings.HasPrefix(state.ChangeID(uid, hash, number), real.ID[:6]) {
			break
		}
	}
	s.forgedPlan(t, number, hash)
	forged := state.ChangeID(uid, hash, number)
	got := s.as("alice").fails(t, "Ambiguous", "show", real.ID[:6])
	got.tells(t, "error: "+real.ID[:6]+" fits several change requests: ", real.ID+" (#1)", forged+" (#900)", "hint: `kubectl changeward list` shows all change requests\n")
	s.as("alice").fails(t, "Ambiguous", "approve", real.ID[:6], "--yes")
	assert.Equal(t, s.request(t, real.ID[:12]).ID, real.ID)
	for _, ref := range []string{"c_", "c_12", "c_ffffffffffff", "p_ffff", "#12345", "nonsense", ""} {
		s.as("alice").fails(t, "NotFound", "show", ref).tells(t, "no change request", "hint: `kubectl changeward list` shows all change requests\n")
	}
	s.as("alice").run(t, "list").exits(t, 0).prints(t, forged+"   invalid").tells(t, "note: plan record cw-plan-000900 does not count: RecordInvalid: ")
	s.as("alice").fails(t, "RecordInvalid", "approve", "900", "--yes").tells(t, forged+" cannot be approved: ")
	assert.NilError(t, s.Client(kubetest.Admin).CoreV1().Secrets(install.Namespace).Delete(t.Context(), "cw-plan-000900", metav1.DeleteOptions{}))
}

func (s shop) fenceIsMissed(t *testing.T) {
	change := s.judged(t, "ci", 2).Change
	s.as("carol").run(t, "approve", change.ID, "--yes").exits(t, 0)
	s.gate(t, "ci").exits(t, 0)
	client := s.Client(kubetest.Admin)
	for _, name := range []string{admission.RecordsPolicy, admission.GatePolicy} {
		assert.NilError(t, client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	s.gate(t, "ci").exits(t, 2).prints(t, "approved by carol (SHA256:", "does not count: NotAttested: AdmissionMissing", "warning: no approval can be attested now: AdmissionMissing: ")
	s.as(kubetest.Admin).run(t, "doctor").exits(t, 3).prints(t, "fail  admission: AdmissionMissing: ", "fix: run `kubectl changeward install` again").tells(t, "error: the install has faults\n")
	eventually(t, "the fence still acts", func() error {
		_, err := client.CoreV1().Secrets(install.Namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "probe"}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// rewrite deletes a record Secret, and makes it anew with other content.
func (w world) rewrite(t *testing.T, name string, change func(data map[string][]byte)) (restore func()) {
	t.Helper()
	secrets := w.Client(kubetest.Admin).CoreV1().Secrets(install.Namespace)
	old, err := secrets.Get(t.Context(), name, metav1.GetOptions{})
	assert.NilError(t, err)
	put := func(data map[string][]byte) {
		assert.NilError(t, secrets.Delete(t.Context(), name, metav1.DeleteOptions{}))
		_, err = secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: old.Labels, Annotations: old.Annotations},
			Immutable: old.Immutable, Type: old.Type, Data: data}, metav1.CreateOptions{})
		assert.NilError(t, err)
	}
	changed := old.DeepCopy().Data
	change(changed)
	put(changed)
	return func() { put(old.Data) }
}

func flip(data []byte) []byte {
	flipped := append([]byte(nil), data...)
	flipped[len(flipped)/2] ^= 1
	return flipped
}

func (s shop) changedRecordsAreVoid(t *testing.T) {
	const plan = "cw-plan-000001"
	for key, data := range map[string]string{"the plan": state.DataPlan, "the signed header": state.DataEnvelope} {
		t.Run(key, func(t *testing.T) {
			restore := s.rewrite(t, plan, func(content map[string][]byte) { content[data] = flip(content[data]) })
			s.as("alice").run(t, "list").exits(t, 0).prints(t, "invalid").tells(t, "note: plan record "+plan+" does not count: RecordInvalid: ")
			s.as("alice").run(t, "show", "1").exits(t, 0).prints(t, "): invalid\n", "cannot be used: RecordInvalid")
			s.as("alice").fails(t, "RecordInvalid", "approve", "1", "--yes").tells(t, " cannot be approved: ")
			result := s.judged(t, "ci", 2)
			assert.Assert(t, result.Change.Number > 1, "a changed record is never used again")
			restore()
		})
	}
	t.Run("a decision in another's name", func(t *testing.T) {
		maps := s.Client(kubetest.Admin).CoreV1().ConfigMaps(install.Namespace)
		all, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: state.LabelType + "=decision"})
		assert.NilError(t, err)
		forged := all.Items[0].DeepCopy()
		forged.ObjectMeta = metav1.ObjectMeta{Name: "cw-decision-0123456789ab", Labels: forged.Labels, Annotations: forged.Annotations}
		forged.Annotations[state.AnnotationActor] = "carol"
		_, err = maps.Create(t.Context(), forged, metav1.CreateOptions{})
		assert.NilError(t, err, "nothing refuses it now")
		s.as("alice").run(t, "list").exits(t, 0).tells(t, "note: decision record cw-decision-0123456789ab does not count: ")
		s.gate(t, "ci").exits(t, 2)
		assert.NilError(t, maps.Delete(t.Context(), forged.Name, metav1.DeleteOptions{}))
	})
}

func (s shop) forgedPolicyCountsForNothing(t *testing.T) {
	maps := s.Client(kubetest.Admin).CoreV1().ConfigMaps(install.Namespace)
	all, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: state.LabelType + "=policy"})
	assert.NilError(t, err)
	newest := all.Items[len(all.Items)-1]
	forged := newest.DeepCopy()
	forged.ObjectMeta = metav1.ObjectMeta{Name: state.NumberedName(state.TypePolicy, len(all.Items)+1), Labels: newest.Labels, Annotations: newest.Annotations}
	_, err = maps.Create(t.Context(), forged, metav1.CreateOptions{})
	assert.NilError(t, err)
	s.gate(t, "ci").exits(t, 2)
	s.as("alice").run(t, "list").exits(t, 0).tells(t, "note: policy record "+forged.Name+" does not count: NotEntitled: ")
	s.as(kubetest.Admin).run(t, "doctor").exits(t, 3).prints(t, "fail  versions: these count for nothing: "+forged.Name)
	assert.NilError(t, maps.Delete(t.Context(), forged.Name, metav1.DeleteOptions{}))
	s.gate(t, "ci").exits(t, 2)
}

func (s shop) isMended(t *testing.T) {
	admin := s.as(kubetest.Admin)
	admin.run(t, "install", "--yes").exits(t, 0).tells(t, "+ create ValidatingAdmissionPolicyBinding/changeward-records\n", "create ConfigMap/changeward/cw-epoch-000002")
	admin.run(t, "doctor").exits(t, 0)
	eventually(t, "the gate is fenced in", func() error {
		_, err := s.as("ci").client(t).CoreV1().ConfigMaps(s.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{})
		if err == nil || !strings.Contains(err.Error(), gateMessage) {
			return errors.New("not yet")
		}
		return nil
	})
	s.write(t, "shop.yaml", s.config("mended"))
	s.approved(t)
	s.gate(t, "ci").exits(t, 0)
}
