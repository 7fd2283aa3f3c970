package forge

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/go-github/v88/github"
)

type gitHub struct {
	client      *github.Client
	owner, name string
}

func newGitHub(place Place, transport *http.Client) (*gitHub, error) {
	options := []github.ClientOptionsFunc{github.WithHTTPClient(transport), github.WithAuthToken(place.Token)}
	if place.Web != "https://github.com" {
		options = append(options, github.WithEnterpriseURLs(place.Web, place.Web))
	}
	client, err := github.NewClient(options...)
	owner, name, _ := strings.Cut(place.Path, "/")
	return &gitHub{client: client, owner: owner, name: name}, err
}

func (g *gitHub) find(ctx context.Context, base, head string) (*Pull, int, error) {
	found, response, err := g.client.PullRequests.List(ctx, g.owner, g.name, &github.PullRequestListOptions{
		State: "all", Head: g.owner + ":" + head, Base: base, Sort: "created", Direction: "desc"})
	if err != nil {
		return nil, gitHubStatus(response), err
	}
	var list []*Pull
	for _, pull := range found {
		list = append(list, gitHubPull(pull))
	}
	return newest(list), 0, nil
}

func (g *gitHub) open(ctx context.Context, r Request) (*Pull, int, error) {
	pull, response, err := g.client.PullRequests.Create(ctx, g.owner, g.name, &github.NewPullRequest{
		Title: &r.Title, Head: &r.Head, Base: &r.Base, Body: &r.Body})
	if err != nil {
		return nil, gitHubStatus(response), err
	}
	return gitHubPull(pull), 0, nil
}

func (g *gitHub) update(ctx context.Context, number int64, r Request) (*Pull, int, error) {
	pull, response, err := g.client.PullRequests.Edit(ctx, g.owner, g.name, int(number), &github.PullRequest{Title: &r.Title, Body: &r.Body})
	if err != nil {
		return nil, gitHubStatus(response), err
	}
	return gitHubPull(pull), 0, nil
}

func gitHubStatus(response *github.Response) int {
	if response == nil {
		return 0
	}
	return response.StatusCode
}

func gitHubPull(p *github.PullRequest) *Pull {
	state := Open
	switch {
	case p.GetMerged() || p.MergedAt != nil: // a list has the time alone
		state = Merged
	case p.GetState() != "open":
		state = Closed
	}
	return &Pull{Number: int64(p.GetNumber()), URL: p.GetHTMLURL(), State: state, Merge: p.GetMergeCommitSHA()}
}
