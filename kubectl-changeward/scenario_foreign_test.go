package main

import (
	"encoding/base64"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// bulky makes the shop's plan too large for one record.
func (s shop) bulky(t *testing.T) {
	t.Helper()
	noise := make([]byte, 1<<19)
	source := rand.NewChaCha8([32]byte{1})
	for _, name := range []string{"one", "two"} {
		_, _ = source.Read(noise)
		s.write(t, name+".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: NS}\ndata: {noise: \""+base64.StdEncoding.EncodeToString(noise)+"\"}\n")
	}
}

func TestAChunkThatIsCutOrWhoseNameWasTakenCostsOneRequestAndBlocksNothing(t *testing.T) {
	s := own(t).open(t)
	s.bulky(t)
	first := s.proposed(t)
	chunks := s.records(t, state.TypeChunk)
	assert.Assert(t, len(chunks) >= 2, "%v", chunks)
	secrets := s.Client(kubetest.Admin).CoreV1().Secrets(install.Namespace)
	whole, err := secrets.Get(t.Context(), chunks[0], metav1.GetOptions{})
	assert.NilError(t, err)
	assert.NilError(t, secrets.Delete(t.Context(), whole.Name, metav1.DeleteOptions{}))
	_, err = secrets.Create(t.Context(), &corev1.Secret{Type: whole.Type, Immutable: whole.Immutable, Data: map[string][]byte{state.DataPart: whole.Data[state.DataPart][:1000]},
		ObjectMeta: metav1.ObjectMeta{Name: whole.Name, Labels: whole.Labels, Annotations: map[string]string{state.AnnotationActor: kubetest.Admin}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	s.as("alice").fails(t, "RecordInvalid", "approve", first.ID, "--yes").tells(t, "chunk sha256:", "content has another digest")

	again := s.proposed(t)
	assert.Assert(t, again.Number > first.Number)
	s.as("alice").run(t, "approve", again.ID, "--yes").exits(t, 0)
	s.gate(t, "ci").exits(t, 0)
	s.verified(t, "alice", 3) // names the one that was cut
}

func TestWhatIsNoRecordAndARecordOfALaterVersionAreNamedAndStopNothing(t *testing.T) {
	s := own(t).open(t)
	change := s.approved(t)
	maps := s.Client(kubetest.Admin).CoreV1().ConfigMaps(install.Namespace)
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "notes"}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	const name = "cw-decision-0123456789ab"
	_, err = maps.Create(t.Context(), &corev1.ConfigMap{Immutable: new(true), Data: map[string]string{state.DataEnvelope: laterVersion(t)},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{state.LabelType: "decision"},
			Annotations: map[string]string{state.AnnotationActor: kubetest.Admin, state.AnnotationPlanHash: state.Digest(nil)}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	s.as("alice").run(t, "list").exits(t, 0).tells(t, "note: decision record "+name+" does not count: ", "https://changeward.dev/decision/v2")
	s.gate(t, "ci").exits(t, 0).prints(t, change.ID)
	found := s.verified(t, "alice", 3).Findings
	assert.Equal(t, len(found), 1, "%v", found)
	assert.Equal(t, found[0].Record, name)
}

// laterVersion is a well-signed decision of a version that nobody knows yet.
func laterVersion(t *testing.T) string {
	t.Helper()
	key, err := sign.CreateKey(filepath.Join(t.TempDir(), "key"), "later")
	assert.NilError(t, err)
	payload := []byte(`{"_type":"https://in-toto.io/Statement/v1","predicate":{},"predicateType":"https://changeward.dev/decision/v2","subject":[{"digest":{"sha256":"` +
		strings.Repeat("a", 64) + `"},"name":"x"}]}`)
	signature, err := key.Sign(state.Namespace(state.TypeDecision), state.PAE(state.PayloadType, payload))
	assert.NilError(t, err)
	envelope, err := state.Canonical(state.Envelope{Payload: payload, PayloadType: state.PayloadType,
		Signatures: []state.Signature{{KeyID: ssh.FingerprintSHA256(key.PublicKey()), Sig: signature}}})
	assert.NilError(t, err)
	return string(envelope)
}
