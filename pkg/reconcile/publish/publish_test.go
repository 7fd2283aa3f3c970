package publish_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/publish"
	"github.com/changeward/changeward/pkg/reconcile/repo"
)

// What a forge and a server do is in testdata/e2e/forge, with a real one.

func environment() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	result := icmd.RunCmd(icmd.Command("git", args...), icmd.Dir(dir), icmd.WithEnv(environment()...))
	result.Assert(t, icmd.Success)
	return result.Stdout()
}

func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "config", "user.name", "Alice")
	git(t, dir, "config", "user.email", "alice@example.com")
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("a: 1\n"), 0o644))
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "first")
	return dir
}

func edit(t *testing.T, dir, content string, o publish.Options) (*publish.Result, error) {
	t.Helper()
	o.Branch, o.Environ, o.HTTP = "changeward/c_1", environment(), http.DefaultClient
	w, err := publish.Begin(t.Context(), dir, o)
	if err != nil {
		return nil, err
	}
	defer func() { assert.NilError(t, w.Close(t.Context())) }()
	assert.NilError(t, os.WriteFile(filepath.Join(w.Dir, "a.yaml"), []byte(content), 0o644))
	return w.Finish(t.Context(), repo.Message{Subject: "edit", Changes: []string{"c_1"}}, "edit", "")
}

func TestWithoutAPullRequestTheCommitStaysOnALocalBranch(t *testing.T) {
	dir := repository(t)
	result, err := edit(t, dir, "a: 2\n", publish.Options{})
	assert.NilError(t, err)
	assert.Equal(t, result.State, repo.Created)
	assert.Equal(t, result.Remote, "")
	assert.Equal(t, git(t, dir, "show", "changeward/c_1:a.yaml"), "a: 2\n")
	assert.Equal(t, git(t, dir, "status", "--porcelain"), "")
	result, err = edit(t, dir, "a: 1\n", publish.Options{})
	assert.NilError(t, err)
	assert.Assert(t, is.Nil(result), "nothing was edited")
}

func TestAPullRequestWithoutARemoteIsRefusedBeforeAnythingIsEdited(t *testing.T) {
	dir := repository(t)
	_, err := edit(t, dir, "a: 2\n", publish.Options{PullRequest: true})
	var fails *fault.Error
	assert.Assert(t, errors.As(err, &fails), "%v", err)
	assert.Equal(t, fails.Reason, fault.NoRemote)
}

func TestAnInterruptedRunLeavesNothing(t *testing.T) {
	dir := repository(t)
	ctx, interrupt := context.WithCancel(t.Context())
	w, err := publish.Begin(ctx, dir, publish.Options{Branch: "changeward/c_1", Environ: environment()})
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(w.Dir, "a.yaml"), []byte("a: 2\n"), 0o644))
	interrupt()
	_, err = w.Finish(ctx, repo.Message{Subject: "edit", Changes: []string{"c_1"}}, "edit", "")
	assert.ErrorIs(t, err, context.Canceled)
	assert.NilError(t, w.Close(ctx))
	_, err = os.Stat(w.Dir)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, git(t, dir, "for-each-ref", "--format=%(refname)"), "refs/heads/main\n")
	assert.Equal(t, git(t, dir, "worktree", "list", "--porcelain"), "worktree "+dir+"\nHEAD "+git(t, dir, "rev-parse", "HEAD")+"branch refs/heads/main\n\n")
}
