package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/forge"
	"github.com/changeward/changeward/pkg/reconcile/repo"
)

// target is a branch of a remote, and the pull request that it may have.
type target struct {
	branch string
	remote *repo.Remote
	forge  *forge.Client // nil where none is known
	pull   *forge.Pull   // nil, or open
}

// prepare finds where commits of a repository are published, and refuses an
// earlier pull request that was closed, or merged while the work tree does not
// have it.
func prepare(ctx context.Context, r *repo.Repo, o Options) (*target, error) {
	remote, err := r.Remote(ctx)
	if err != nil {
		return nil, err
	}
	t := &target{branch: o.Branch, remote: remote}
	place, err := forge.Detect(remote.URL, o.Forge, o.getenv)
	if err != nil || place == nil {
		return t, err
	}
	remote.Authorize(place.User, place.Token)
	if t.forge, err = forge.New(*place, o.HTTP); err != nil {
		return nil, err
	}
	earlier, err := t.forge.Find(ctx, remote.Base, o.Branch)
	if err != nil || earlier == nil {
		return t, err
	}
	t.pull, err = alive(ctx, r, earlier)
	return t, err
}

// alive is an earlier pull request if it is open, and nil if it is behind us.
func alive(ctx context.Context, r *repo.Repo, earlier *forge.Pull) (*forge.Pull, error) {
	switch earlier.State {
	case forge.Open:
		return earlier, nil
	case forge.Closed:
		return nil, fault.New(fault.Closed, "reopen it to have it updated", "pull request %s was closed without being merged", earlier.URL)
	}
	has, err := r.Has(ctx, earlier.Merge)
	if err == nil && !has {
		err = fault.New(fault.Merged, "git pull, and wait until the owner has applied it", "pull request %s was merged, and this work tree does not have it", earlier.URL)
	}
	return nil, err
}

// publish pushes a commit, then opens a pull request, or updates the one there
// is. Where that fails, the push is taken back.
func (t *target) publish(ctx context.Context, c *repo.Commit, title, body string) (*Result, error) {
	pushed, err := t.remote.Push(ctx, t.branch, c)
	if err != nil {
		return nil, err
	}
	result := &Result{Branch: t.branch, Base: t.remote.Base, Commit: pushed.Hash, Remote: t.remote.Name, State: pushed.State}
	if t.forge == nil {
		return result, nil
	}
	request := forge.Request{Base: t.remote.Base, Head: t.branch, Title: title, Body: body}
	if t.pull == nil {
		result.Opened = true
		result.Pull, err = t.forge.Open(ctx, request)
	} else {
		result.Pull, err = t.forge.Update(ctx, t.pull.Number, request)
	}
	if err != nil {
		if undone := t.remote.Undo(ctx, pushed); undone != nil {
			return nil, errors.Join(err, fmt.Errorf("branch %s stays on %s: %w", t.branch, t.remote.Name, undone))
		}
		return nil, err
	}
	return result, nil
}
