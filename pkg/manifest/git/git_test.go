package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest/git"
	"github.com/changeward/changeward/testdata/e2e/parts/gitserver"
)

func checkout(t *testing.T, r gitserver.Repository, revision string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	return dir, git.Checkout(t.Context(), git.Options{URL: r.URL, Revision: revision, Token: gitserver.Token}, dir)
}

func TestACheckoutIsThatCommitWhateverTheBranchHolds(t *testing.T) {
	for _, allowed := range []string{"true", "false"} {
		t.Run("any commit is given out: "+allowed, func(t *testing.T) {
			f := gitserver.Start(t)
			f.Git(t, "config", "uploadpack.allowAnySHA1InWant", allowed)
			first := f.Commit(t, map[string]string{"apps/shop/a.yaml": "a: 1\n"})
			f.Commit(t, map[string]string{"apps/shop/a.yaml": "a: 2\n"})
			dir, err := checkout(t, f, first)
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
	assert.Assert(t, !strings.Contains(err.Error(), gitserver.Token), "%v", err)
	return known.Reason
}

func TestWhyThereIsNoCheckoutIsTold(t *testing.T) {
	f := gitserver.Start(t)
	f.Git(t, "config", "uploadpack.allowAnySHA1InWant", "true")
	head := f.Commit(t, map[string]string{"a.yaml": "a: 1\n"})
	gone := strings.Repeat("ab", 20)
	_, err := checkout(t, f, gone)
	assert.Equal(t, reasonOf(t, err), git.ReasonRevision, "%v", err)
	for _, c := range []struct {
		options git.Options
		reason  string
	}{
		{git.Options{URL: f.URL, Token: "another"}, git.ReasonRefused},
		{git.Options{URL: f.URL}, git.ReasonRefused},
		{git.Options{URL: strings.Replace(f.URL, "/config/", "/none/", 1), Token: gitserver.Token}, git.ReasonRefused},
		{git.Options{URL: "http://127.0.0.1:1/shop", Token: gitserver.Token}, git.ReasonFetch},
		{git.Options{URL: "http://forge.example.com/shop", Token: gitserver.Token}, git.ReasonAddress},
		{git.Options{URL: "https://me:" + gitserver.Token + "@forge.example.com/shop"}, git.ReasonAddress},
		{git.Options{URL: "ssh://git@forge.example.com/shop", Token: gitserver.Token}, git.ReasonAddress},
		{git.Options{URL: "/etc", Token: gitserver.Token}, git.ReasonAddress},
	} {
		c.options.Revision = head
		assert.Equal(t, reasonOf(t, git.Checkout(t.Context(), c.options, t.TempDir())), c.reason, c.options.URL)
	}
}

func TestALinkOutOfTheRepositoryIsRefused(t *testing.T) {
	for _, target := range []string{"/etc/hostname", "../../../etc/hostname", ".git/config", "nowhere"} {
		f := gitserver.Start(t)
		assert.NilError(t, os.Symlink(target, filepath.Join(f.Dir, "link.yaml")))
		_, err := checkout(t, f, f.Commit(t, map[string]string{"a.yaml": "a: 1\n"}))
		assert.Equal(t, reasonOf(t, err), git.ReasonContent, target)
	}
	f := gitserver.Start(t)
	assert.NilError(t, os.Symlink("a.yaml", filepath.Join(f.Dir, "link.yaml")))
	_, err := checkout(t, f, f.Commit(t, map[string]string{"a.yaml": "a: 1\n"}))
	assert.NilError(t, err)
}

func TestSubmodulesAreRefused(t *testing.T) {
	f := gitserver.Start(t)
	_, err := checkout(t, f, f.Commit(t, map[string]string{".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = https://forge.example.com/x\n"}))
	assert.Equal(t, reasonOf(t, err), git.ReasonContent)
}
