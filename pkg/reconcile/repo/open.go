package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/changeward/changeward/pkg/reconcile/fault"
)

// Repo is a work tree that is on a branch, with no operation under way.
type Repo struct {
	// Root is the folder of the work tree, Dir the opened folder relative to it,
	// with slashes ("." for the root itself).
	Root, Dir string
	// Branch is the one that the work tree is on, such as main; Head its commit.
	Branch, Head string
	git          git
}

// Open finds the work tree of a folder. environ is the environment that git
// runs in, as os.Environ has it. The error is a *fault.Error: no git, no work
// tree, a detached HEAD, a branch without commits, a rebase under way.
func Open(ctx context.Context, dir string, environ []string) (*Repo, error) {
	g := git{dir: dir, env: inherited(environ)}
	if _, err := os.Stat(dir); err != nil {
		return nil, err // which git would report as one of its own
	}
	root, err := g.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, refused(err, fault.NotARepository, "name a folder of a clone with --k8s-dir", dir+" is not in a work tree of Git")
	}
	prefix, err := g.line(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	r := &Repo{Root: root, Dir: filepath.ToSlash(filepath.Clean(prefix)), git: git{dir: root, env: g.env}}
	if err := r.idle(ctx); err != nil {
		return nil, err
	}
	branch, on, err := r.git.answer(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return nil, err
	}
	if !on {
		return nil, fault.New(fault.DetachedHead, "switch to the branch that changes are merged into", "HEAD of %s is detached: there is no branch to start from", root)
	}
	r.Branch = branch
	r.Head, err = r.git.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return nil, refused(err, fault.NotARepository, "", "branch "+branch+" has no commit yet")
	}
	return r, nil
}

// refused is a git that said no as a fault, with what that means; another error
// stays as it is.
func refused(err error, reason, hint, meaning string) error {
	var no *failed
	if !errors.As(err, &no) {
		return err
	}
	if no.stderr == "" {
		return fault.New(reason, hint, "%s", meaning)
	}
	return fault.New(reason, hint, "%s: %w", meaning, no)
}

// idle refuses a work tree in which an operation waits to be finished: what its
// files say is then nobody's decision yet.
func (r *Repo) idle(ctx context.Context) error {
	for file, operation := range map[string]string{"rebase-merge": "rebase", "rebase-apply": "rebase", "MERGE_HEAD": "merge",
		"CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect"} {
		path, err := r.git.line(ctx, "rev-parse", "--git-path", file)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.Root, path)
		}
		if _, err := os.Stat(path); err == nil {
			return fault.New(fault.InProgress, "finish it, or `git "+operation+" --abort`", "a %s is under way in %s", operation, r.Root)
		}
	}
	return nil
}

// Clean refuses staged changes anywhere, and below the given paths, files or
// folders relative to the root, every change and every new file that is not
// ignored: a commit starts at HEAD, so what was read from there must be what
// HEAD has. The error is a *fault.Error that names the files.
func (r *Repo) Clean(ctx context.Context, paths ...string) error {
	staged, err := r.git.run(ctx, "diff", "--cached", "--name-only", "-z", "--no-ext-diff")
	if err != nil {
		return err
	}
	if staged != "" {
		return fault.New(fault.Dirty, "commit or unstage them", "staged changes in %s: %s", r.Root, names(staged))
	}
	args := append([]string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--"}, paths...)
	dirty, err := r.git.run(ctx, args...)
	if err != nil {
		return err
	}
	if dirty != "" {
		return fault.New(fault.Dirty, "commit, stash or remove them", "changes that are in no commit in %s: %s", r.Root, names(dirty))
	}
	return nil
}

// names is a list of git's, ended by NUL each, for people: at most ten.
func names(list string) string {
	all := strings.Split(strings.TrimSuffix(list, "\x00"), "\x00")
	for i, name := range all {
		all[i] = strings.TrimSpace(name)
	}
	if len(all) > 10 {
		all = append(all[:10], "…")
	}
	return strings.Join(all, ", ")
}
