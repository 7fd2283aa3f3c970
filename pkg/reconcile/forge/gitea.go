package forge

import (
	"context"
	"net/http"
	"strings"

	"code.gitea.io/sdk/gitea"
)

type giteaRepo struct {
	place       Place
	transport   *http.Client
	owner, name string
}

func newGitea(place Place, transport *http.Client) *giteaRepo {
	owner, name, _ := strings.Cut(place.Path, "/")
	return &giteaRepo{place: place, transport: transport, owner: owner, name: name}
}

// client is one for a single call: the library keeps a context in it. No version
// is asked for: what is used here is in every release since 1.22.
func (g *giteaRepo) client(ctx context.Context) (*gitea.Client, error) {
	return gitea.NewClient(g.place.Web, gitea.SetContext(ctx), gitea.SetHTTPClient(g.transport), gitea.SetToken(g.place.Token), gitea.SetGiteaVersion(""))
}

func (g *giteaRepo) find(ctx context.Context, base, head string) (*Pull, int, error) {
	client, err := g.client(ctx)
	if err != nil {
		return nil, 0, err
	}
	pull, response, err := client.GetPullRequestByBaseHead(g.owner, g.name, base, head)
	if giteaStatus(response) == http.StatusNotFound { // the pull request, or the repository
		_, response, err := client.GetRepo(g.owner, g.name)
		return nil, giteaStatus(response), err
	}
	if err != nil {
		return nil, giteaStatus(response), err
	}
	if pull.State == gitea.StateOpen {
		return giteaPull(pull), 0, nil
	}
	for _, state := range []gitea.StateType{gitea.StateOpen, gitea.StateClosed} { // there are some: which is the newest?
		found, status, err := g.scan(client, state, base, head)
		if found != nil || err != nil {
			return found, status, err
		}
	}
	return giteaPull(pull), 0, nil
}

// scan looks through all pull requests of a state, newest first: the API has no
// filter by head.
func (g *giteaRepo) scan(client *gitea.Client, state gitea.StateType, base, head string) (*Pull, int, error) {
	for page := 1; page > 0; {
		found, response, err := client.ListRepoPullRequests(g.owner, g.name, gitea.ListPullRequestsOptions{
			ListOptions: gitea.ListOptions{Page: page, PageSize: 50}, State: state, Sort: "recentupdate"})
		if err != nil {
			return nil, giteaStatus(response), err
		}
		for _, pull := range found {
			if pull.Base != nil && pull.Head != nil && pull.Base.Name == base && pull.Head.Name == head && pull.Head.RepoID == pull.Base.RepoID {
				return giteaPull(pull), 0, nil
			}
		}
		page = response.NextPage
	}
	return nil, 0, nil
}

func (g *giteaRepo) open(ctx context.Context, r Request) (*Pull, int, error) {
	client, err := g.client(ctx)
	if err != nil {
		return nil, 0, err
	}
	pull, response, err := client.CreatePullRequest(g.owner, g.name, gitea.CreatePullRequestOption{Base: r.Base, Head: r.Head, Title: r.Title, Body: r.Body})
	if err != nil {
		return nil, giteaStatus(response), err
	}
	return giteaPull(pull), 0, nil
}

func (g *giteaRepo) update(ctx context.Context, number int64, r Request) (*Pull, int, error) {
	client, err := g.client(ctx)
	if err != nil {
		return nil, 0, err
	}
	pull, response, err := client.EditPullRequest(g.owner, g.name, number, gitea.EditPullRequestOption{Title: r.Title, Body: &r.Body})
	if err != nil {
		return nil, giteaStatus(response), err
	}
	return giteaPull(pull), 0, nil
}

func giteaStatus(response *gitea.Response) int {
	if response == nil || response.Response == nil {
		return 0
	}
	return response.StatusCode
}

func giteaPull(p *gitea.PullRequest) *Pull {
	state, merge := Open, ""
	switch {
	case p.HasMerged:
		state = Merged
	case p.State != gitea.StateOpen:
		state = Closed
	}
	if p.MergedCommitID != nil {
		merge = *p.MergedCommitID
	}
	return &Pull{Number: p.Index, URL: p.HTMLURL, State: state, Merge: merge}
}
