package forge

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/changeward/changeward/pkg/reconcile/fault"
)

// State is that of a pull request.
type State string

// The states.
const (
	Open   State = "open"
	Merged State = "merged"
	Closed State = "closed" // not merged
)

// Pull is a pull request, or a merge request.
type Pull struct {
	Number int64
	URL    string // for a browser
	State  State
	// Merge is the commit by which it came into its base, once merged.
	Merge string
}

// Request is what a pull request should be.
type Request struct {
	// Base is the branch to merge into, Head the one to merge, both of the same
	// repository.
	Base, Head string
	// Title is one line, Body Markdown.
	Title, Body string
}

// Client is a client of one repository. Safe for use by several goroutines.
type Client struct {
	place Place
	pulls pulls
}

// pulls is what a forge's API is asked. The status is that of its answer, 0
// where there was none.
type pulls interface {
	// find is the open pull request of the two branches, else the newest, else nil.
	find(ctx context.Context, base, head string) (pull *Pull, status int, err error)
	open(ctx context.Context, r Request) (pull *Pull, status int, err error)
	update(ctx context.Context, number int64, r Request) (pull *Pull, status int, err error)
}

// New makes a client. transport is how it speaks HTTP. The error is a
// *fault.Error.
func New(place Place, transport *http.Client) (*Client, error) {
	c := &Client{place: place}
	var err error
	switch place.Kind {
	case GitHub:
		c.pulls, err = newGitHub(place, transport)
	case GitLab:
		c.pulls, err = newGitLab(place, transport)
	case Gitea:
		c.pulls = newGitea(place, transport)
	}
	return c, c.fault(0, err)
}

// Find is the open pull request that would merge head into base, else the newest
// one that did or should have, else nil.
func (c *Client) Find(ctx context.Context, base, head string) (*Pull, error) {
	pull, status, err := c.pulls.find(ctx, base, head)
	return pull, c.fault(status, err)
}

// Open opens a pull request.
func (c *Client) Open(ctx context.Context, r Request) (*Pull, error) {
	pull, status, err := c.pulls.open(ctx, r)
	return pull, c.fault(status, err)
}

// Update gives a pull request the title and body of r.
func (c *Client) Update(ctx context.Context, number int64, r Request) (*Pull, error) {
	pull, status, err := c.pulls.update(ctx, number, r)
	return pull, c.fault(status, err)
}

// fault says which kind of failure an error is. A forge answers 404, not 403,
// for what a token may not even see.
func (c *Client) fault(status int, err error) error {
	if err == nil {
		return nil
	}
	var transport *url.Error
	where := c.place.Path + " on " + c.place.Web
	said := strings.Join(strings.Fields(err.Error()), " ") // it may be a page
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound:
		return fault.New(fault.Forbidden, "the token needs the rights to write to the repository and to open pull requests there",
			"%s does not let this token (%d): %.300s", where, status, said)
	case status >= 500 || errors.As(err, &transport) && status == 0:
		return fault.New(fault.Unreachable, "is the network up, and is the address right?", "%s does not answer: %.300s", where, said)
	}
	return fault.New(fault.ForgeFailed, "", "%s refused: %.300s", where, said)
}

// newest is the first open one of a list, else the first.
func newest(list []*Pull) *Pull {
	for _, pull := range list {
		if pull.State == Open {
			return pull
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}
