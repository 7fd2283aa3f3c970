package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/changeward/changeward/pkg/reconcile/fault"
)

// Checkout is a temporary work tree of HEAD, on no branch. Whatever is done in
// it, the person's own files, index and branches stay as they are.
type Checkout struct {
	// Root is its folder; Dir is where the opened folder is in it.
	Root, Dir string
	repo      *Repo
	git       git
}

// Checkout makes one. Close it. A large file that git LFS keeps is its pointer
// there, and submodules are empty.
func (r *Repo) Checkout(ctx context.Context) (*Checkout, error) {
	parent, err := os.MkdirTemp("", "changeward-reconcile-")
	if err != nil {
		return nil, err
	}
	root := filepath.Join(parent, filepath.Base(r.Root)) // the name under which git lists it
	c := &Checkout{Root: root, Dir: filepath.Join(root, filepath.FromSlash(r.Dir)), repo: r}
	c.git = git{dir: root, env: r.git.env}.with("GIT_LFS_SKIP_SMUDGE=1")
	if _, err := r.git.with("GIT_LFS_SKIP_SMUDGE=1").run(ctx, "worktree", "add", "--quiet", "--detach", root, r.Head); err != nil {
		return nil, errors.Join(fmt.Errorf("a temporary work tree: %w", err), c.Close(ctx))
	}
	return c, nil
}

// Close removes the work tree and whatever is in it, also where ctx has ended.
func (c *Checkout) Close(ctx context.Context) error {
	var errs []error
	if _, err := os.Stat(c.Root); err == nil {
		_, err := c.repo.git.run(context.WithoutCancel(ctx), "worktree", "remove", "--force", "--force", c.Root)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, os.RemoveAll(filepath.Dir(c.Root)))...)
}

// Commit is one that Checkout made.
type Commit struct {
	Hash string
	// Files are those that it changes, relative to the root, with slashes.
	Files []string
}

// Commit commits whatever was changed, as the person, through their hooks and
// with their signature. Nil stands for nothing to commit. The error is a
// *fault.Error where git or a hook refused, where a file that was written is
// ignored, and where a hook changed what is committed: that would be something
// else than what was proved.
func (c *Checkout) Commit(ctx context.Context, message Message) (*Commit, error) {
	if err := c.ignored(ctx); err != nil {
		return nil, err
	}
	if _, err := c.git.run(ctx, "add", "--all"); err != nil {
		return nil, err
	}
	wanted, err := c.git.line(ctx, "write-tree")
	if err != nil {
		return nil, err
	}
	files, err := c.git.run(ctx, "diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", c.repo.Head)
	if err != nil || files == "" {
		return nil, err
	}
	if _, err := c.git.feed(ctx, message.text(), "commit", "--quiet", "--cleanup=whitespace", "--file=-"); err != nil {
		return nil, refused(err, fault.CommitRefused, "git and its hooks ran in a temporary work tree of "+c.repo.Root+", which is gone", "the commit was refused")
	}
	tree, err := c.git.line(ctx, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return nil, err
	}
	if tree != wanted {
		return nil, fault.New(fault.CommitAltered, "format the files once, in a commit of its own, and run again",
			"a hook of %s put something else into the commit than what was checked", c.repo.Root)
	}
	hash, err := c.git.line(ctx, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	return &Commit{Hash: hash, Files: strings.Split(strings.TrimSuffix(files, "\x00"), "\x00")}, nil
}

// ignored refuses files that were written and that git would leave out.
func (c *Checkout) ignored(ctx context.Context) error {
	list, err := c.git.run(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	if list != "" {
		return fault.New(fault.Ignored, "`git check-ignore -v FILE` says which rule", "git ignores %s", names(list))
	}
	return nil
}
