package repo

import (
	"context"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/reconcile/fault"
)

// State is what became of a branch.
type State string

// What became of it.
const (
	Created   State = "created"
	Updated   State = "updated"
	Unchanged State = "unchanged" // it had the same edits of the same files already
)

// SetBranch puts a commit on a local branch, which is made, or replaced where
// it has nothing but untouched commits of changeward's own. The error is a
// *fault.Error where it has others, is checked out, or was moved meanwhile.
func (r *Repo) SetBranch(ctx context.Context, name string, c *Commit) (State, error) {
	ref := "refs/heads/" + name
	old, there, err := r.git.answer(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err != nil {
		return "", err
	}
	if there {
		if err := r.unused(ctx, ref); err != nil {
			return "", err
		}
		if err := r.own(ctx, "branch "+name, old, r.Head); err != nil {
			return "", err
		}
		if same, err := r.same(ctx, c, old); err != nil || same {
			return Unchanged, err
		}
	}
	state := Updated
	if !there {
		old, state = strings.Repeat("0", len(c.Hash)), Created
	}
	if _, err := r.git.run(ctx, "update-ref", "--create-reflog", "-m", "changeward: reconcile", ref, c.Hash, old); err != nil {
		return "", refused(err, fault.BranchMoved, "run again", "branch "+name+" cannot be written")
	}
	return state, nil
}

// unused refuses a branch that some work tree is on: its files would be left
// behind.
func (r *Repo) unused(ctx context.Context, ref string) error {
	list, err := r.git.run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return err
	}
	folder := ""
	for line := range strings.SplitSeq(list, "\x00") {
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			folder = path
		}
		if line == "branch "+ref {
			return fault.New(fault.BranchInUse, "switch to the branch that changes are merged into",
				"branch %s is checked out in %s", strings.TrimPrefix(ref, "refs/heads/"), folder)
		}
	}
	return nil
}

// own refuses a tip that has commits, beside those of the bases, that changeward
// did not make or that were changed since: an amended or rebased commit has
// another committer's time than its author's.
func (r *Repo) own(ctx context.Context, what, tip string, bases ...string) error {
	args := append([]string{"log", "--format=%h%x00%at%x00%ct%x00%(trailers:key=" + changeKey + ",valueonly,separator=%x2C)", tip, "--not"}, bases...)
	out, err := r.git.line(ctx, args...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(field) != 4 || field[1] != field[2] || field[3] == "" {
			return fault.New(fault.BranchForeign, "merge or delete that branch, then run again",
				"%s has commit %s, which someone else made or changed", what, field[0])
		}
	}
	return nil
}

// same tells whether a tip makes the same edits of the same files as a commit,
// perhaps from an older base: then there is nothing to replace.
func (r *Repo) same(ctx context.Context, c *Commit, tip string) (bool, error) {
	base, related, err := r.git.answer(ctx, "merge-base", r.Head, tip)
	if err != nil || !related {
		return false, err
	}
	files, err := r.changed(ctx, base, tip)
	if err != nil || !slices.Equal(files, c.Files) {
		return false, err
	}
	differ, err := r.changed(ctx, c.Hash, tip, c.Files...)
	return len(differ) == 0, err
}

// changed is the files, of some or of all, that differ between two commits.
func (r *Repo) changed(ctx context.Context, from, to string, only ...string) ([]string, error) {
	out, err := r.git.run(ctx, append([]string{"diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", from, to, "--"}, only...)...)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}

// Has tells whether HEAD has a commit in its history; one that this clone does
// not know is not there.
func (r *Repo) Has(ctx context.Context, commit string) (bool, error) {
	_, known, err := r.git.answer(ctx, "rev-parse", "--verify", "--quiet", commit+"^{commit}")
	if err != nil || !known {
		return false, err
	}
	_, has, err := r.git.answer(ctx, "merge-base", "--is-ancestor", commit, "HEAD")
	return has, err
}
