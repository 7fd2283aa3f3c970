package gitea

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
)

// Repository is one on the server.
type Repository struct {
	Owner Person
	Name  string
	// URL is that of a clone over HTTP, without credentials.
	URL string
}

// Repository makes a private repository of a person, whose branch main has a
// README.md.
func (s *Server) Repository(t testing.TB, owner Person, name string) *Repository {
	t.Helper()
	made, _, err := owner.Client.CreateRepo(sdk.CreateRepoOption{Name: name, Private: true, AutoInit: true, DefaultBranch: "main"})
	assert.NilError(t, err)
	return &Repository{Owner: owner, Name: made.Name, URL: fmt.Sprintf("%s/%s/%s.git", s.URL, owner.Name, made.Name)}
}

// Commit sets files of a branch, by path, as one commit of the owner's, and
// returns its hash.
func (r *Repository) Commit(t testing.TB, branch, message string, files map[string]string) string {
	t.Helper()
	options := sdk.ChangeFilesOptions{Branch: branch, Message: message}
	for path, content := range files {
		operation := &sdk.ChangeFileOperation{Operation: "create", Path: path, Content: base64.StdEncoding.EncodeToString([]byte(content))}
		if old, _, err := r.Owner.Client.GetContents(r.Owner.Name, r.Name, branch, path); err == nil {
			operation.Operation, operation.SHA = "update", old.SHA
		}
		options.Files = append(options.Files, operation)
	}
	_, _, err := r.Owner.Client.ChangeFiles(r.Owner.Name, r.Name, options)
	assert.NilError(t, err)
	return r.Head(t, branch)
}

// Head is the hash that a branch is at; a branch that is not there is "".
func (r *Repository) Head(t testing.TB, branch string) string {
	t.Helper()
	found, response, err := r.Owner.Client.GetRepoBranch(r.Owner.Name, r.Name, branch)
	if response != nil && response.StatusCode == 404 {
		return ""
	}
	assert.NilError(t, err)
	return found.Commit.ID
}

// File is the content of a file of a branch.
func (r *Repository) File(t testing.TB, branch, path string) string {
	t.Helper()
	content, _, err := r.Owner.Client.GetFile(r.Owner.Name, r.Name, branch, path)
	assert.NilError(t, err)
	return string(content)
}

// Protect lets nobody push to the branches that a pattern matches; who may write
// to the repository can merge pull requests.
func (r *Repository) Protect(t testing.TB, pattern string) {
	t.Helper()
	_, _, err := r.Owner.Client.CreateBranchProtection(r.Owner.Name, r.Name, sdk.CreateBranchProtectionOption{RuleName: pattern})
	assert.NilError(t, err)
}

// Share gives a person read, write or admin access.
func (r *Repository) Share(t testing.TB, with Person, access sdk.AccessMode) {
	t.Helper()
	_, err := r.Owner.Client.AddCollaborator(r.Owner.Name, r.Name, with.Name, sdk.AddCollaboratorOption{Permission: &access})
	assert.NilError(t, err)
}

// Merge merges a pull request, and returns the hash that main is at then.
func (r *Repository) Merge(t testing.TB, number int64) string {
	t.Helper()
	merged, _, err := r.Owner.Client.MergePullRequest(r.Owner.Name, r.Name, number, sdk.MergePullRequestOption{Style: sdk.MergeStyleMerge})
	assert.NilError(t, err)
	assert.Assert(t, merged)
	return r.Head(t, "main")
}

// Clone makes a work tree of main as the person, with its remote's URL free of
// credentials, and returns its folder.
func (r *Repository) Clone(t testing.TB, as Person) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), r.Name)
	Git(t, ".", append(as.Authorization(), "clone", "--quiet", r.URL, dir)...)
	Git(t, dir, "config", "user.name", as.Name)
	Git(t, dir, "config", "user.email", as.Name+"@example.com")
	return dir
}

// Authorization is the arguments by which git speaks to the server as the
// person.
func (p Person) Authorization() []string {
	basic := base64.StdEncoding.EncodeToString([]byte(p.Name + ":" + p.Token))
	return []string{"-c", "http.extraHeader=Authorization: Basic " + basic}
}

// Git runs git in a folder, with no configuration but that of the repository, and
// returns its output without the last newline.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	result := icmd.RunCmd(icmd.Command("git", args...), icmd.Dir(dir),
		icmd.WithEnv(append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")...))
	result.Assert(t, icmd.Success)
	return strings.TrimSuffix(result.Stdout(), "\n")
}
