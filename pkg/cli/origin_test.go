package cli

import (
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/changeward/changeward/state"
)

const someCommit = "4f1c0de4f1c0de4f1c0de4f1c0de4f1c0de4f1c0"

func TestTheOriginIsWhatTheCIClaims(t *testing.T) {
	github := envOf(map[string]string{"GITHUB_ACTOR": "bob", "GITHUB_SHA": someCommit, "GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "7"})
	assert.DeepEqual(t, FindOrigin(github, t.TempDir()), Origin{Author: &state.Author{Name: "bob", Claimed: true}, Revision: someCommit,
		CI: "https://github.com/o/r/actions/runs/7"})
	gitlab := envOf(map[string]string{"GITLAB_USER_LOGIN": "eve", "CI_COMMIT_SHA": someCommit, "CI_JOB_URL": "https://gitlab/job/1"})
	assert.DeepEqual(t, FindOrigin(gitlab, t.TempDir()), Origin{Author: &state.Author{Name: "eve", Claimed: true}, Revision: someCommit,
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
			assert.Equal(t, FindOrigin(envOf(nil), checkout.Join("apps", "shop")).Revision, someCommit)
		})
	}
	none := fs.NewDir(t, "checkout", fs.WithDir(".git", fs.WithFile("HEAD", "ref: refs/heads/main\n")))
	assert.Equal(t, FindOrigin(envOf(nil), none.Path()).Revision, "")
}

func TestTheRevisionOfAWorktreeIsThatOfItsOwnHead(t *testing.T) {
	main := fs.NewDir(t, "main", fs.WithDir(".git", fs.WithDir("refs", fs.WithDir("heads", fs.WithFile("topic", someCommit+"\n"))),
		fs.WithDir("worktrees", fs.WithDir("wt", fs.WithFile("HEAD", "ref: refs/heads/topic\n"), fs.WithFile("commondir", "../..\n")))))
	worktree := fs.NewDir(t, "wt", fs.WithFile(".git", "gitdir: "+main.Join(".git", "worktrees", "wt")+"\n"))
	assert.Equal(t, FindOrigin(envOf(nil), worktree.Path()).Revision, someCommit)
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
