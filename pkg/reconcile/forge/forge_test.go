package forge_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/forge"
)

const oldSHA = "8888888888888888888888888888888888888888"

// request is what a forge was asked.
type request struct {
	line   string // method, path, query in order
	body   map[string]any
	header http.Header
}

// server answers as the API of a forge does, on loopback, and keeps what it was
// asked.
type server struct {
	kind   forge.Kind
	status int
	answer string
	asked  []request
	client *forge.Client
}

// serve starts one and makes a client for team/apps/shop, or team/shop.
func serve(t *testing.T, kind forge.Kind, path string, getenv func(string) string) *server {
	t.Helper()
	s := &server{kind: kind, status: http.StatusOK}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := request{line: r.Method + " " + r.URL.RequestURI(), header: r.Header}
		content, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(content, &asked.body)
		s.asked = append(s.asked, asked)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.answer)
	}))
	t.Cleanup(listener.Close)
	place, err := forge.Detect("git@git.example.com:"+path+".git", string(kind)+"="+listener.URL, getenv)
	assert.NilError(t, err)
	s.client, err = forge.New(*place, listener.Client())
	assert.NilError(t, err)
	return s
}

// pull is the published example of a pull request in a state.
func (s *server) pull(t *testing.T, state string, merged bool) string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + string(s.kind) + "-pull.json")
	assert.NilError(t, err)
	at := "null"
	if merged {
		at = `"2026-04-30T08:46:00Z"`
	}
	return strings.NewReplacer("STATE", state, "MERGED_AT", at).Replace(string(content))
}

func (s *server) last() request { return s.asked[len(s.asked)-1] }

func wanted() forge.Request {
	return forge.Request{Base: "main", Head: "changeward/c_1", Title: "Set a to what runs", Body: "the plan"}
}

func TestGitHubIsAskedAsItsAPISays(t *testing.T) {
	s := serve(t, forge.GitHub, "team/shop", everything)
	s.answer = "[]"
	none, err := s.client.Find(t.Context(), "main", "changeward/c_1")
	assert.NilError(t, err)
	assert.Assert(t, is.Nil(none))
	assert.Equal(t, s.last().line, "GET /api/v3/repos/team/shop/pulls?base=main&direction=desc&head=team%3Achangeward%2Fc_1&sort=created&state=all")
	assert.Equal(t, s.last().header.Get("Authorization"), "Bearer token of GITHUB_TOKEN")

	s.status, s.answer = http.StatusCreated, s.pull(t, "open", false)
	made, err := s.client.Open(t.Context(), wanted())
	assert.NilError(t, err)
	assert.DeepEqual(t, *made, forge.Pull{Number: 7, URL: "https://github.com/team/shop/pull/7", State: forge.Open, Merge: "e5bd3914e2e596debea16f433f57875b5b90bcd6"})
	assert.Equal(t, s.last().line, "POST /api/v3/repos/team/shop/pulls")
	assert.DeepEqual(t, s.last().body, map[string]any{"title": "Set a to what runs", "body": "the plan", "head": "changeward/c_1", "base": "main"})

	s.status = http.StatusOK
	_, err = s.client.Update(t.Context(), 7, wanted())
	assert.NilError(t, err)
	assert.Equal(t, s.last().line, "PATCH /api/v3/repos/team/shop/pulls/7")
	assert.DeepEqual(t, s.last().body, map[string]any{"title": "Set a to what runs", "body": "the plan"})
}

func TestGitLabIsAskedAsItsAPISays(t *testing.T) {
	s := serve(t, forge.GitLab, "team/apps/shop", everything)
	s.answer = "[]"
	none, err := s.client.Find(t.Context(), "main", "changeward/c_1")
	assert.NilError(t, err)
	assert.Assert(t, is.Nil(none))
	assert.Equal(t, s.last().line, "GET /api/v4/projects/team%2Fapps%2Fshop/merge_requests?order_by=created_at&sort=desc&source_branch=changeward%2Fc_1&state=all&target_branch=main")
	assert.Equal(t, s.last().header.Get("Private-Token"), "token of GITLAB_TOKEN")

	s.status, s.answer = http.StatusCreated, s.pull(t, "opened", false)
	made, err := s.client.Open(t.Context(), wanted())
	assert.NilError(t, err)
	assert.DeepEqual(t, *made, forge.Pull{Number: 7, URL: "https://gitlab.com/team/apps/shop/-/merge_requests/7", State: forge.Open, Merge: oldSHA})
	assert.Equal(t, s.last().line, "POST /api/v4/projects/team%2Fapps%2Fshop/merge_requests")
	assert.DeepEqual(t, s.last().body, map[string]any{"title": "Set a to what runs", "description": "the plan",
		"source_branch": "changeward/c_1", "target_branch": "main", "remove_source_branch": true})

	s.status = http.StatusOK
	_, err = s.client.Update(t.Context(), 7, wanted())
	assert.NilError(t, err)
	assert.Equal(t, s.last().line, "PUT /api/v4/projects/team%2Fapps%2Fshop/merge_requests/7")
	assert.DeepEqual(t, s.last().body, map[string]any{"title": "Set a to what runs", "description": "the plan"})
}

func TestAJobOfGitLabSendsItsTokenAsAJob(t *testing.T) {
	s := serve(t, forge.GitLab, "team/shop", func(name string) string {
		if name == "CI_JOB_TOKEN" {
			return "of the job"
		}
		return ""
	})
	s.answer = "[]"
	_, err := s.client.Find(t.Context(), "main", "x")
	assert.NilError(t, err)
	assert.Equal(t, s.last().header.Get("Job-Token"), "of the job")
}

func TestAnOpenPullRequestComesBeforeOlderAndNewerOnes(t *testing.T) {
	for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab} {
		s := serve(t, kind, "team/shop", everything)
		open, merged := "open", "closed"
		if kind == forge.GitLab {
			open, merged = "opened", "merged"
		}
		for answer, want := range map[string]forge.State{
			s.pull(t, "closed", false) + "," + s.pull(t, open, false):  forge.Open,
			s.pull(t, merged, true) + "," + s.pull(t, "closed", false): forge.Merged,
			s.pull(t, "closed", false):                                 forge.Closed,
		} {
			s.answer = "[" + answer + "]"
			found, err := s.client.Find(t.Context(), "main", "changeward/c_1")
			assert.NilError(t, err)
			assert.Equal(t, found.State, want, "%s", kind)
		}
	}
}

func TestEachRefusalOfAForgeHasItsReason(t *testing.T) {
	for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea} {
		for status, reason := range map[int]string{
			http.StatusUnauthorized: fault.Forbidden, http.StatusForbidden: fault.Forbidden, http.StatusNotFound: fault.Forbidden,
			http.StatusConflict: fault.ForgeFailed, http.StatusUnprocessableEntity: fault.ForgeFailed, http.StatusNotImplemented: fault.Unreachable,
		} {
			s := serve(t, kind, "team/shop", everything)
			s.status, s.answer = status, `{"message": "no, says the forge"}`
			words := "no, says the forge"
			if status == http.StatusNotFound { // GitLab's client has words of its own
				words = "team/shop on http://127.0.0.1"
			}
			_, err := s.client.Open(t.Context(), wanted())
			refused(t, err, reason, words)
			_, err = s.client.Find(t.Context(), "main", "x")
			refused(t, err, reason, words)
			_, err = s.client.Update(t.Context(), 7, wanted())
			refused(t, err, reason, words)
		}
		s := serve(t, kind, "team/shop", everything)
		s.answer = "<html>log in</html>"
		_, err := s.client.Open(t.Context(), wanted())
		refused(t, err, fault.ForgeFailed, "team/shop on http://127.0.0.1")
	}
}

func TestAForgeThatDoesNotAnswerIsUnreachableAndNoTokenIsShown(t *testing.T) {
	for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea} {
		place, err := forge.Detect("http://127.0.0.1:1/team/shop.git", string(kind), everything)
		assert.NilError(t, err)
		client, err := forge.New(*place, http.DefaultClient)
		assert.NilError(t, err)
		_, err = client.Find(t.Context(), "main", "x")
		refused(t, err, fault.Unreachable, "connection refused")
	}
}

func refused(t *testing.T, err error, reason, words string) {
	t.Helper()
	var fails *fault.Error
	assert.Assert(t, errors.As(err, &fails), "%v", err)
	assert.Equal(t, fails.Reason, reason, "%v", err)
	assert.ErrorContains(t, err, words)
	assert.Assert(t, !strings.Contains(err.Error(), "token of "), "%v", err)
}
