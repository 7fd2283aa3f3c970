package main

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"gotest.tools/v3/assert"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/state"
)

// behindForge is dave as an API server knows him that maps a claim of his
// token to the author of what he proposes.
func (w world) behindForge(t *testing.T, author string) person {
	t.Helper()
	config, err := clientcmd.LoadFromFile(w.as(kubetest.Admin).kubeconfig())
	assert.NilError(t, err)
	info := config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
	info.Impersonate, info.ImpersonateGroups = "dave", []string{"dev", "system:authenticated"}
	info.ImpersonateUserExtra = map[string][]string{dryrun.AuthorExtra: {author}}
	p := w.as("dave")
	p.home = t.TempDir()
	assert.NilError(t, clientcmd.WriteToFile(*config, p.kubeconfig()))
	return p.with("CHANGEWARD_KEY", w.as("dave").key())
}

func TestWhomTheServerNamesAsTheAuthorCannotApprove(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	dave := s.behindForge(t, "alice")
	id := idOf(t, dave.run(t, "gate", "-f", s.dir, "--author", "carol").exits(t, 2))
	shown := s.as("carol").run(t, "show", id).exits(t, 0).prints(t, "author: alice\n")
	assert.Assert(t, !strings.Contains(shown.stdout, "claimed"), "%s", shown)
	s.as("alice").run(t, "approve", id, "--yes").exits(t, 1).tells(t, "alice is the author of the change")
	assert.DeepEqual(t, s.records(t, state.TypeDecision), []string(nil))
	s.as("carol").run(t, "approve", id, "--yes").exits(t, 0)
	dave.run(t, "gate", "-f", s.dir).exits(t, 0)
}

// redated is an answer whose Date is another.
type redated struct {
	http.ResponseWriter
	by time.Duration
}

func (r redated) WriteHeader(code int) {
	r.Header().Set("Date", time.Now().Add(r.by).UTC().Format(http.TimeFormat))
	r.ResponseWriter.WriteHeader(code)
}

func TestTheTimeOfARecordIsTheServersAndNotThisMachines(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.proposed(t)
	apart := func(by time.Duration) person {
		return s.through(t, s.as("alice"), func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
			forward(redated{out, by}, r)
		})
	}
	clock := apart(3 * time.Minute)
	before := time.Now()
	clock.run(t, "approve", change.ID, "--yes", "--kubeconfig", clock.getenv("KUBECONFIG")).exits(t, 0)
	pae := s.as("carol").run(t, "show", s.records(t, state.TypeDecision)[0], "--pae").exits(t, 0).stdout
	_, signed, found := strings.Cut(pae, `"time":"`)
	assert.Assert(t, found, pae)
	at, err := state.ParseTime(signed[:len("2006-01-02T15:04:05Z")])
	assert.NilError(t, err)
	assert.Assert(t, at.After(before.Add(2*time.Minute)) && at.Before(before.Add(4*time.Minute)), "%s, at %s", at, before)
	s.gate(t, "ci").exits(t, 0)

	s.as("alice").run(t, "revoke", change.ID, "--yes").exits(t, 0)
	hour := apart(time.Hour)
	hour.run(t, "approve", change.ID, "--yes", "--kubeconfig", hour.getenv("KUBECONFIG"))
	s.gate(t, "ci").exits(t, 2).prints(t, "ClockSkew")
}

// sulking is an agent that lists a key and signs nothing.
type sulking struct{ agent.Agent }

func (sulking) Sign(ssh.PublicKey, []byte) (*ssh.Signature, error) {
	return nil, errors.New("the owner said no")
}

// serve answers at a socket as that agent.
func serve(t *testing.T, answers agent.Agent) (socket string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "agent") // a socket's name is short
	assert.NilError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	socket = filepath.Join(folder, "s")
	listener, err := net.Listen("unix", socket)
	assert.NilError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(answers, connection) }()
		}
	}()
	return socket
}

func TestAKeyThatCannotSignIsNamedAndNothingIsLost(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.proposed(t)
	alice := s.as("alice")
	private, err := ssh.ParseRawPrivateKey(read(t, alice.key()))
	assert.NilError(t, err)
	ring := agent.NewKeyring()
	assert.NilError(t, ring.Add(agent.AddedKey{PrivateKey: private}))
	refused := alice.with("CHANGEWARD_KEY", "").with("SSH_AUTH_SOCK", serve(t, sulking{ring}))
	refused.run(t, "approve", change.ID, "--yes").exits(t, 1).tells(t, "sign with SHA256:", "agent: ")

	open := filepath.Join(t.TempDir(), "open")
	assert.NilError(t, os.WriteFile(open, read(t, alice.key()), 0o644))
	alice.run(t, "approve", change.ID, "--yes", "--key", open).exits(t, 1).tells(t, "key "+open+": permissions 0644 are too open, others can read it")
	assert.DeepEqual(t, s.records(t, state.TypeDecision), []string(nil))

	alice.with("CHANGEWARD_KEY", "").with("SSH_AUTH_SOCK", serve(t, ring)).run(t, "approve", change.ID, "--yes").exits(t, 0)
	s.gate(t, "ci").exits(t, 0)
}
