// Package publish takes edits of a repository to a branch, and from there into
// one pull request that every further run updates.
//
// Enter at Begin with a folder: it refuses what stands in the way (a dirty work
// tree, no remote, no token, an earlier pull request that was closed) before
// anything is edited, and gives a temporary work tree of HEAD. Edit, render and
// prove in Work.Dir; Finish then commits, and pushes and opens the pull request
// where that was asked for; Close is for the end, however it came. Where a step
// fails, repository and remote are as they were.
package publish

import (
	"context"
	"net/http"
	"strings"

	"github.com/changeward/changeward/pkg/reconcile/forge"
	"github.com/changeward/changeward/pkg/reconcile/repo"
)

// BranchPrefix begins the names of changeward's branches; the id of a change
// follows.
const BranchPrefix = "changeward/"

// Options say where to publish.
type Options struct {
	// Branch is the one to write, such as changeward/c_9dd33d8939b8.
	Branch string
	// PullRequest pushes the branch and opens a pull request; without it the
	// branch is a local one.
	PullRequest bool
	// Forge is the flag of that name: "" where the host of the remote says it.
	Forge string
	// Environ is the environment of git, and has the tokens, as os.Environ does.
	Environ []string
	// HTTP speaks to the forge.
	HTTP *http.Client
}

func (o Options) getenv(name string) string {
	value := ""
	for _, entry := range o.Environ { // the last one counts, as for exec
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// Work is a way from HEAD to a branch.
type Work struct {
	// Dir is the folder that was named, in the temporary work tree.
	Dir      string
	branch   string
	repo     *repo.Repo
	checkout *repo.Checkout
	target   *target // nil for a local branch
}

// Begin opens the repository of a folder. Close what it returns. The error is a
// *fault.Error where a person can do something.
func Begin(ctx context.Context, dir string, o Options) (*Work, error) {
	r, err := repo.Open(ctx, dir, o.Environ)
	if err != nil {
		return nil, err
	}
	if err := r.Clean(ctx, r.Dir); err != nil {
		return nil, err
	}
	w := &Work{branch: o.Branch, repo: r}
	if o.PullRequest {
		if w.target, err = prepare(ctx, r, o); err != nil {
			return nil, err
		}
	}
	if w.checkout, err = r.Checkout(ctx); err != nil {
		return nil, err
	}
	w.Dir = w.checkout.Dir
	return w, nil
}

// Close removes the temporary work tree.
func (w *Work) Close(ctx context.Context) error { return w.checkout.Close(ctx) }

// Result is where the edits are now.
type Result struct {
	// Branch has Commit; State says what became of it.
	Branch, Commit string
	State          repo.State
	// Remote has the branch, which is meant for its branch Base; "" for a local
	// branch.
	Remote, Base string
	// Pull is the pull request; nil where no forge is known, or none was asked for.
	Pull *forge.Pull
	// Opened says that the pull request is new.
	Opened bool
}

// Finish commits what was edited, and writes the branch: the local one, or that
// of the remote and its pull request, with the title and the Markdown body. Nil
// stands for nothing edited. The error is a *fault.Error where a person can do
// something, or joins one with what could not be taken back.
func (w *Work) Finish(ctx context.Context, message repo.Message, title, body string) (*Result, error) {
	commit, err := w.checkout.Commit(ctx, message)
	if err != nil || commit == nil {
		return nil, err
	}
	if w.target != nil {
		return w.target.publish(ctx, commit, title, body)
	}
	tip, err := w.repo.SetBranch(ctx, w.branch, commit)
	if err != nil {
		return nil, err
	}
	return &Result{Branch: w.branch, Commit: tip.Hash, State: tip.State}, nil
}
