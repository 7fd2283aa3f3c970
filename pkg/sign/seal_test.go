package sign

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hiddeco/sshsig"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/state"
)

const planHash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func newSigner(t *testing.T) Signer {
	t.Helper()
	private, _, err := NewGateKey()
	assert.NilError(t, err)
	signer, err := ParseGateKey(private)
	assert.NilError(t, err)
	return signer
}

func decision() state.Decision {
	return state.Decision{Action: state.ActionApprove, ClusterUID: "uid-1", Number: 3,
		Person: state.Person{Username: "alice", Groups: []string{"sre"}}, Time: "2026-03-01T10:00:00Z"}
}

func TestASealedRecordOpensToWhatWasSealed(t *testing.T) {
	signer := newSigner(t)
	envelope, payload, err := Seal(signer, state.TypeDecision, "c_9dd33d8939b8", planHash, decision())
	assert.NilError(t, err)
	var read state.Decision
	opened, err := Open(state.TypeDecision, envelope, &read)
	assert.NilError(t, err)
	assert.DeepEqual(t, read, decision())
	assert.Equal(t, opened.Name, "c_9dd33d8939b8")
	assert.Equal(t, opened.Hash, planHash)
	assert.DeepEqual(t, opened.Payload, payload)
	assert.Equal(t, AuthorizedKey(opened.Key), AuthorizedKey(signer.PublicKey()))
}

func TestAnAuditorVerifiesASealedRecordWithPlainSSHKeygen(t *testing.T) {
	signer := newSigner(t)
	envelope, payload, err := Seal(signer, state.TypeDecision, "c_9dd33d8939b8", planHash, decision())
	assert.NilError(t, err)
	parsed, err := state.ParseEnvelope(envelope)
	assert.NilError(t, err)
	sig, err := sshsig.ParseSignature(parsed.Signatures[0].Sig)
	assert.NilError(t, err)

	dir := t.TempDir()
	signers, armored := filepath.Join(dir, "signers"), filepath.Join(dir, "sig")
	assert.NilError(t, os.WriteFile(signers, []byte("alice "+AuthorizedKey(signer.PublicKey())+"\n"), 0o600))
	assert.NilError(t, os.WriteFile(armored, sshsig.Armor(sig), 0o600))
	pae := filepath.Join(dir, "pae")
	assert.NilError(t, os.WriteFile(pae, state.PAE(state.PayloadType, payload), 0o600))
	in, err := os.Open(pae)
	assert.NilError(t, err)
	defer in.Close()

	result := icmd.RunCmd(icmd.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", "alice",
		"-n", "decision@changeward.dev", "-s", armored), icmd.WithStdin(in))
	result.Assert(t, icmd.Expected{Out: `Good "decision@changeward.dev" signature for alice`})
}

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	var failed *Error
	assert.Assert(t, errors.As(err, &failed), "no *sign.Error: %v", err)
	assert.Equal(t, failed.Reason, reason, err.Error())
}
