package repo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/repo"
)

// push is a push of a new content.
func (w *world) push(content string) (*repo.Remote, *repo.Pushed, error) {
	w.t.Helper()
	r := w.open()
	m, err := r.Remote(w.t.Context())
	assert.NilError(w.t, err)
	p, err := m.Push(w.t.Context(), branch, w.edited(r, content))
	return m, p, err
}

// refs are the branches of the remote.
func (w *world) refs() string {
	w.t.Helper()
	return git(w.t, w.remote, "for-each-ref", "--format=%(refname)", "refs/heads")
}

func TestAPushMakesReplacesAndKeepsTheBranchAndCanBeTakenBack(t *testing.T) {
	w := newWorld(t)
	m, first, err := w.push("a: 5\nb: 2\n")
	assert.NilError(t, err)
	assert.Equal(t, m.Base, "main")
	assert.Equal(t, first.State, repo.Created)
	assert.NilError(t, m.Undo(t.Context(), first))
	assert.Equal(t, w.refs(), "refs/heads/main")

	_, first, err = w.push("a: 5\nb: 2\n")
	assert.NilError(t, err)
	w.elsewhere("README.md", "newer\n") // the base moves, the edit is the same
	git(t, w.dir, "pull", "--quiet")
	_, second, err := w.push("a: 5\nb: 2\n")
	assert.NilError(t, err)
	assert.Equal(t, second.State, repo.Unchanged)
	assert.Equal(t, second.Hash, first.Hash)

	m, third, err := w.push("a: 6\nb: 2\n")
	assert.NilError(t, err)
	assert.Equal(t, third.State, repo.Updated)
	assert.Equal(t, git(t, w.remote, "rev-parse", branch), third.Hash)
	assert.Equal(t, git(t, w.remote, "rev-list", "--count", "main.."+branch), "1")
	assert.NilError(t, m.Undo(t.Context(), third))
	assert.Equal(t, git(t, w.remote, "rev-parse", branch), first.Hash)
	w.untouched("refs/heads/main")
}

func TestWhatSomeoneElsePushedIsNotReplaced(t *testing.T) {
	for name, change := range map[string][]string{
		"a commit of theirs": {"commit", "--quiet", "--allow-empty", "-m", "theirs"},
		"an amended one":     {"-c", "user.name=Eve", "commit", "--quiet", "--amend", "--allow-empty", "--no-edit", "--date=2020-01-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, _, err := w.push("a: 5\n")
			assert.NilError(t, err)
			theirs := w.clone()
			git(t, theirs, "switch", "--quiet", branch)
			git(t, theirs, change...)
			git(t, theirs, "push", "--quiet", "--force")
			_, _, err = w.push("a: 6\n")
			faulty(t, err, fault.BranchForeign, "someone else made or changed")
			assert.Equal(t, git(t, w.remote, "rev-parse", branch), git(t, theirs, "rev-parse", "HEAD"))
		})
	}
}

func TestAClonesOwnStateCanStandAgainstAPush(t *testing.T) {
	w := newWorld(t)
	w.elsewhere(manifest, "a: 1\nb: 3\n")
	_, _, err := w.push("a: 5\nb: 2\n")
	faulty(t, err, fault.Behind, manifest)
	git(t, w.dir, "pull", "--quiet")
	git(t, w.dir, "commit", "--quiet", "--allow-empty", "-m", "not pushed")
	_, _, err = w.push("a: 5\nb: 3\n")
	faulty(t, err, fault.Unpushed, "has 1 commits that main of origin lacks")
	git(t, w.dir, "branch", "--unset-upstream")
	git(t, w.dir, "remote", "add", "fork", w.remote)
	git(t, w.dir, "remote", "rename", "origin", "upstream")
	_, err = w.open().Remote(t.Context())
	faulty(t, err, fault.NoRemote, "none of the remotes fork, upstream")
	git(t, w.dir, "remote", "remove", "fork")
	git(t, w.dir, "remote", "remove", "upstream")
	_, err = w.open().Remote(t.Context())
	faulty(t, err, fault.NoRemote, "no remote to push to")
	assert.Equal(t, w.refs(), "refs/heads/main")
}

func TestARefusedPushSaysWhyAndLeavesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		hook, reason, words string
	}{
		"by a rule":         {"echo 'commits need a ticket' >&2; exit 1", fault.PushRefused, "commits need a ticket"},
		"by a protection":   {"echo 'GitLab: You are not allowed to force push code to a protected branch' >&2; exit 1", fault.Protected, "protected"},
		"for want of right": {"echo 'GitLab: You are not allowed to push code to this project.' >&2; exit 1", fault.Forbidden, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			assert.NilError(t, os.WriteFile(filepath.Join(w.remote, "hooks", "pre-receive"), []byte("#!/bin/sh\n"+test.hook+"\n"), 0o755))
			_, _, err := w.push("a: 5\n")
			faulty(t, err, test.reason, test.words)
			assert.Equal(t, w.refs(), "refs/heads/main")
			w.untouched("refs/heads/main")
		})
	}
}

func TestARemoteThatDoesNotAnswerIsUnreachableAndNoPasswordIsShown(t *testing.T) {
	w := newWorld(t)
	git(t, w.dir, "remote", "set-url", "origin", "http://alice:hunter2@127.0.0.1:1/shop.git")
	_, _, err := w.push("a: 5\n")
	faulty(t, err, fault.Unreachable, "http://127.0.0.1:1/shop.git")
	assert.Assert(t, !strings.Contains(err.Error(), "hunter2"))
	w.untouched("refs/heads/main")
}
