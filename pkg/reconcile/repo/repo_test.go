package repo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/repo"
)

const branch = "changeward/c_9dd33d8939b8"

func TestACommitGetsABranchOfItsOwnAndTheCheckoutStaysAsItWas(t *testing.T) {
	w := newWorld(t)
	r := w.open()
	assert.Equal(t, r.Dir, "apps")
	assert.NilError(t, r.Clean(t.Context(), "apps"))
	c := w.edited(r, "a: 5\nb: 2\n")
	assert.DeepEqual(t, c.Files, []string{manifest})
	state, err := r.SetBranch(t.Context(), branch, c)
	assert.NilError(t, err)
	assert.Equal(t, state, repo.Created)
	w.untouched("refs/heads/" + branch + "\nrefs/heads/main")
	assert.Equal(t, git(t, w.dir, "diff", "--stat", "main", branch), " "+manifest+" | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)")
	assert.Equal(t, git(t, w.dir, "log", "-1", "--format=%an <%ae>", branch), "Alice <alice@example.com>")
}

func TestTrailersSayWhoApprovedAndNoValueAddsOneOfItsOwn(t *testing.T) {
	w := newWorld(t)
	c := w.edited(w.open(), "a: 5\n")
	assert.Equal(t, git(t, w.dir, "log", "-1", "--format=%B", c.Hash), `Set a to what runs

Changeward-Change: c_9dd33d8939b8
Changeward-Approver: bob
Changeward-Approver: carol
Changeward-Reason: hot fix Changeward-Approver: mallory
Changeward-Ticket: OPS-1
`)
	assert.Equal(t, git(t, w.dir, "log", "-1", "--format=%(trailers:key=Changeward-Approver,valueonly,separator=%x2C)", c.Hash), "bob,carol")
}

func TestNothingToCommitIsNoCommit(t *testing.T) {
	w := newWorld(t)
	c, err := w.edit(w.open(), "a: 1\nb: 2\n")
	assert.NilError(t, err)
	assert.Assert(t, is.Nil(c))
}

func TestAWorkTreeThatIsNotAsHeadSaysIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		do     func(*world)
		reason string
		words  string
	}{
		"no repository": {func(w *world) { w.dir = w.t.TempDir(); w.write(manifest, "") }, fault.NotARepository, "not in a work tree"},
		"detached":      {func(w *world) { git(w.t, w.dir, "switch", "--quiet", "--detach") }, fault.DetachedHead, "detached"},
		"no commit":     {func(w *world) { git(w.t, w.dir, "switch", "--quiet", "--orphan", "new"); w.write(manifest, "") }, fault.NotARepository, "branch new has no commit"},
		"edited":        {func(w *world) { w.write(manifest, "a: 9\n") }, fault.Dirty, "M " + manifest},
		"untracked":     {func(w *world) { w.write("apps/new.yaml", "a: 9\n") }, fault.Dirty, "?? apps/new.yaml"},
		"staged":        {func(w *world) { w.write("README.md", "new\n"); git(w.t, w.dir, "add", ".") }, fault.Dirty, "README.md"},
		"bisecting":     {func(w *world) { git(w.t, w.dir, "bisect", "start") }, fault.InProgress, "a bisect is under way"},
		"rebasing": {func(w *world) {
			assert.NilError(w.t, os.Mkdir(filepath.Join(w.dir, ".git", "rebase-merge"), 0o755))
		}, fault.InProgress, "a rebase is under way"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.do(w)
			r, err := repo.Open(t.Context(), filepath.Join(w.dir, "apps"), environment())
			if err == nil {
				err = r.Clean(t.Context(), "apps")
			}
			faulty(t, err, test.reason, test.words)
		})
	}
}

func TestChangesElsewhereInTheWorkTreeAreNoMatter(t *testing.T) {
	w := newWorld(t)
	w.write("README.md", "half done\n")
	assert.NilError(t, w.open().Clean(t.Context(), "apps"))
	assert.Equal(t, strings.Contains(git(t, w.dir, "show", w.edited(w.open(), "a: 5\n").Hash), "half done"), false)
}

// hook makes a hook of the clone's.
func (w *world) hook(name, script string) {
	w.t.Helper()
	assert.NilError(w.t, os.WriteFile(filepath.Join(w.dir, ".git", "hooks", name), []byte("#!/bin/sh\n"+script), 0o755))
}

func TestHooksAreAskedAndWhatTheyPutIntoTheCommitIsRefused(t *testing.T) {
	w := newWorld(t)
	w.hook("pre-commit", "test -e README.md || exit 2\ngrep -q 'a: 5' "+manifest+"\n")
	w.edited(w.open(), "a: 5\n")
	_, err := w.edit(w.open(), "a: 6\n")
	faulty(t, err, fault.CommitRefused, "the commit was refused")
	w.hook("pre-commit", "echo 'c: 3' >>"+manifest+"; git add -u\n")
	_, err = w.edit(w.open(), "a: 5\n")
	faulty(t, err, fault.CommitAltered, "a hook")
	w.hook("pre-commit", "")
	git(t, w.dir, "config", "commit.gpgSign", "true")
	git(t, w.dir, "config", "gpg.format", "ssh")
	git(t, w.dir, "config", "user.signingKey", filepath.Join(w.dir, "no-such-key"))
	_, err = w.edit(w.open(), "a: 5\n")
	faulty(t, err, fault.CommitRefused, "no-such-key")
	w.untouched("refs/heads/main")
}

func TestAFileThatGitIgnoresIsRefused(t *testing.T) {
	w := newWorld(t)
	w.write(".git/info/exclude", "secret*\n")
	c, err := w.open().Checkout(t.Context())
	assert.NilError(t, err)
	defer c.Close(t.Context())
	assert.NilError(t, os.WriteFile(filepath.Join(c.Dir, "secret.yaml"), []byte("a: 1\n"), 0o644))
	_, err = c.Commit(t.Context(), repo.Message{Subject: "x", Changes: []string{"c_1"}})
	faulty(t, err, fault.Ignored, "apps/secret.yaml")
}

func TestALocalBranchIsReplacedOnlyWhereAllOfItIsChangewards(t *testing.T) {
	w := newWorld(t)
	r := w.open()
	set := func(content string) (repo.State, error) {
		return r.SetBranch(t.Context(), branch, w.edited(r, content))
	}
	for _, want := range []struct {
		content string
		state   repo.State
	}{{"a: 5\n", repo.Created}, {"a: 5\n", repo.Unchanged}, {"a: 6\n", repo.Updated}} {
		state, err := set(want.content)
		assert.NilError(t, err)
		assert.Equal(t, state, want.state)
	}
	assert.Equal(t, git(t, w.dir, "rev-list", "--count", "main.."+branch), "1")

	git(t, w.dir, "switch", "--quiet", branch)
	_, err := set("a: 7\n")
	faulty(t, err, fault.BranchInUse, "checked out")
	git(t, w.dir, "-c", "core.hooksPath="+os.DevNull, "commit", "--quiet", "--allow-empty", "-m", "mine")
	mine := git(t, w.dir, "rev-parse", "HEAD")
	git(t, w.dir, "switch", "--quiet", "main")
	_, err = set("a: 7\n")
	faulty(t, err, fault.BranchForeign, mine[:7])
	assert.Equal(t, git(t, w.dir, "rev-parse", branch), mine)
}
