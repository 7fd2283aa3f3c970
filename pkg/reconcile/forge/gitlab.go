package forge

import (
	"cmp"
	"context"
	"net/http"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

type gitLab struct {
	client  *gitlab.Client
	project string
}

func newGitLab(place Place, transport *http.Client) (*gitLab, error) {
	make := gitlab.NewClient
	if place.job {
		make = gitlab.NewJobClient
	}
	client, err := make(place.Token, gitlab.WithBaseURL(place.Web), gitlab.WithHTTPClient(transport), gitlab.WithOnlyIdempotentRetries())
	return &gitLab{client: client, project: place.Path}, err
}

func (g *gitLab) find(ctx context.Context, base, head string) (*Pull, int, error) {
	found, response, err := g.client.MergeRequests.ListProjectMergeRequests(g.project, &gitlab.ListProjectMergeRequestsOptions{
		SourceBranch: &head, TargetBranch: &base, State: gitlab.Ptr("all"), OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("desc")},
		gitlab.WithContext(ctx))
	if err != nil {
		return nil, gitLabStatus(response), err
	}
	var list []*Pull
	for _, pull := range found {
		list = append(list, gitLabPull(pull))
	}
	return newest(list), 0, nil
}

func (g *gitLab) open(ctx context.Context, r Request) (*Pull, int, error) {
	made, response, err := g.client.MergeRequests.CreateMergeRequest(g.project, &gitlab.CreateMergeRequestOptions{
		Title: &r.Title, Description: &r.Body, SourceBranch: &r.Head, TargetBranch: &r.Base, RemoveSourceBranch: gitlab.Ptr(true)},
		gitlab.WithContext(ctx))
	if err != nil {
		return nil, gitLabStatus(response), err
	}
	return gitLabPull(&made.BasicMergeRequest), 0, nil
}

func (g *gitLab) update(ctx context.Context, number int64, r Request) (*Pull, int, error) {
	made, response, err := g.client.MergeRequests.UpdateMergeRequest(g.project, number,
		&gitlab.UpdateMergeRequestOptions{Title: &r.Title, Description: &r.Body}, gitlab.WithContext(ctx))
	if err != nil {
		return nil, gitLabStatus(response), err
	}
	return gitLabPull(&made.BasicMergeRequest), 0, nil
}

func gitLabStatus(response *gitlab.Response) int {
	if response == nil || response.Response == nil {
		return 0
	}
	return response.StatusCode
}

func gitLabPull(p *gitlab.BasicMergeRequest) *Pull {
	state := Open
	switch p.State {
	case "merged":
		state = Merged
	case "closed":
		state = Closed
	}
	return &Pull{Number: p.IID, URL: p.WebURL, State: state, Merge: cmp.Or(p.MergeCommitSHA, p.SquashCommitSHA, p.SHA)}
}
