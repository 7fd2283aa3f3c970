package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// patience is how long a gate of these tests may take.
const patience = time.Second

// fault is what a broken server does to a request.
type fault func(http.ResponseWriter, *http.Request)

// broken is an API server in front of the real one, as this person, that
// answers one of the calls otherwise.
type broken struct {
	mutex  sync.Mutex
	seen   []string
	target string // the call that the fault hits: method, path, label selector
	fault  fault
	real   http.Handler
}

func (b *broken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := strings.TrimSpace(r.Method + " " + r.URL.Path + " " + r.URL.Query().Get("labelSelector"))
	b.mutex.Lock()
	if !slices.Contains(b.seen, call) {
		b.seen = append(b.seen, call)
	}
	hit, fault := call == b.target, b.fault
	b.mutex.Unlock()
	if hit {
		fault(w, r)
		return
	}
	b.real.ServeHTTP(w, r)
}

// breaks says which calls fail from now on, and how; "" is none.
func (b *broken) breaks(call string, f fault) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.target, b.fault = call, f
}

// behind starts a broken server for a person, and gives a kubeconfig for it.
func (p person) behind(t *testing.T, b *broken) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig())
	assert.NilError(t, err)
	transport, err := rest.TransportFor(config)
	assert.NilError(t, err)
	host, err := url.Parse(config.Host)
	assert.NilError(t, err)
	b.real = &httputil.ReverseProxy{Transport: transport, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(host); r.Out.Header.Del("Accept-Encoding") }}
	server := httptest.NewServer(b)
	t.Cleanup(server.CloseClientConnections)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	assert.NilError(t, clientcmd.WriteToFile(api.Config{CurrentContext: "x",
		Clusters:  map[string]*api.Cluster{"x": {Server: server.URL}},
		AuthInfos: map[string]*api.AuthInfo{"x": {}},
		Contexts:  map[string]*api.Context{"x": {Cluster: "x", AuthInfo: "x"}}}, file))
	return file
}

func faults() map[string]fault {
	answer := func(code int, body string) fault {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	return map[string]fault{
		"500":          answer(500, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"boom","code":500}`),
		"garbage":      answer(200, "\x00\x01 <html>\x1b[31m"),
		"empty object": answer(200, `{}`),
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"kind":`)
		},
		"hung": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(2 * patience):
			}
		},
	}
}

// harmless says that the answer to a call decides nothing: the time is in the
// header, an empty list was read already, and what discovery leaves out is
// unknown.
func harmless(call string) bool {
	return slices.Contains([]string{"GET /version", "GET /api/v1/namespaces/changeward", "GET /apis",
		"GET /api/v1/namespaces/changeward-gate/secrets/cw-digest-key"}, call)
}

func TestAServerThatFailsHangsOrAnswersGarbageNeverLetsAPlanPass(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.approved(t)
	ci := s.as("ci")
	b := &broken{}
	args := []string{"gate", "-f", s.dir, "--target", clusterName, "--kubeconfig", ci.behind(t, b)}
	ci.run(t, args...).exits(t, 0)
	calls := slices.Clone(b.seen)
	for i, call := range calls {
		for name, f := range faults() {
			if name == "hung" && i%5 != 0 { // each costs all patience
				continue
			}
			b.breaks(call, f)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			got := ci.start(ctx, strings.NewReader(""), args)
			cancel()
			got.isCivil(t)
			assert.Assert(t, got.code != 0 || harmless(call), "%s: %s\n%s", call, name, got)
			if got.code == 2 { // a fault must not have cost the approval, or nothing would pass below
				b.breaks("", nil)
				ci.run(t, args...).exits(t, 0)
			}
		}
	}
	b.breaks("", nil)
	ci.run(t, args...).exits(t, 0)
}
