package git_test

import (
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest/git"
)

const token = "marker-token"

// forge serves private repositories over HTTP, by git's own server.
type forge struct{ dir, url string }

func newForge(t *testing.T) forge {
	t.Helper()
	f := forge{dir: t.TempDir()}
	path, err := exec.LookPath("git")
	assert.NilError(t, err)
	backend := &cgi.Handler{Path: path, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + f.dir, "GIT_HTTP_EXPORT_ALL=1"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != token {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	f.git(t, "init", "-q", "-b", "main", "shop")
	return f
}

func (f forge) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = filepath.Join(f.dir, "shop")
	if args[0] == "init" {
		cmd.Dir = f.dir
	}
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// commit writes a file and returns the commit that has it.
func (f forge) commit(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(f.dir, "shop", name)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o644))
	f.git(t, "add", "-A")
	f.git(t, "commit", "-qm", name)
	return f.git(t, "rev-parse", "HEAD")
}

func (f forge) checkout(t *testing.T, revision string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	return dir, git.Checkout(t.Context(), git.Options{URL: f.url + "/shop/.git", Revision: revision, Token: token}, dir)
}

func TestACheckoutIsThatCommitWhateverTheBranchHolds(t *testing.T) {
	for _, allowed := range []string{"true", "false"} {
		t.Run("any commit is given out: "+allowed, func(t *testing.T) {
			f := newForge(t)
			f.git(t, "config", "uploadpack.allowAnySHA1InWant", allowed)
			first := f.commit(t, "apps/shop/a.yaml", "a: 1\n")
			f.commit(t, "apps/shop/a.yaml", "a: 2\n")
			dir, err := f.checkout(t, first)
			assert.NilError(t, err)
			content, err := os.ReadFile(filepath.Join(dir, "apps", "shop", "a.yaml"))
			assert.NilError(t, err)
			assert.Equal(t, string(content), "a: 1\n")
		})
	}
}

func reasonOf(t *testing.T, err error) string {
	t.Helper()
	var known *git.Error
	assert.Assert(t, errors.As(err, &known), "%v", err)
	assert.Assert(t, !strings.Contains(err.Error(), token), "%v", err)
	return known.Reason
}

func TestWhyThereIsNoCheckoutIsTold(t *testing.T) {
	f := newForge(t)
	f.git(t, "config", "uploadpack.allowAnySHA1InWant", "true")
	head := f.commit(t, "a.yaml", "a: 1\n")
	gone := strings.Repeat("ab", 20)
	_, err := f.checkout(t, gone)
	assert.Equal(t, reasonOf(t, err), git.ReasonRevision, "%v", err)
	for _, c := range []struct {
		options git.Options
		reason  string
	}{
		{git.Options{URL: f.url + "/shop/.git", Token: "another"}, git.ReasonRefused},
		{git.Options{URL: f.url + "/shop/.git"}, git.ReasonRefused},
		{git.Options{URL: f.url + "/none/.git", Token: token}, git.ReasonRefused},
		{git.Options{URL: "http://127.0.0.1:1/shop", Token: token}, git.ReasonFetch},
		{git.Options{URL: "http://forge.example.com/shop", Token: token}, git.ReasonAddress},
		{git.Options{URL: "https://me:" + token + "@forge.example.com/shop"}, git.ReasonAddress},
		{git.Options{URL: "ssh://git@forge.example.com/shop", Token: token}, git.ReasonAddress},
		{git.Options{URL: "/etc", Token: token}, git.ReasonAddress},
	} {
		c.options.Revision = head
		assert.Equal(t, reasonOf(t, git.Checkout(t.Context(), c.options, t.TempDir())), c.reason, c.options.URL)
	}
}

func TestALinkOutOfTheRepositoryIsRefused(t *testing.T) {
	for _, target := range []string{"/etc/hostname", "../../../etc/hostname", ".git/config", "nowhere"} {
		f := newForge(t)
		assert.NilError(t, os.Symlink(target, filepath.Join(f.dir, "shop", "link.yaml")))
		_, err := f.checkout(t, f.commit(t, "a.yaml", "a: 1\n"))
		assert.Equal(t, reasonOf(t, err), git.ReasonContent, target)
	}
	f := newForge(t)
	assert.NilError(t, os.Symlink("a.yaml", filepath.Join(f.dir, "shop", "link.yaml")))
	_, err := f.checkout(t, f.commit(t, "a.yaml", "a: 1\n"))
	assert.NilError(t, err)
}

func TestSubmodulesAreRefused(t *testing.T) {
	f := newForge(t)
	_, err := f.checkout(t, f.commit(t, ".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = https://forge.example.com/x\n"))
	assert.Equal(t, reasonOf(t, err), git.ReasonContent)
}
