package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	"sigs.k8s.io/yaml"
)

// pipeline is a forge as far as the integrations ask it: releases, and the
// comments of pull request 7, a hundred a page.
type pipeline struct {
	*httptest.Server
	mu       sync.Mutex
	comments []comment
	archive  []byte
	refuse   bool // comments are not for this token
}

type comment struct {
	ID   int    `json:"id"`
	Body string `json:"body"`
}

func startPipeline(t *testing.T) *pipeline {
	t.Helper()
	p := &pipeline{archive: pack(t)}
	for id := range 100 { // so that the second page counts
		p.comments = append(p.comments, comment{ID: id + 1, Body: "looks good"})
	}
	name := "kubectl-changeward_0.1.0_linux_" + runtime.GOARCH + ".tar.gz"
	sums := fmt.Sprintf("%x  %s\n", sha256.Sum256(p.archive), name)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /releases/v0.1.0/"+name, func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write(p.archive) })
	mux.HandleFunc("GET /releases/v0.1.0/kubectl-changeward_0.1.0_checksums.txt", func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write([]byte(sums)) })
	for _, pattern := range []string{"GET /repos/acme/shop/issues/7/comments", "GET /projects/5/merge_requests/7/notes"} {
		mux.HandleFunc(pattern, p.list)
	}
	for _, pattern := range []string{"POST /repos/acme/shop/issues/7/comments", "POST /projects/5/merge_requests/7/notes",
		"PATCH /repos/acme/shop/issues/comments/{id}", "PUT /projects/5/merge_requests/7/notes/{id}"} {
		mux.HandleFunc(pattern, p.write)
	}
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// pack is the archive of a release, with the built binary.
func pack(t *testing.T) []byte {
	t.Helper()
	binary, err := os.ReadFile(filepath.Join(bin(t), "kubectl-changeward"))
	assert.NilError(t, err)
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	assert.NilError(t, archive.WriteHeader(&tar.Header{Name: "kubectl-changeward", Mode: 0o755, Size: int64(len(binary))}))
	_, err = archive.Write(binary)
	assert.NilError(t, err)
	assert.NilError(t, archive.Close())
	assert.NilError(t, zipped.Close())
	return out.Bytes()
}

// may says whether the request has the token that the tests use.
func (p *pipeline) may(r *http.Request) bool {
	return !p.refuse && (r.Header.Get("Authorization") == "Bearer secret" || r.Header.Get("PRIVATE-TOKEN") == "secret")
}

func (p *pipeline) list(out http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	from := min((page-1)*100, len(p.comments))
	if !p.may(r) {
		http.Error(out, `{"message":"Resource not accessible by integration"}`, http.StatusForbidden)
		return
	}
	_ = json.NewEncoder(out).Encode(p.comments[from:min(from+100, len(p.comments))])
}

func (p *pipeline) write(out http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var c comment
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || !p.may(r) {
		http.Error(out, `{"message":"Bad request"}`, http.StatusBadRequest)
		return
	}
	if id, err := strconv.Atoi(r.PathValue("id")); err == nil {
		p.comments[id-1].Body = c.Body
		return
	}
	c.ID = len(p.comments) + 1
	p.comments = append(p.comments, c)
	out.WriteHeader(http.StatusCreated)
}

// job is one on a runner: its environment, and the files that it writes.
type job struct {
	env  []string
	temp string
}

func (p *pipeline) job(t *testing.T, s shop, event string) job {
	t.Helper()
	j := job{temp: t.TempDir()}
	assert.NilError(t, os.WriteFile(filepath.Join(j.temp, "event"), []byte(event), 0o600))
	j.env = append(s.as("ci").environ(t), "RUNNER_TEMP="+j.temp, "GITHUB_PATH="+j.temp+"/path", "GITHUB_OUTPUT="+j.temp+"/output",
		"GITHUB_STEP_SUMMARY="+j.temp+"/summary", "GITHUB_EVENT_PATH="+j.temp+"/event", "GITHUB_API_URL="+p.URL,
		"GITHUB_REPOSITORY=acme/shop", "GH_TOKEN=secret", "CHANGEWARD_GITLAB_TOKEN=secret", "CI_API_V4_URL="+p.URL,
		"CI_PROJECT_ID=5", "CI_MERGE_REQUEST_IID=7", "CHANGEWARD_RELEASES="+p.URL+"/releases", "CHANGEWARD_VERSION=0.1.0", "CHANGEWARD_SHA256=",
		"CHANGEWARD_MANIFESTS="+s.dir, "CHANGEWARD_TARGET="+clusterName, "CHANGEWARD_FLAGS=")
	return j
}

func (j job) runs(t *testing.T, command []string, more ...string) *icmd.Result {
	t.Helper()
	return icmd.RunCmd(icmd.Cmd{Command: command, Env: append(j.env, more...), Dir: j.temp})
}

// wrote is what the job wrote into one of its files.
func (j job) wrote(t *testing.T, name string) string {
	t.Helper()
	return string(read(t, filepath.Join(j.temp, name)))
}

const ownPull = `{"pull_request":{"number":7,"head":{"repo":{"full_name":"acme/shop"}},"base":{"repo":{"full_name":"acme/shop"}}}}`

// action is a script of the action for GitHub.
func action(t *testing.T, name string) []string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "integrations", "github-actions", name))
	assert.NilError(t, err)
	return []string{"bash", file}
}

// component is the job of the component for GitLab, run as its runners do: all
// lines in one shell.
func component(t *testing.T) []string {
	t.Helper()
	_, jobs, found := strings.Cut(string(read(t, filepath.Join("..", "integrations", "gitlab-ci", "templates", "gate.yml"))), "\n---\n")
	assert.Assert(t, found)
	var parsed map[string]struct{ Script []string }
	assert.NilError(t, yaml.Unmarshal([]byte(jobs), &parsed))
	return []string{"sh", "-ec", strings.Join(parsed["$[[ inputs.job ]]"].Script, "\n")}
}

func TestTheActionInstallsGatesAndKeepsOneComment(t *testing.T) {
	t.Parallel()
	s, p := shared(t).open(t), startPipeline(t)
	j := p.job(t, s, ownPull)
	j.runs(t, action(t, "install.sh")).Assert(t, icmd.Success)
	assert.Equal(t, path.Base(strings.TrimSpace(j.wrote(t, "path"))), "changeward-0.1.0")
	result := j.runs(t, action(t, "gate.sh"))
	assert.Equal(t, result.ExitCode, 2, result.Combined())
	assert.Assert(t, strings.HasPrefix(j.wrote(t, "output"), "decision=approval-required\nchange=c_"), j.wrote(t, "output"))
	assert.Assert(t, strings.Contains(j.wrote(t, "summary"), "feature_new_cart"))
	assert.Equal(t, len(p.comments), 101, result.Combined())
	assert.Assert(t, strings.Contains(p.comments[100].Body, "feature_new_cart"))

	_, id, _ := strings.Cut(j.wrote(t, "output"), "change=")
	id, _, _ = strings.Cut(id, "\n")
	s.as("alice").run(t, "approve", id, "--yes").exits(t, 0)
	again := p.job(t, s, ownPull)
	result = again.runs(t, action(t, "gate.sh"))
	assert.Equal(t, result.ExitCode, 0, result.Combined())
	assert.Assert(t, strings.HasPrefix(again.wrote(t, "output"), "decision=allowed\n"))
	assert.Equal(t, len(p.comments), 101, "the comment is replaced")
	assert.Assert(t, strings.Contains(p.comments[100].Body, "allowed"), p.comments[100].Body)
}

func TestTheActionCommentsErrorsAndGoesOnWhereItMayNotComment(t *testing.T) {
	t.Parallel()
	s, p := shared(t).open(t), startPipeline(t)
	s.write(t, "broken.yaml", "{")
	j := p.job(t, s, ownPull)
	assert.Equal(t, j.runs(t, action(t, "gate.sh")).ExitCode, 1)
	assert.Assert(t, strings.HasPrefix(j.wrote(t, "output"), "decision=error\nchange=\n"), j.wrote(t, "output"))
	assert.Assert(t, strings.Contains(p.comments[100].Body, "broken.yaml"), p.comments[100].Body)

	assert.NilError(t, os.Remove(filepath.Join(s.dir, "broken.yaml")))
	p.refuse = true
	result := p.job(t, s, ownPull).runs(t, action(t, "gate.sh"))
	assert.Equal(t, result.ExitCode, 2, result.Combined())
	assert.Assert(t, strings.Contains(result.Stdout(), "::warning::the plan could not be written"), result.Combined())
}

func TestAPullRequestFromAForkIsToldThatItGetsNoCredentials(t *testing.T) {
	t.Parallel()
	s, p := shared(t).open(t), startPipeline(t)
	j := p.job(t, s, strings.Replace(ownPull, "acme/shop", "mallory/shop", 1))
	result := j.runs(t, action(t, "gate.sh"), "KUBECONFIG=")
	assert.Equal(t, result.ExitCode, 1)
	assert.Assert(t, strings.Contains(result.Stdout(), "::error::a pull request from a fork gets no credentials"), result.Combined())
	result = j.runs(t, component(t), "KUBECONFIG=")
	assert.Equal(t, result.ExitCode, 1)
	assert.Assert(t, strings.Contains(result.Stderr(), "from a fork gets no credentials"), result.Combined())
	assert.Equal(t, len(p.comments), 100)
}

func TestAnArchiveWithAnotherDigestIsNotInstalled(t *testing.T) {
	t.Parallel()
	s, p := shared(t).open(t), startPipeline(t)
	j := p.job(t, s, ownPull)
	for _, command := range [][]string{action(t, "install.sh"), component(t)} {
		result := j.runs(t, command, "CHANGEWARD_SHA256="+strings.Repeat("0", 64))
		assert.Equal(t, result.ExitCode, 1)
		assert.Assert(t, strings.Contains(result.Combined(), "does not have the digest that it should have"), result.Combined())
	}
	p.archive = append(p.archive, 0)
	for _, command := range [][]string{action(t, "install.sh"), component(t)} {
		assert.Equal(t, j.runs(t, command).ExitCode, 1)
	}
	_, err := os.Stat(filepath.Join(j.temp, "path"))
	assert.Assert(t, os.IsNotExist(err))
	assert.Equal(t, len(p.comments), 100)
}

func TestTheComponentGatesAndKeepsOneNote(t *testing.T) {
	t.Parallel()
	s, p := shared(t).open(t), startPipeline(t)
	result := p.job(t, s, "").runs(t, component(t))
	assert.Equal(t, result.ExitCode, 2, result.Combined())
	id := idOf(t, answer{stdout: result.Stdout()})
	assert.Equal(t, len(p.comments), 101, result.Combined())
	s.as("alice").run(t, "approve", id, "--yes").exits(t, 0)
	j := p.job(t, s, "")
	result = j.runs(t, component(t))
	assert.Equal(t, result.ExitCode, 0, result.Combined())
	assert.Equal(t, len(p.comments), 101, "the note is replaced")
	_, note, _ := strings.Cut(p.comments[100].Body, "-->\n")
	assert.Equal(t, note, j.wrote(t, "changeward-plan.md"))
}
