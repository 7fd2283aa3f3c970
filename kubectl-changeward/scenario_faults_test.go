package main

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// call names a request by its method and path, without the names of records.
func call(r *http.Request) string {
	path := r.URL.Path
	if i := strings.Index(path, "/cw-"); i >= 0 && !strings.Contains(path, "-key") {
		path = path[:i] + "/cw-…"
	}
	if r.URL.Query().Has("dryRun") {
		path += " as a dry run"
	}
	return r.Method + " " + path
}

// calls are the distinct requests that a gate sends, as it does when it passes.
func (s shop) calls(t *testing.T) []string {
	t.Helper()
	var mutex sync.Mutex
	seen := map[string]bool{}
	ci := s.through(t, s.as("ci"), func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		mutex.Lock()
		seen[call(r)] = true
		mutex.Unlock()
		forward(out, r)
	})
	ci.run(t, "gate", "-f", s.dir, "--kubeconfig", ci.getenv("KUBECONFIG")).exits(t, 0)
	return slices.Sorted(maps.Keys(seen))
}

func TestWhicheverRequestFailsNothingIsAllowed(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.approved(t)
	spared := []string{
		"GET /version",                                   // for its Date header, which every answer carries
		"GET /api/v1/namespaces/changeward",              // only while there is no record of some type
		"GET /api/v1/namespaces/changeward/secrets/cw-…", // only while another scope has the newest entry
		"POST /api/v1/namespaces/changeward/secrets",     // only when the verdict changes: see the next test
	}
	for _, failing := range s.calls(t) {
		if slices.Contains(spared, failing) {
			continue
		}
		t.Run(strings.ReplaceAll(failing, "/", " "), func(t *testing.T) {
			t.Parallel()
			ci := s.through(t, s.as("ci"), func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
				if call(r) == failing {
					http.Error(out, "the dog ate it", http.StatusInternalServerError)
					return
				}
				forward(out, r)
			})
			got := ci.run(t, "gate", "-f", s.dir, "--kubeconfig", ci.getenv("KUBECONFIG"))
			got.exits(t, 1)
			assert.Assert(t, strings.Contains(got.stdout+got.stderr, "the dog ate it"), "%s", got)
		})
	}
}

func TestAnAnswerThatCannotBeRecordedIsNoAnswer(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]string{"the plan": "cw-plan-", "the audit entry": "cw-audit-"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shared(t).open(t)
			s.write(t, "shop.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, namespace: NS}}`)
			ci := s.through(t, s.as("ci"), func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
				body, err := io.ReadAll(r.Body)
				if err != nil || writes(r) && bytes.Contains(body, []byte(failing)) {
					http.Error(out, "the dog ate it", http.StatusInternalServerError)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				forward(out, r)
			})
			got := ci.run(t, "gate", "-f", s.dir, "--kubeconfig", ci.getenv("KUBECONFIG")).exits(t, 1).tells(t, "error: write ", failing, "the dog ate it")
			assert.Equal(t, got.stdout, "")
			assert.Equal(t, len(s.audit(t)), 0)
			s.isOneRequest(t, []answer{s.gate(t, "ci")}, 0)
		})
	}
}
