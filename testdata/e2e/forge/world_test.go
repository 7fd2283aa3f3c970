package forge_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/publish"
	"github.com/changeward/changeward/pkg/reconcile/repo"
	"github.com/changeward/changeward/testdata/e2e/parts/gitea"
)

const (
	manifest = "apps/shop/config.yaml"
	branch   = publish.BranchPrefix + "c_9dd33d8939b8"
)

// world is a person with a clone of a private repository of one manifest, whose
// main nobody may push to.
type world struct {
	*gitea.Repository
	t      *testing.T
	server *gitea.Server
	person gitea.Person
	dir    string
	// forge is the flag, token what the variable of Gitea holds.
	forge, token string
}

func newWorld(t *testing.T, server *gitea.Server, person gitea.Person, content string) *world {
	t.Helper()
	name := strings.ToLower(strings.ReplaceAll(filepath.Base(t.Name()), "_", "-"))
	w := &world{t: t, server: server, person: person, forge: "gitea", token: person.Token}
	w.Repository = server.Repository(t, server.Root, name[:min(len(name), 60)])
	w.Share(t, person, "write")
	w.Commit(t, "main", "first", map[string]string{manifest: content})
	w.Protect(t, "main")
	w.dir = w.Clone(t, person)
	return w
}

// reconcile commits a new content of the manifest and publishes it, as the verb
// does.
func (w *world) reconcile(content string) (*publish.Result, error) {
	w.t.Helper()
	ctx := w.t.Context()
	r, err := repo.Open(ctx, w.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"))
	assert.NilError(w.t, err)
	target, err := publish.Prepare(ctx, r, publish.Options{Branch: branch, Forge: w.forge, HTTP: http.DefaultClient, Getenv: func(name string) string {
		return map[string]string{"GITEA_TOKEN": w.token}[name]
	}})
	if err != nil {
		return nil, err
	}
	c, err := r.Checkout(ctx)
	assert.NilError(w.t, err)
	defer func() { assert.NilError(w.t, c.Close(ctx)) }()
	assert.NilError(w.t, os.WriteFile(filepath.Join(c.Root, manifest), []byte(content), 0o644))
	commit, err := c.Commit(ctx, repo.Message{Subject: "Set a to what runs", Changes: []string{"c_9dd33d8939b8"}, Approvers: []string{"bob"}})
	assert.NilError(w.t, err)
	return target.Publish(ctx, commit, "Set a to what runs", "the plan: `"+strings.TrimSpace(content)+"`")
}

func (w *world) reconciled(content string) *publish.Result {
	w.t.Helper()
	result, err := w.reconcile(content)
	assert.NilError(w.t, err)
	return result
}

// fails is a reconcile that fails for the reason, and leaves the branch of the
// remote where it was and nothing in the clone.
func (w *world) fails(content, reason, words string) {
	w.t.Helper()
	before := w.Head(w.t, branch)
	_, err := w.reconcile(content)
	var is *fault.Error
	assert.Assert(w.t, errors.As(err, &is), "%v", err)
	assert.Equal(w.t, is.Reason, reason, "%v", err)
	assert.ErrorContains(w.t, err, words)
	assert.Assert(w.t, !strings.Contains(err.Error(), w.person.Token))
	assert.Equal(w.t, w.Head(w.t, branch), before)
	w.untouched()
}

// untouched: the clone is on main, clean, with no branch, work tree or setting
// beside what it had.
func (w *world) untouched() {
	w.t.Helper()
	assert.Equal(w.t, gitea.Git(w.t, w.dir, "status", "--porcelain", "--branch"), "## main...origin/main")
	assert.Equal(w.t, gitea.Git(w.t, w.dir, "for-each-ref", "--format=%(refname)", "refs/heads"), "refs/heads/main")
	assert.Equal(w.t, strings.Count(gitea.Git(w.t, w.dir, "worktree", "list"), "\n"), 0)
	assert.Assert(w.t, !strings.Contains(gitea.Git(w.t, w.dir, "config", "--list"), w.person.Token))
}

// pull brings the clone to what main is on the server.
func (w *world) pull() {
	w.t.Helper()
	gitea.Git(w.t, w.dir, append(w.person.Authorization(), "pull", "--quiet", "--ff-only")...)
}
