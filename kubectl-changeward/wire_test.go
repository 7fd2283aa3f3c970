package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// sent is a request as it stood on the wire.
type sent struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

func (r sent) String() string {
	return fmt.Sprintf("%s %s?%s", r.method, r.path, r.query.Encode())
}

// wire is what passes between a process and the API server.
type wire struct {
	mutex    sync.Mutex
	requests []sent
}

// tapped is the person behind a wire that is read.
func (w world) tapped(t *testing.T, who string) (person, *wire) {
	t.Helper()
	tap := &wire{}
	return w.through(t, w.as(who), func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(out, "unreadable", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		tap.mutex.Lock()
		tap.requests = append(tap.requests, sent{r.Method, r.URL.Path, r.URL.Query(), r.Header.Clone(), body})
		tap.mutex.Unlock()
		forward(out, r)
	}), tap
}

// taken are the requests since the last call.
func (w *wire) taken() []sent {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	out := w.requests
	w.requests = nil
	return out
}

// reads says that a request runs nothing and stores nothing.
func (r sent) reads() bool {
	runs := slices.ContainsFunc(strings.Split(r.path, "/"), func(part string) bool {
		return slices.Contains([]string{"exec", "attach", "portforward", "proxy", "run"}, part)
	})
	return slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, r.method) && !runs && r.header.Get("Upgrade") == ""
}

// reviews says that a request asks what the caller is, and may do.
func (r sent) reviews() bool {
	kinds := []string{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
		"/apis/authentication.k8s.io/v1/selfsubjectreviews"}
	return r.method == "POST" && slices.Contains(kinds, r.path)
}

// rehearses says that the server stores nothing: for a DELETE with a body that
// is decided by the body alone, and a TokenRequest is answered for real.
func (r sent) rehearses() bool {
	asked := r.query["dryRun"]
	if r.method == "DELETE" && len(r.body) > 0 {
		var options struct{ DryRun []string }
		if json.Unmarshal(r.body, &options) != nil || !bytes.Contains(r.body, []byte(`"dryRun"`)) {
			return false
		}
		asked = options.DryRun
	}
	return len(asked) == 1 && asked[0] == "All" && !strings.HasSuffix(r.path, "/token")
}

// records says that a request creates one record: a Secret of changeward's own
// type in its own namespace.
func (r sent) records() bool {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(r.body, nil, nil)
	secret, isSecret := object.(*corev1.Secret)
	return r.method == "POST" && r.path == "/api/v1/namespaces/changeward/secrets" && err == nil && isSecret &&
		strings.HasPrefix(string(secret.Type), "changeward.dev/") && strings.HasPrefix(secret.Name, "cw-")
}

// checked judges each request that a command has sent, and counts those that
// rehearse by method, and those that record.
func checked(t *testing.T, requests []sent, mayRecord bool) (rehearsed map[string]int, recorded int) {
	t.Helper()
	rehearsed = map[string]int{}
	for _, r := range requests {
		switch {
		case r.reads(), r.reviews():
		case r.rehearses():
			rehearsed[r.method]++
		case mayRecord && r.records():
			recorded++
		default:
			t.Errorf("this could change the cluster: %s\n%s", r, r.body)
		}
	}
	return rehearsed, recorded
}

func TestTheReaderOfTheWireSeesWhatCouldChangeACluster(t *testing.T) {
	const maps, records = "/api/v1/namespaces/a/configmaps", "/api/v1/namespaces/changeward/secrets"
	const record = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"cw-plan-1"},"type":"changeward.dev/plan"}`
	for request, want := range map[[4]string]string{
		{"GET", maps}: "reads",
		{"GET", "/api/v1/namespaces/a/pods/p/exec"}:                                                                 "",
		{"GET", "/api/v1/nodes/n/proxy/run"}:                                                                        "",
		{"POST", maps, "dryRun=All", "{}"}:                                                                          "rehearses",
		{"POST", maps, "", "{}"}:                                                                                    "",
		{"POST", maps, "dryRun=all", "{}"}:                                                                          "",
		{"POST", maps, "dryRun=All&dryRun=None", "{}"}:                                                              "",
		{"PATCH", maps + "/x", "", "{}"}:                                                                            "",
		{"PUT", maps + "/x", "dryRun=All", "{}"}:                                                                    "rehearses",
		{"DELETE", maps + "/x", "dryRun=All"}:                                                                       "rehearses",
		{"DELETE", maps + "/x", "", `{"dryRun":["All"]}`}:                                                           "rehearses",
		{"DELETE", maps + "/x", "dryRun=All", `{"DryRun":[]}`}:                                                      "",
		{"DELETE", maps + "/x", "", `{"DryRun":["All"]}`}:                                                           "",
		{"POST", "/api/v1/namespaces/a/serviceaccounts/b/token", "dryRun=All", "{}"}:                                "",
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", "{}"}:                                "reviews",
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "", "{}"}:                                    "",
		{"POST", records, "", record}:                                                                               "records",
		{"PUT", records + "/cw-plan-1", "", record}:                                                                 "",
		{"POST", maps, "", record}:                                                                                  "",
		{"POST", records, "", strings.Replace(record, "changeward.dev/plan", "Opaque", 1)}:                          "",
		{"POST", records, "", strings.Replace(record, "cw-plan", "plan", 1)}:                                        "",
		{"POST", "/api/v1/namespaces/changeward/configmaps", "", strings.Replace(record, "Secret", "ConfigMap", 1)}: "",
	} {
		query, err := url.ParseQuery(request[2])
		assert.NilError(t, err)
		r := sent{method: request[0], path: request[1], query: query, body: []byte(request[3])}
		got := ""
		for name, is := range map[string]bool{"reads": r.reads(), "reviews": r.reviews(), "rehearses": r.rehearses(), "records": r.records()} {
			if is {
				got += name
			}
		}
		assert.Equal(t, got, want, "%s %s", r, request[3])
	}
}
