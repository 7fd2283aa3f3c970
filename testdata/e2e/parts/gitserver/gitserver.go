// Package gitserver gives tests a repository over HTTP, served by git's own
// server: what a forge is to those who only read.
//
// Enter at Start for a private one, or at Public, then Commit, or Write and Push.
package gitserver

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// Token is the password of every private repository; any user has it. It may
// never be shown.
const Token = "marker-git-token"

// Repository has one branch, main, checked out in Dir.
type Repository struct{ Dir, URL string }

// Start makes an empty private repository, and serves it until the test ends.
// Commits that no branch leads to are given out, as forges do.
func Start(t testing.TB) Repository {
	t.Helper()
	return serve(t, func(backend http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, password, _ := r.BasicAuth(); password != Token {
				w.Header().Set("WWW-Authenticate", "Basic")
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			backend.ServeHTTP(w, r)
		})
	})
}

// Public is Start for a repository that asks nobody who they are.
func Public(t testing.TB) Repository {
	t.Helper()
	return serve(t, func(backend http.Handler) http.Handler { return backend })
}

func serve(t testing.TB, guarded func(http.Handler) http.Handler) Repository {
	t.Helper()
	root := t.TempDir()
	path, err := exec.LookPath("git")
	assert.NilError(t, err)
	backend := &cgi.Handler{Path: path, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}}
	server := httptest.NewServer(guarded(backend))
	t.Cleanup(server.Close)
	r := Repository{Dir: filepath.Join(root, "config"), URL: server.URL + "/config/.git"}
	assert.NilError(t, os.Mkdir(r.Dir, 0o755))
	r.Git(t, "init", "-q", "-b", "main", ".")
	r.Git(t, "config", "uploadpack.allowAnySHA1InWant", "true")
	return r
}

// Git runs git in the checkout, as dave, and returns what it printed.
func (r Repository) Git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=dave", "GIT_AUTHOR_EMAIL=dave@example.com", "GIT_COMMITTER_NAME=dave", "GIT_COMMITTER_EMAIL=dave@example.com")
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// Commit writes files as Write does, pushes them, and returns the new head of
// the branch.
func (r Repository) Commit(t testing.TB, files map[string]string) string {
	t.Helper()
	r.Write(t, files)
	return r.Push(t, "change")
}

// Write writes files of the checkout, by their paths; one without content is
// removed.
func (r Repository) Write(t testing.TB, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(r.Dir, name)
		if content == "" {
			assert.NilError(t, os.Remove(path))
			continue
		}
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

// Push commits all of the checkout, and returns the new head of the branch.
func (r Repository) Push(t testing.TB, message string) string {
	t.Helper()
	r.Git(t, "add", "-A")
	r.Git(t, "commit", "-q", "--allow-empty", "-m", message)
	return r.Git(t, "rev-parse", "HEAD")
}
