package sign

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/state"
)

// refusing is an agent whose owner does not confirm, or touch the key.
type refusing struct{ agent.Agent }

func (refusing) Sign(ssh.PublicKey, []byte) (*ssh.Signature, error) {
	return nil, errors.New("the owner said no")
}

func TestAnAgentThatRefusesIsNamedAndNothingIsSigned(t *testing.T) {
	d := newDesk(t)
	key := d.agentKey("work")
	signer, err := d.finder().Find(t.Context(), "")
	assert.NilError(t, err)
	d.keyring = refusing{d.keyring}
	_, _, err = Seal(signer, state.TypeDecision, state.ChangeID("uid", state.Digest(nil), 1), state.Digest(nil), state.Decision{})
	assert.ErrorContains(t, err, "sign with "+ssh.FingerprintSHA256(key)+": agent: ")
}

func TestAKeyThatLeftTheAgentDoesNotSign(t *testing.T) {
	d := newDesk(t)
	d.agentKey("work")
	signer, err := d.finder().Find(t.Context(), "")
	assert.NilError(t, err)
	assert.NilError(t, d.keyring.RemoveAll())
	_, err = signer.Sign("x", nil)
	assert.ErrorContains(t, err, "holds no key")
}

func TestGitConfigReadsWhatGitSays(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("XDG_CONFIG_HOME", home)
	assert.NilError(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tsigningkey = ~/k.pub\n"), 0o600))
	assert.Equal(t, GitConfig(t.Context(), "user.signingkey"), filepath.Join(home, "k.pub"))
	assert.Equal(t, GitConfig(t.Context(), "gpg.format"), "")
}

func TestANewKeyIsPrivateUsableAndNeverOverwritesAnother(t *testing.T) {
	d := newDesk(t)
	signer, err := CreateKey(d.path("id_ed25519"), "alice@desk")
	assert.NilError(t, err)
	info, err := os.Stat(d.path("id_ed25519"))
	assert.NilError(t, err)
	assert.Equal(t, info.Mode().Perm(), fs.FileMode(0o600))
	icmd.RunCommand("ssh-keygen", "-l", "-f", d.path("id_ed25519")).Assert(t,
		icmd.Expected{Out: ssh.FingerprintSHA256(signer.PublicKey()) + " alice@desk (ED25519)"})
	d.wantFound(d.finder(), "", signer.PublicKey())

	_, err = CreateKey(d.path("id_ed25519"), "again")
	assert.ErrorIs(t, err, fs.ErrExist)
	assert.NilError(t, os.Remove(d.path("id_ed25519.pub")))
	_, err = CreateKey(d.path("id_ed25519"), "again")
	assert.ErrorIs(t, err, fs.ErrExist)
	_, err = os.Stat(d.path("id_ed25519.pub"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	d.wantFound(d.finder(), "", signer.PublicKey())
}
