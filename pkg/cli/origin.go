package cli

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/changeward/changeward/state"
)

// Origin is where a change comes from, as the environment claims it.
type Origin struct {
	Author   *state.Author // nil: unknown
	Revision string        // Git revision of the manifests
	CI       string        // link to the run
}

// FindOrigin reads the variables of the CI systems in use, and else the commit
// of the checkout that folder lies in: revision, where that was said. Nobody
// vouches for any of it: an author is marked as claimed.
func FindOrigin(ctx context.Context, env func(string) string, folder, revision string) Origin {
	first := func(names ...string) string {
		for _, name := range names {
			if value := env(name); value != "" {
				return value
			}
		}
		return ""
	}
	o := Origin{
		Revision: cmp.Or(revision, first("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "CIRCLE_SHA1", "BITBUCKET_COMMIT", "ARGOCD_APP_REVISION", "GIT_COMMIT")),
		CI:       first("CI_JOB_URL", "CIRCLE_BUILD_URL", "BUILD_URL"),
	}
	if server, repository, run := env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY"), env("GITHUB_RUN_ID"); o.CI == "" && run != "" {
		o.CI = server + "/" + repository + "/actions/runs/" + run
	}
	if o.Revision == "" {
		o.Revision = headOf(gitRoot(folder))
	}
	name := first("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_REQUESTEDFOR", "CHANGE_AUTHOR", "CIRCLE_USERNAME", "BITBUCKET_STEP_TRIGGERER_UUID")
	if name == "" {
		name = authorOf(ctx, gitRoot(folder), o.Revision)
	}
	if name != "" {
		o.Author = &state.Author{Name: name, Claimed: true}
	}
	return o
}

// authorOf is the mail address of who wrote a commit, "" where that cannot be
// read. Objects are packed in many ways, so git reads them: it runs nothing that
// the repository names, and fetches nothing.
func authorOf(ctx context.Context, root, revision string) string {
	if root == "" || commit(revision) == "" {
		return ""
	}
	cmd := exec.CommandContext(ctx, "git", "-C", root, "--no-replace-objects", "cat-file", "commit", revision)
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(out)) {
		if author, ok := strings.CutPrefix(line, "author "); ok {
			_, address, _ := strings.Cut(author, "<")
			address, _, _ = strings.Cut(address, ">")
			return address
		}
	}
	return ""
}

// gitRoot is the closest folder upwards that holds .git, "" if there is none.
func gitRoot(folder string) string {
	at, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		parent := filepath.Dir(at)
		if parent == at {
			return ""
		}
		at = parent
	}
}

// headOf is the commit that a checkout stands at, "" where that cannot be
// read. Files are read instead of running git: a gate's image has none.
func headOf(root string) string {
	if root == "" {
		return ""
	}
	folder := filepath.Join(root, ".git")
	if link := readLine(folder); strings.HasPrefix(link, "gitdir: ") { // a worktree or submodule
		folder = resolveFrom(root, strings.TrimPrefix(link, "gitdir: "))
	}
	head := readLine(filepath.Join(folder, "HEAD"))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return commit(head)
	}
	common := folder
	if link := readLine(filepath.Join(folder, "commondir")); link != "" {
		common = resolveFrom(folder, link)
	}
	if at := commit(readLine(filepath.Join(common, filepath.FromSlash(ref)))); at != "" {
		return at
	}
	packed, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(packed)) {
		if at, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref {
			return commit(at)
		}
	}
	return ""
}

func resolveFrom(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// readLine is the first line of a file, "" where there is none.
func readLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// commit is text if it is a full commit id, else "".
func commit(text string) string {
	if len(text) != 40 && len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return ""
	}
	return text
}
