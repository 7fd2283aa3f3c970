package cli

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/state"
)

const someCommit = "4f1c0de4f1c0de4f1c0de4f1c0de4f1c0de4f1c0"

func TestTheOriginIsWhatTheCIClaims(t *testing.T) {
	github := envOf(map[string]string{"GITHUB_ACTOR": "bob", "GITHUB_SHA": someCommit, "GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "7"})
	assert.DeepEqual(t, FindOrigin(t.Context(), github, t.TempDir(), ""), Origin{Author: &state.Author{Name: "bob", Claimed: true}, Revision: someCommit,
		CI: "https://github.com/o/r/actions/runs/7"})
	gitlab := envOf(map[string]string{"GITLAB_USER_LOGIN": "eve", "CI_COMMIT_SHA": someCommit, "CI_JOB_URL": "https://gitlab/job/1"})
	assert.DeepEqual(t, FindOrigin(t.Context(), gitlab, t.TempDir(), ""), Origin{Author: &state.Author{Name: "eve", Claimed: true}, Revision: someCommit,
		CI: "https://gitlab/job/1"})
}

func TestTheRevisionIsReadFromTheCheckout(t *testing.T) {
	for name, files := range map[string][]fs.PathOp{
		"branch":   {fs.WithFile("HEAD", "ref: refs/heads/main\n"), fs.WithDir("refs", fs.WithDir("heads", fs.WithFile("main", someCommit+"\n")))},
		"packed":   {fs.WithFile("HEAD", "ref: refs/heads/main\n"), fs.WithFile("packed-refs", "# pack-refs\n"+someCommit+" refs/heads/main\n")},
		"detached": {fs.WithFile("HEAD", someCommit+"\n")},
	} {
		t.Run(name, func(t *testing.T) {
			checkout := fs.NewDir(t, "checkout", fs.WithDir(".git", files...), fs.WithDir("apps", fs.WithDir("shop")))
			assert.Equal(t, FindOrigin(t.Context(), envOf(nil), checkout.Join("apps", "shop"), "").Revision, someCommit)
		})
	}
	none := fs.NewDir(t, "checkout", fs.WithDir(".git", fs.WithFile("HEAD", "ref: refs/heads/main\n")))
	assert.Equal(t, FindOrigin(t.Context(), envOf(nil), none.Path(), "").Revision, "")
}

func TestTheRevisionOfAWorktreeIsThatOfItsOwnHead(t *testing.T) {
	main := fs.NewDir(t, "main", fs.WithDir(".git", fs.WithDir("refs", fs.WithDir("heads", fs.WithFile("topic", someCommit+"\n"))),
		fs.WithDir("worktrees", fs.WithDir("wt", fs.WithFile("HEAD", "ref: refs/heads/topic\n"), fs.WithFile("commondir", "../..\n")))))
	worktree := fs.NewDir(t, "wt", fs.WithFile(".git", "gitdir: "+main.Join(".git", "worktrees", "wt")+"\n"))
	assert.Equal(t, FindOrigin(t.Context(), envOf(nil), worktree.Path(), "").Revision, someCommit)
}

func TestTheAuthorIsThatOfTheCommitWhereNoCINamesOne(t *testing.T) {
	checkout := fs.NewDir(t, "checkout", fs.WithDir("apps"))
	git := func(args ...string) string {
		result := icmd.RunCmd(icmd.Command("git", args...), icmd.Dir(checkout.Path()), icmd.WithEnv("HOME="+checkout.Path(), "PATH="+os.Getenv("PATH"),
			"GIT_AUTHOR_NAME=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=merger@example.com", "GIT_AUTHOR_EMAIL="+args[len(args)-1]+"@example.com"))
		result.Assert(t, icmd.Success)
		return strings.TrimSpace(result.Stdout())
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "alice")
	first := git("rev-parse", "HEAD")
	git("commit", "-q", "--allow-empty", "-m", "bob")
	git("gc", "-q") // as a clone has it: packed
	claimed := func(name string) *state.Author { return &state.Author{Name: name, Claimed: true} }
	folder := checkout.Join("apps")
	assert.DeepEqual(t, FindOrigin(t.Context(), envOf(nil), folder, "").Author, claimed("bob@example.com"))
	assert.DeepEqual(t, FindOrigin(t.Context(), envOf(nil), folder, first), Origin{Author: claimed("alice@example.com"), Revision: first})
	assert.DeepEqual(t, FindOrigin(t.Context(), envOf(map[string]string{"CI_COMMIT_SHA": first}), folder, "").Author, claimed("alice@example.com"))
	assert.DeepEqual(t, FindOrigin(t.Context(), envOf(map[string]string{"GITHUB_ACTOR": "carol"}), folder, "").Author, claimed("carol"))
	for _, unknown := range []string{someCommit, "v1.2"} {
		assert.DeepEqual(t, FindOrigin(t.Context(), envOf(nil), folder, unknown), Origin{Revision: unknown})
	}
}

func TestTheScopeIsTheRepositoryPathOfTheManifests(t *testing.T) {
	checkout := fs.NewDir(t, "checkout", fs.WithDir(".git"), fs.WithDir("apps", fs.WithDir("shop", fs.WithFile("a.yaml", ""))))
	for want, inputs := range map[string][]string{
		"apps/shop":             {checkout.Join("apps", "shop") + "/"},
		"apps/shop/a.yaml":      {checkout.Join("apps", "shop", "a.yaml")},
		"apps+apps/shop/a.yaml": {checkout.Join("apps", "shop", "a.yaml"), checkout.Join("apps"), checkout.Join("apps")},
		"":                      {"-"},
	} {
		assert.Equal(t, DefaultScope(inputs), want)
	}
	t.Chdir(t.TempDir()) // in no checkout
	assert.Equal(t, DefaultScope([]string{"./nowhere/../at"}), "at")
}
