package repo

import (
	"context"
	"errors"
	"strings"

	"github.com/changeward/changeward/pkg/reconcile/fault"
)

// Pushed is what a push did.
type Pushed struct {
	// Branch is the one on the remote, Hash where it is now.
	Branch, Hash string
	State        State
	old          string // where it was; "" for nowhere
}

// Push puts a commit on a branch of the remote, which is made, or replaced where
// it has nothing but untouched commits of changeward's own. The error is a
// *fault.Error: the work tree's branch has commits that its remote lacks, or
// lacks others that change the same files; the branch has someone else's
// commits, or moved meanwhile; the server refuses or does not answer.
func (m *Remote) Push(ctx context.Context, branch string, c *Commit) (*Pushed, error) {
	base, old, err := m.tips(ctx, branch)
	if err != nil {
		return nil, err
	}
	if err := m.current(ctx, base, c); err != nil {
		return nil, err
	}
	p := &Pushed{Branch: branch, Hash: c.Hash, State: Created, old: old}
	if old != "" {
		p.State = Updated
		if err := m.repo.own(ctx, "branch "+branch+" of "+m.Name, old, m.repo.Head, base); err != nil {
			return nil, err
		}
		same, err := m.repo.same(ctx, c, old)
		if err != nil {
			return nil, err
		}
		if same {
			return &Pushed{Branch: branch, Hash: old, State: Unchanged, old: old}, nil
		}
	}
	err = m.push(ctx, old, c.Hash, branch)
	if ctx.Err() != nil { // nobody knows how far it came
		return nil, errors.Join(ctx.Err(), m.takeBack(ctx, p))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Undo takes a push back: the branch is gone again, or where it was.
func (m *Remote) Undo(ctx context.Context, p *Pushed) error {
	if p.State == Unchanged {
		return nil
	}
	return m.push(context.WithoutCancel(ctx), p.Hash, p.old, p.Branch)
}

// takeBack is Undo for a push that may not have arrived.
func (m *Remote) takeBack(ctx context.Context, p *Pushed) error {
	ctx = context.WithoutCancel(ctx)
	if _, now, err := m.tips(ctx, p.Branch); err != nil || now != p.Hash {
		return err
	}
	return m.Undo(ctx, p)
}

// push moves a branch of the remote from one hash to another, if it is still at
// the first; "" stands for no branch.
func (m *Remote) push(ctx context.Context, from, to, branch string) error {
	ref := "refs/heads/" + branch
	_, err := m.git.run(ctx, "push", "--porcelain", "--no-follow-tags", "--force-with-lease="+ref+":"+from, "--", m.Name, to+":"+ref)
	return m.fault(err)
}

// current refuses a base with commits that only this clone has, which the pull
// request would carry along, and one that is behind in the files of the commit.
func (m *Remote) current(ctx context.Context, base string, c *Commit) error {
	ahead, err := m.repo.git.line(ctx, "rev-list", "--count", m.repo.Head, "--not", base)
	if err != nil {
		return err
	}
	if ahead != "0" {
		return fault.New(fault.Unpushed, "push them first", "branch %s has %s commits that %s of %s lacks", m.repo.Branch, ahead, m.Base, m.Name)
	}
	behind, err := m.repo.changed(ctx, m.repo.Head, base, c.Files...)
	if err != nil {
		return err
	}
	if len(behind) > 0 {
		return fault.New(fault.Behind, "git pull", "branch %s of %s has newer versions of %s", m.Base, m.Name, strings.Join(behind, ", "))
	}
	return nil
}

// fault says which kind of refusal a git that spoke to the remote met. Git has
// no codes for these: the words are its own and those of GitHub, GitLab and
// Gitea.
func (m *Remote) fault(err error) error {
	var no *failed
	if !errors.As(err, &no) {
		return err
	}
	text := strings.ToLower(no.stderr)
	says := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(text, word) {
				return true
			}
		}
		return false
	}
	switch {
	case says("(stale info)", "(fetch first)", "cannot lock ref"):
		return fault.New(fault.BranchMoved, "run again", "the branch was moved meanwhile: %w", no)
	case says("protected branch", "gh006", "gh013"):
		return fault.New(fault.Protected, "let changeward/* be pushed to, or ask who may", "the branch is protected: %w", no)
	case says("authentication failed", "could not read username", "could not read password", "permission denied", "access denied",
		"returned error: 401", "returned error: 403", "not found", "not allowed to push", "write access", "unauthorized"):
		return fault.New(fault.Forbidden, "a token needs the right to read and write this repository; for SSH, `git ls-remote "+m.Name+"` asks the same",
			"%s does not let you: %w", m.Name, no)
	case says("could not resolve", "failed to connect", "couldn't connect", "connection refused", "timed out", "no route to host", "unable to access",
		"connection reset", "early eof", "does not appear to be a git repository"):
		return fault.New(fault.Unreachable, "is the network up, and is `git remote get-url "+m.Name+"` right?", "%s does not answer: %w", m.Name, no)
	}
	return fault.New(fault.PushRefused, "", "%s refused: %w", m.Name, no)
}
