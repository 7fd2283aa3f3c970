package flux

import (
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repository is a Git repository that is served over HTTP, and a checkout of
// its branch main.
type Repository struct {
	URL      string // what a GitRepository names
	Checkout string // folder
}

// NewRepository serves an empty repository until the test ends.
func NewRepository(t testing.TB) *Repository {
	t.Helper()
	served := t.TempDir()
	backend := strings.TrimSpace(git(t, served, "--exec-path")) + "/git-http-backend"
	server := httptest.NewServer(&cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + served, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=test"}})
	t.Cleanup(server.Close)
	git(t, served, "init", "--quiet", "--bare", "--initial-branch=main", "repository.git")
	r := &Repository{URL: server.URL + "/repository.git", Checkout: filepath.Join(t.TempDir(), "checkout")}
	git(t, served, "clone", "--quiet", filepath.Join(served, "repository.git"), r.Checkout)
	git(t, r.Checkout, "checkout", "--quiet", "-B", "main")
	return r
}

// Write writes files of the checkout, by their paths; an empty text deletes.
func (r *Repository) Write(t testing.TB, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(r.Checkout, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Push commits all of the checkout, pushes it, and returns the commit.
func (r *Repository) Push(t testing.TB, message string) string {
	t.Helper()
	git(t, r.Checkout, "add", "--all")
	git(t, r.Checkout, "-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "--quiet", "--allow-empty", "-m", message)
	git(t, r.Checkout, "push", "--quiet", "origin", "HEAD:main")
	return strings.TrimSpace(git(t, r.Checkout, "rev-parse", "HEAD"))
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}
