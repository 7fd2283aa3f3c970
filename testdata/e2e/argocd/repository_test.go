package argocd_test

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

// token is the password of the repository.
const token = "marker-git-token"

// repository is a private one, served over HTTP by git's own server.
type repository struct{ dir, url string }

func newRepository(t *testing.T) repository {
	t.Helper()
	root := t.TempDir()
	path, err := exec.LookPath("git")
	assert.NilError(t, err)
	backend := &cgi.Handler{Path: path, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != token {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	r := repository{dir: filepath.Join(root, "config.git"), url: server.URL + "/config.git/.git"}
	assert.NilError(t, os.Mkdir(r.dir, 0o755))
	r.git(t, "init", "-q", "-b", "main", ".")
	r.git(t, "config", "uploadpack.allowAnySHA1InWant", "true")
	return r
}

func (r repository) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=dave", "GIT_AUTHOR_EMAIL=dave@example.com", "GIT_COMMITTER_NAME=dave", "GIT_COMMITTER_EMAIL=dave@example.com")
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// commit writes files by path, removes those that have no content, and returns
// the new head of the branch.
func (r repository) commit(t *testing.T, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(r.dir, name)
		if content == "" {
			assert.NilError(t, os.Remove(path))
			continue
		}
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	r.git(t, "add", "-A")
	r.git(t, "commit", "-qm", "change")
	return r.git(t, "rev-parse", "HEAD")
}
