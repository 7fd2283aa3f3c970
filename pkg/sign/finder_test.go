package sign

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/state"
)

// desk is a person's machine: a home folder and an SSH agent.
type desk struct {
	t       *testing.T
	home    string
	socket  string
	keyring agent.Agent
	env     map[string]string
	git     map[string]string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home, err := os.MkdirTemp("", "desk") // a socket's path must be short
	assert.NilError(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	assert.NilError(t, os.Mkdir(filepath.Join(home, ".ssh"), 0o700))
	d := &desk{t: t, home: home, socket: filepath.Join(home, "agent"), keyring: agent.NewKeyring(), git: map[string]string{}}
	d.env = map[string]string{"SSH_AUTH_SOCK": d.socket}
	listener, err := net.Listen("unix", d.socket)
	assert.NilError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { // ends with an error when the client hangs up
				_ = agent.ServeAgent(d.keyring, connection)
				connection.Close()
			}()
		}
	}()
	return d
}

func (d *desk) finder() Finder {
	return Finder{Home: d.home, Env: func(name string) string { return d.env[name] },
		Git: func(_ context.Context, name string) string { return d.git[name] }}
}

func (d *desk) path(name string) string { return filepath.Join(d.home, ".ssh", name) }

// agentKey puts a new key into the agent.
func (d *desk) agentKey(comment string) ssh.PublicKey {
	d.t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	assert.NilError(d.t, err)
	assert.NilError(d.t, d.keyring.Add(agent.AddedKey{PrivateKey: private, Comment: comment}))
	key, err := ssh.NewPublicKey(private.Public())
	assert.NilError(d.t, err)
	return key
}

// fileKey makes a key as people do, by ssh-keygen.
func (d *desk) fileKey(name string, args ...string) ssh.PublicKey {
	d.t.Helper()
	args = append([]string{"-q", "-f", d.path(name), "-C", name}, args...)
	icmd.RunCommand("ssh-keygen", args...).Assert(d.t, icmd.Success)
	text, err := os.ReadFile(d.path(name) + ".pub")
	assert.NilError(d.t, err)
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	assert.NilError(d.t, err)
	return key
}

func (d *desk) wantFound(finder Finder, path string, want ssh.PublicKey) {
	d.t.Helper()
	signer, err := finder.Find(d.t.Context(), path)
	assert.NilError(d.t, err)
	assert.Equal(d.t, AuthorizedKey(signer.PublicKey()), AuthorizedKey(want))
	_, err = Open(state.TypeDecision, sealed(d.t, signer), &state.Decision{})
	assert.NilError(d.t, err)
}

func TestTheKeyThatIsNamedIsTaken(t *testing.T) {
	d := newDesk(t)
	inAgent, inFile := d.agentKey("work"), d.fileKey("id_ed25519", "-t", "ed25519", "-N", "")
	assert.NilError(t, os.WriteFile(d.path("work.pub"), ssh.MarshalAuthorizedKey(inAgent), 0o600))
	d.wantFound(d.finder(), d.path("id_ed25519"), inFile)
	d.wantFound(d.finder(), d.path("id_ed25519.pub"), inFile)
	d.wantFound(d.finder(), d.path("work.pub"), inAgent)
	d.env["CHANGEWARD_KEY"] = d.path("work.pub")
	d.wantFound(d.finder(), "", inAgent)
	d.wantFound(d.finder(), d.path("id_ed25519"), inFile)
}

func TestANamedKeyThatCannotSignSaysWhy(t *testing.T) {
	d := newDesk(t)
	d.fileKey("open", "-t", "ed25519", "-N", "")
	assert.NilError(t, os.Chmod(d.path("open"), 0o644))
	d.fileKey("lonely", "-t", "ed25519", "-N", "")
	assert.NilError(t, os.Remove(d.path("lonely")))
	d.fileKey("locked", "-t", "ed25519", "-N", "secret")
	d.fileKey("weak", "-t", "rsa", "-b", "1024", "-N", "")
	d.fileKey("a", "-t", "ed25519", "-N", "")
	d.fileKey("b", "-t", "ed25519", "-N", "")
	assert.NilError(t, os.Rename(d.path("a.pub"), d.path("b.pub")))
	sk := newHardware(t, 1).PublicKey()
	assert.NilError(t, os.WriteFile(d.path("sk.pub"), ssh.MarshalAuthorizedKey(sk), 0o600))
	assert.NilError(t, os.WriteFile(d.path("sk"), []byte("handle"), 0o600))
	assert.NilError(t, os.WriteFile(d.path("text"), []byte("text"), 0o600))
	for name, want := range map[string]string{
		"none":       "no such file",
		"text":       "not an SSH key",
		"open":       "too open",
		"lonely.pub": "neither in the SSH agent nor in this file",
		"locked":     "nobody to ask",
		"weak":       ReasonWeakKey,
		"b":          "belongs to another key",
		"sk":         "SSH agent only",
	} {
		_, err := d.finder().Find(t.Context(), d.path(name))
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, d.path(strings.TrimSuffix(name, ".pub")))
	}
}

func TestAPassphraseIsAskedForOnceTheKeyIsChosen(t *testing.T) {
	d := newDesk(t)
	locked := d.fileKey("id_ed25519", "-t", "ed25519", "-N", "secret")
	for _, args := range [][]string{nil, {"-m", "PEM"}} {
		d.fileKey(fmt.Sprintf("rsa%d", len(args)), append([]string{"-t", "rsa", "-b", "2048", "-N", "secret"}, args...)...)
	}
	asked := 0
	finder := d.finder()
	finder.Passphrase = func(path string) ([]byte, error) {
		asked++
		return []byte("secret"), nil
	}
	d.wantFound(finder, "", locked)
	assert.Equal(t, asked, 1)
	for _, name := range []string{"rsa0", "rsa2"} {
		_, err := finder.Find(t.Context(), d.path(name))
		assert.NilError(t, err)
	}
	finder.Passphrase = func(string) ([]byte, error) { return []byte("wrong"), nil }
	_, err := finder.Find(t.Context(), "")
	assert.ErrorContains(t, err, "id_ed25519: that is not its passphrase")
	finder.Passphrase = func(string) ([]byte, error) { return nil, errors.New("interrupted") }
	_, err = finder.Find(t.Context(), "")
	assert.ErrorContains(t, err, "interrupted")
}

func TestAnEnrolledKeyIsPreferred(t *testing.T) {
	d := newDesk(t)
	d.agentKey("first")
	second := d.agentKey("second")
	inFile := d.fileKey("id_ecdsa", "-t", "ecdsa", "-N", "")
	enrolled := map[string]bool{ssh.FingerprintSHA256(second): true, ssh.FingerprintSHA256(inFile): true}
	finder := d.finder()
	finder.Enrolled = func(fingerprint string) bool { return enrolled[fingerprint] }
	d.wantFound(finder, "", second)
	delete(enrolled, ssh.FingerprintSHA256(second))
	d.wantFound(finder, "", inFile)
}

func TestGitsSigningKeyIsTakenWhenNoneIsEnrolled(t *testing.T) {
	d := newDesk(t)
	d.fileKey("id_ed25519", "-t", "ed25519", "-N", "")
	inAgent, ofGit := d.agentKey("work"), d.fileKey("git", "-t", "ed25519", "-N", "")
	d.git["gpg.format"], d.git["user.signingkey"] = "ssh", d.path("git.pub")
	d.wantFound(d.finder(), "", ofGit)
	d.git["user.signingkey"] = "key::" + AuthorizedKey(inAgent)
	d.wantFound(d.finder(), "", inAgent)
	d.git["gpg.format"] = "openpgp"
	_, err := d.finder().Find(t.Context(), "")
	var several *SeveralKeysError
	assert.Assert(t, errors.As(err, &several))
}

func TestOfSeveralKeysAPersonIsAsked(t *testing.T) {
	d := newDesk(t)
	inAgent := d.agentKey("work")
	inFile := d.fileKey("id_ed25519", "-t", "ed25519", "-N", "")
	_, err := d.finder().Find(t.Context(), "")
	assert.ErrorContains(t, err, ssh.FingerprintSHA256(inAgent)+" ssh-ed25519 (SSH agent) work")
	assert.ErrorContains(t, err, ssh.FingerprintSHA256(inFile)+" ssh-ed25519 ("+d.path("id_ed25519")+") id_ed25519")

	finder := d.finder()
	finder.Ask = func(choices []Choice) (int, error) {
		assert.Equal(t, len(choices), 2)
		return 1, nil
	}
	d.wantFound(finder, "", inFile)
	finder.Ask = func([]Choice) (int, error) { return 2, nil }
	_, err = finder.Find(t.Context(), "")
	assert.ErrorContains(t, err, "no key number 2")
}

func TestTheOnlyKeyIsTakenUnasked(t *testing.T) {
	d := newDesk(t)
	_, err := d.finder().Find(t.Context(), "")
	assert.ErrorIs(t, err, ErrNoKey)
	key := d.fileKey("id_ed25519", "-t", "ed25519", "-N", "")
	d.wantFound(d.finder(), "", key)

	private, err := os.ReadFile(d.path("id_ed25519"))
	assert.NilError(t, err)
	raw, err := ssh.ParseRawPrivateKey(private)
	assert.NilError(t, err)
	assert.NilError(t, d.keyring.Add(agent.AddedKey{PrivateKey: raw, Comment: "the same"}))
	d.wantFound(d.finder(), "", key)
}

func TestWithoutAMachineThereIsNoKey(t *testing.T) {
	_, err := Finder{}.Find(t.Context(), "")
	assert.ErrorIs(t, err, ErrNoKey)
	_, err = Finder{Env: func(string) string { return "/nonexistent/agent" }}.Find(t.Context(), "")
	assert.Assert(t, err != nil)
	d := newDesk(t)
	d.env["SSH_AUTH_SOCK"] = filepath.Join(d.home, "gone")
	_, err = d.finder().Find(t.Context(), "")
	assert.ErrorIs(t, err, ErrNoKey)
	assert.ErrorContains(t, err, "SSH agent")
}

func TestAWeakKeyIsNotPassedOverInSilence(t *testing.T) {
	d := newDesk(t)
	d.fileKey("id_rsa", "-t", "rsa", "-b", "1024", "-N", "")
	private, err := os.ReadFile(d.path("id_rsa"))
	assert.NilError(t, err)
	raw, err := ssh.ParseRawPrivateKey(private)
	assert.NilError(t, err)
	assert.NilError(t, d.keyring.Add(agent.AddedKey{PrivateKey: raw, Comment: "old"}))
	_, err = d.finder().Find(t.Context(), "")
	assert.ErrorIs(t, err, ErrNoKey)
	for _, says := range []string{"key old of the SSH agent: WeakKey: RSA key of 1024 bits, want at least 2048", d.path("id_rsa") + ": WeakKey"} {
		assert.ErrorContains(t, err, says)
	}
	d.wantFound(d.finder(), "", d.fileKey("id_ed25519", "-t", "ed25519", "-N", ""))
}
