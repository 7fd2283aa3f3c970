// Package publish brings a commit to a branch of the remote, and from there into
// one pull request that every further run updates.
//
// Enter at Prepare, before anything is edited: it finds remote, forge, token
// and an earlier pull request, and fails where the commit could not be
// published. Target.Publish pushes and opens or updates; where it fails, the
// remote is as it was.
package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/forge"
	"github.com/changeward/changeward/pkg/reconcile/repo"
)

// BranchPrefix begins the names of changeward's branches; the id of a change
// follows.
const BranchPrefix = "changeward/"

// Options say where to publish.
type Options struct {
	// Branch is the one to push, such as changeward/c_9dd33d8939b8.
	Branch string
	// Forge is the flag of that name: "" where the host of the remote says it.
	Forge string
	// Getenv finds tokens, HTTP speaks to the forge.
	Getenv func(name string) string
	HTTP   *http.Client
}

// pulls is what a forge does; forge.Client does it.
type pulls interface {
	Find(ctx context.Context, base, head string) (*forge.Pull, error)
	Open(ctx context.Context, r forge.Request) (*forge.Pull, error)
	Update(ctx context.Context, number int64, r forge.Request) (*forge.Pull, error)
}

// Target is a branch of a remote, and the pull request that it may have.
type Target struct {
	branch string
	remote *repo.Remote
	forge  pulls       // nil where none is known
	pull   *forge.Pull // nil, or open
}

// Prepare finds where commits of a repository are published. The error is a
// *fault.Error: no remote, no token, a forge that does not answer, an earlier
// pull request that was closed, or merged while the work tree does not have it.
func Prepare(ctx context.Context, r *repo.Repo, o Options) (*Target, error) {
	remote, err := r.Remote(ctx)
	if err != nil {
		return nil, err
	}
	t := &Target{branch: o.Branch, remote: remote}
	place, err := forge.Detect(remote.URL, o.Forge, o.Getenv)
	if err != nil || place == nil {
		return t, err
	}
	remote.Authorize(place.User, place.Token)
	client, err := forge.New(*place, o.HTTP)
	if err != nil {
		return nil, err
	}
	t.forge = client
	earlier, err := client.Find(ctx, remote.Base, o.Branch)
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

// Result is what was published.
type Result struct {
	// Branch is where Commit is now, on the remote; Base what it is for.
	Branch, Base, Commit string
	// State says what became of the branch.
	State repo.State
	// Pull is the pull request; nil where no forge is known.
	Pull *forge.Pull
	// Opened says that the pull request is new.
	Opened bool
}

// Publish pushes a commit, then opens a pull request with the title and the
// Markdown body, or updates the one there is. The error is a *fault.Error, or
// joins one with what could not be taken back.
func (t *Target) Publish(ctx context.Context, c *repo.Commit, title, body string) (*Result, error) {
	pushed, err := t.remote.Push(ctx, t.branch, c)
	if err != nil {
		return nil, err
	}
	result := &Result{Branch: t.branch, Base: t.remote.Base, Commit: pushed.Hash, State: pushed.State}
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
