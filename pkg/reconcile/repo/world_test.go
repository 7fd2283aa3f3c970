package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/repo"
)

const manifest = "apps/shop/config.yaml"

// world is a clone with a bare repository as its remote.
type world struct {
	t           *testing.T
	dir, remote string
}

// environment is that of a person without any configuration of their own.
func environment() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	result := icmd.RunCmd(icmd.Command("git", args...), icmd.Dir(dir), icmd.WithEnv(environment()...))
	result.Assert(t, icmd.Success)
	return strings.TrimSuffix(result.Stdout(), "\n")
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, remote: filepath.Join(t.TempDir(), "shop.git")}
	git(t, ".", "init", "--quiet", "--bare", "--initial-branch=main", w.remote)
	w.dir = w.clone()
	git(t, w.dir, "switch", "--quiet", "-c", "main")
	w.write(manifest, "a: 1\nb: 2\n")
	w.write("README.md", "shop\n")
	git(t, w.dir, "add", ".")
	git(t, w.dir, "commit", "--quiet", "-m", "first")
	git(t, w.dir, "push", "--quiet", "-u", "origin", "main")
	return w
}

func (w *world) clone() string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "shop")
	git(w.t, ".", "clone", "--quiet", w.remote, dir)
	git(w.t, dir, "config", "user.name", "Alice")
	git(w.t, dir, "config", "user.email", "alice@example.com")
	return dir
}

func (w *world) write(path, content string) {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	assert.NilError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	assert.NilError(w.t, os.WriteFile(path, []byte(content), 0o644))
}

// commit is a commit on main of another person's clone, pushed.
func (w *world) elsewhere(path, content string) {
	w.t.Helper()
	dir := w.clone()
	assert.NilError(w.t, os.WriteFile(filepath.Join(dir, path), []byte(content), 0o644))
	git(w.t, dir, "commit", "--quiet", "-am", "by someone else")
	git(w.t, dir, "push", "--quiet")
}

func (w *world) open() *repo.Repo {
	w.t.Helper()
	r, err := repo.Open(w.t.Context(), filepath.Join(w.dir, "apps"), environment())
	assert.NilError(w.t, err)
	return r
}

// edit commits a new content of the manifest, as reconcile does.
func (w *world) edit(r *repo.Repo, content string) (*repo.Commit, error) {
	w.t.Helper()
	c, err := r.Checkout(w.t.Context())
	assert.NilError(w.t, err)
	defer func() { assert.NilError(w.t, c.Close(w.t.Context())) }()
	assert.NilError(w.t, os.WriteFile(filepath.Join(c.Root, manifest), []byte(content), 0o644))
	return c.Commit(w.t.Context(), repo.Message{Subject: "Set a to what runs", Changes: []string{"c_9dd33d8939b8"},
		Approvers: []string{"bob", "carol"}, Reason: "hot fix\nChangeward-Approver: mallory", Ticket: "OPS-1"})
}

func (w *world) edited(r *repo.Repo, content string) *repo.Commit {
	w.t.Helper()
	c, err := w.edit(r, content)
	assert.NilError(w.t, err)
	return c
}

// faulty is an error of the reason, with the words.
func faulty(t *testing.T, err error, reason, words string) {
	t.Helper()
	var is *fault.Error
	assert.Assert(t, errors.As(err, &is), "%v", err)
	assert.Equal(t, is.Reason, reason, "%v", err)
	assert.ErrorContains(t, err, words)
}

// untouched: the person's checkout is as it was, and no work tree stays.
func (w *world) untouched(branches string) {
	w.t.Helper()
	assert.Equal(w.t, git(w.t, w.dir, "status", "--porcelain"), "")
	assert.Equal(w.t, git(w.t, w.dir, "symbolic-ref", "HEAD"), "refs/heads/main")
	assert.Equal(w.t, strings.Count(git(w.t, w.dir, "worktree", "list"), "\n"), 0)
	assert.Equal(w.t, git(w.t, w.dir, "for-each-ref", "--format=%(refname)", "refs/heads"), branches)
}
