// Package git lays the files of one commit of a remote repository out in a
// folder, without a git binary and without a shell, as the image of a gate has
// neither.
//
// Enter at Checkout.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
)

// Options say which commit.
type Options struct {
	URL      string // https://, or http:// of this machine
	Revision string // full id of the commit
	Username string // beside Token; "" is one that all forges take
	Token    string // "" for a public repository
}

// Reasons of errors. They are API.
const (
	ReasonAddress  = "RepositoryAddress" // not an address that is fetched from
	ReasonRefused  = "RepositoryRefused" // there is none, or not for this token
	ReasonRevision = "RevisionNotFound"  // the repository has no such commit
	ReasonContent  = "RepositoryContent" // what is in it cannot be read safely
	ReasonFetch    = "RepositoryNotRead" // no answer, or not a whole one
)

// Error is why there is no checkout.
type Error struct {
	Reason  string
	Message string
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

func fail(reason, format string, args ...any) error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Checkout fetches a commit, and writes its files into an empty folder. It
// refuses what would make files mean something else than in a clone: links that
// lead out of the repository, and submodules. All errors are *Error, or those of ctx.
func Checkout(ctx context.Context, options Options, dir string) error {
	if err := check(options); err != nil {
		return err
	}
	repository, err := gogit.PlainInit(dir, false)
	if err != nil {
		return fail(ReasonFetch, "prepare a folder for the repository: %v", err)
	}
	if err := fetch(ctx, repository, options); err != nil {
		return explain(ctx, options, err)
	}
	tree, err := repository.Worktree()
	if err == nil {
		err = tree.Checkout(&gogit.CheckoutOptions{Hash: plumbing.NewHash(options.Revision), Force: true})
	}
	if err != nil {
		return explain(ctx, options, err)
	}
	return inspect(dir)
}

func check(options Options) error {
	at, err := url.Parse(options.URL)
	switch {
	case err != nil || at.Host == "":
		return fail(ReasonAddress, "repositories are read from https:// addresses only")
	case at.User != nil:
		return fail(ReasonAddress, "the address of the repository holds a password or token: put it into GIT_TOKEN instead")
	case at.Scheme == "https":
		return nil
	case at.Scheme == "http" && (loopback(at.Hostname()) || options.Token == ""):
		return nil
	case at.Scheme == "http":
		return fail(ReasonAddress, "a token is not sent over http://: use https://")
	}
	return fail(ReasonAddress, "repositories are read from https:// addresses only, not from %s://", at.Scheme)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// fetch asks for the one commit, and where the server gives out tips only, for
// everything.
func fetch(ctx context.Context, repository *gogit.Repository, options Options) error {
	if _, err := repository.CreateRemote(&config.RemoteConfig{Name: gogit.DefaultRemoteName, URLs: []string{options.URL}}); err != nil {
		return err
	}
	asked := &gogit.FetchOptions{Tags: gogit.NoTags, Depth: 1, RefSpecs: []config.RefSpec{config.RefSpec(options.Revision + ":refs/changeward/gate")}}
	if options.Token != "" {
		asked.Auth = &http.BasicAuth{Username: cmp.Or(options.Username, "git"), Password: options.Token}
	}
	err := repository.FetchContext(ctx, asked)
	if errors.Is(err, gogit.ErrExactSHA1NotSupported) {
		asked.Depth, asked.RefSpecs = 0, []config.RefSpec{"+refs/*:refs/changeward/*"}
		err = repository.FetchContext(ctx, asked)
	}
	if errors.Is(err, gogit.NoErrAlreadyUpToDate) {
		return nil
	}
	return err
}

// explain tells the ways in which a repository is not read apart.
func explain(ctx context.Context, options Options, err error) error {
	at := options.URL
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed), errors.Is(err, transport.ErrRepositoryNotFound):
		return fail(ReasonRefused, "the forge refuses repository %s: %v: is the address right, and may the token in GIT_TOKEN read it?", at, err)
	case errors.Is(err, plumbing.ErrObjectNotFound), errors.Is(err, plumbing.ErrReferenceNotFound), errors.Is(err, transport.ErrEmptyRemoteRepository),
		errors.As(err, new(gogit.NoMatchingRefSpecError)), strings.Contains(err.Error(), "not our ref"), strings.Contains(err.Error(), "empty pack"):
		return fail(ReasonRevision, "repository %s has no revision %s (any more)", at, options.Revision)
	}
	return fail(ReasonFetch, "repository %s could not be read: %s", at, withoutToken(err.Error(), options.Token))
}

func withoutToken(text, token string) string {
	if token == "" {
		return text
	}
	return strings.ReplaceAll(text, token, "***")
}

// inspect refuses links out of the checkout, and submodules.
func inspect(dir string) error {
	if info, err := os.Stat(filepath.Join(dir, ".gitmodules")); err == nil && info.Size() > 0 {
		return fail(ReasonContent, "the repository has submodules, which are not read")
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fail(ReasonContent, "read the checkout: %v", err)
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return fail(ReasonContent, "read the checkout: %s: %v", name, err)
		case name == ".git":
			return fs.SkipDir
		case entry.Type()&fs.ModeSymlink == 0:
			return nil
		}
		target, err := filepath.EvalSymlinks(path)
		if err != nil || target != root && !strings.HasPrefix(target, root+string(filepath.Separator)) ||
			strings.HasPrefix(target, filepath.Join(root, ".git")+string(filepath.Separator)) {
			return fail(ReasonContent, "the repository holds a link that leads out of it, or nowhere: %s", name)
		}
		return nil
	})
}

// IsFull says whether a revision is the full id of a commit.
func IsFull(revision string) bool {
	return (len(revision) == 40 || len(revision) == 64) && strings.Trim(revision, "0123456789abcdef") == ""
}
