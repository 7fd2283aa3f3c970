// Package forge_test plays reconcile's way through Git and a pull request
// against a real Gitea: a branch, a pull request into a protected main, further
// runs, the merge, and everything that can be refused.
package forge_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/repo"
	"github.com/changeward/changeward/testdata/e2e/parts/gitea"
)

func TestOnePullRequestFollowsAChangeUntilItIsMerged(t *testing.T) {
	server := gitea.Start(t)
	alice := server.Person(t, "alice", "write:repository", "read:user")
	for name, test := range map[string]func(*world){
		"opened updated merged":      (*world).untilMerged,
		"closed is an answer":        (*world).closed,
		"someone elses commit":       (*world).foreign,
		"protected branch":           (*world).protected,
		"token without rights":       (*world).withoutRights,
		"refused halfway":            (*world).halfway,
		"forge does not answer":      (*world).unreachable,
		"host that nobody knows":     (*world).unknownHost,
		"token in no argument":       (*world).noArgument,
		"pull requests switched off": (*world).switchedOff,
	} {
		t.Run(name, func(t *testing.T) { test(newWorld(t, server, alice, "a: 1\nb: 2\n")) })
	}
}

func (w *world) untilMerged() {
	t := w.t
	first := w.reconciled("a: 5\nb: 2\n")
	assert.Assert(t, first.Opened)
	assert.Equal(t, first.State, repo.Created)
	assert.Equal(t, first.Pull.URL, strings.TrimSuffix(w.URL, ".git")+"/pulls/1")
	assert.Equal(t, w.Head(t, branch), first.Commit)
	w.untouched()

	again := w.reconciled("a: 5\nb: 2\n")
	assert.Assert(t, !again.Opened)
	assert.Equal(t, again.State, repo.Unchanged)
	assert.Equal(t, again.Commit, first.Commit)

	other := w.reconciled("a: 6\nb: 2\n")
	assert.Equal(t, other.State, repo.Updated)
	assert.Equal(t, other.Pull.Number, first.Pull.Number)
	pull, _, err := w.person.Client.GetPullRequest(w.Owner.Name, w.Name, 1)
	assert.NilError(t, err)
	assert.Equal(t, pull.Body, "the plan: `a: 6\nb: 2`")
	assert.Equal(t, pull.Head.Sha, other.Commit)

	w.Merge(t, 1)
	assert.Equal(t, w.File(t, "main", manifest), "a: 6\nb: 2\n")
	w.fails("a: 7\nb: 2\n", fault.Merged, "was merged, and this work tree does not have it")
	w.pull()
	next := w.reconciled("a: 7\nb: 2\n")
	assert.Assert(t, next.Opened)
	assert.Equal(t, next.Pull.Number, int64(2))
	w.untouched()
}

func (w *world) closed() {
	first := w.reconciled("a: 5\n")
	state := sdk.StateClosed
	_, _, err := w.person.Client.EditPullRequest(w.Owner.Name, w.Name, first.Pull.Number, sdk.EditPullRequestOption{State: &state})
	assert.NilError(w.t, err)
	w.fails("a: 6\n", fault.Closed, "/pulls/1 was closed without being merged")
}

func (w *world) foreign() {
	w.reconciled("a: 5\n")
	w.Commit(w.t, branch, "a word more", map[string]string{"README.md": "more\n"})
	w.fails("a: 6\n", fault.BranchForeign, "which someone else made or changed")
}

func (w *world) protected() {
	w.Protect(w.t, "changeward/**")
	w.fails("a: 5\n", fault.Protected, "the branch is protected")
}

func (w *world) withoutRights() {
	reads := w.server.Token(w.t, w.person.Name, "read:repository")
	w.token = reads.Token
	w.fails("a: 5\n", fault.Forbidden, "origin does not let you")
	w.token = "0123456789012345678901234567890123456789"
	w.fails("a: 5\n", fault.Forbidden, "does not let this token (401)")
	w.token = ""
	w.fails("a: 5\n", fault.NoToken, "there is no token for "+w.server.URL)
	w.token = w.server.Person(w.t, "mallory").Token // who may not even see the repository
	w.fails("a: 5\n", fault.Forbidden, "does not let this token (404)")
}

// halfway puts a proxy before the API that refuses what makes and changes pull
// requests, when the push has been done.
func (w *world) halfway() {
	target, err := url.Parse(w.server.URL)
	assert.NilError(w.t, err)
	refusing := true
	behind := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if refusing && in.Method != http.MethodGet {
			http.Error(out, `{"message": "come back later"}`, http.StatusServiceUnavailable)
			return
		}
		behind.ServeHTTP(out, in)
	}))
	defer proxy.Close()
	w.forge = "gitea=" + proxy.URL
	w.fails("a: 5\n", fault.Unreachable, "come back later")
	assert.Equal(w.t, w.Head(w.t, branch), "")
	refusing = false
	w.reconciled("a: 5\n")
	refusing = true
	w.fails("a: 6\n", fault.Unreachable, "come back later")
	assert.Equal(w.t, w.File(w.t, branch, manifest), "a: 5\n")
}

func (w *world) unreachable() {
	w.forge = "gitea=http://127.0.0.1:1"
	w.fails("a: 5\n", fault.Unreachable, "connection refused")
}

func (w *world) unknownHost() {
	w.forge, w.token = "", ""
	with := strings.Replace(w.URL, "://", "://"+w.person.Name+":"+w.person.Token+"@", 1)
	gitea.Git(w.t, w.dir, "remote", "set-url", "origin", with)
	result := w.reconciled("a: 5\n")
	assert.Assert(w.t, is.Nil(result.Pull))
	assert.Equal(w.t, result.Base, "main")
	assert.Equal(w.t, w.Head(w.t, branch), result.Commit)
}

// noArgument runs with a git that writes down what it is called with.
func (w *world) noArgument() {
	real, err := exec.LookPath("git")
	assert.NilError(w.t, err)
	dir := w.t.TempDir()
	calls := filepath.Join(dir, "calls")
	script := "#!/bin/sh\necho \"$@\" >>" + calls + "\nexec " + real + " \"$@\"\n"
	assert.NilError(w.t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	w.t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	w.reconciled("a: 5\n")
	written, err := os.ReadFile(calls)
	assert.NilError(w.t, err)
	assert.Assert(w.t, is.Contains(string(written), "push --porcelain"))
	assert.Assert(w.t, !strings.Contains(string(written), w.token))
	assert.Assert(w.t, !strings.Contains(strings.ToLower(string(written)), "authorization"))
	w.untouched()
}

func (w *world) switchedOff() {
	off := false
	_, _, err := w.Owner.Client.EditRepo(w.Owner.Name, w.Name, sdk.EditRepoOption{HasPullRequests: &off})
	assert.NilError(w.t, err)
	w.fails("a: 5\n", fault.Forbidden, "does not let this token (404)")
}
