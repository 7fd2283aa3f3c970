package dryrun

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/kubetest"
)

// sent counts what reaches the wire.
type sent struct {
	next  http.RoundTripper
	count int
}

func (s *sent) RoundTrip(request *http.Request) (*http.Response, error) {
	s.count++
	return s.next.RoundTrip(request)
}

type answer func(*http.Request) (*http.Response, error)

func (a answer) RoundTrip(request *http.Request) (*http.Response, error) { return a(request) }

func TestTheGuardSendsOnlyWhatCannotChangeTheCluster(t *testing.T) {
	const pods, review = "/api/v1/namespaces/a/pods", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	for _, c := range []struct {
		method, url, body string
		sent              bool
	}{
		{"GET", pods, "", true},
		{"GET", "/openapi/v3", "", true},
		{"GET", pods + "/p/log", "", true},
		{"GET", pods + "/p/exec?command=rm", "", false},
		{"GET", pods + "/p:80/proxy/shutdown", "", false},
		{"POST", pods + "?dryRun=All", "{}", true},
		{"POST", pods, "{}", false},
		{"POST", pods + "?dryRun=", "{}", false},
		{"POST", pods + "?dryRun=all", "{}", false},
		{"POST", pods + "?dryRun=All&dryRun=None", "{}", false},
		{"POST", pods + "?dryrun=All", "{}", false},
		{"POST", pods + "?dryRun=All;", "{}", false},
		{"POST", "/apis/example.com/v1/namespaces/a/things?dryRun=All", "{}", true},
		{"POST", "/api/v1/namespaces/a/serviceaccounts/x/token?dryRun=All", "{}", false},
		{"POST", pods + "/p/eviction?dryRun=All", "{}", false},
		{"POST", pods + "/p/exec?dryRun=All", "", false},
		{"POST", review, "{}", true},
		{"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", true},
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "{}", false},
		{"POST", "/apis/example.com/v1/selfsubjectreviews", "{}", false},
		{"PUT", review + "/x", "{}", false},
		{"PUT", pods + "/p?dryRun=All", "{}", true},
		{"PUT", "/api/v1/namespaces/a/finalize?dryRun=All", "{}", false},
		{"PATCH", pods + "/p?dryRun=All", "{}", true},
		{"PATCH", pods + "/p/status?dryRun=All", "{}", false},
		{"PATCH", "/api/v1/namespaces/a?dryRun=All", "{}", true},
		{"PATCH", "/api/v1/namespaces/a/status?dryRun=All", "{}", false},
		{"PATCH", "/api/v1/namespaces/a/../b?dryRun=All", "{}", false},
		{"PATCH", "/healthz?dryRun=All", "{}", false},
		{"DELETE", pods + "/p?dryRun=All", "", true},
		{"DELETE", pods + "/p", `{"dryRun":["All"]}`, true},
		{"DELETE", pods + "/p", "", false},
		{"DELETE", pods + "/p?dryRun=All", `{"propagationPolicy":"Foreground"}`, false},
		{"DELETE", pods + "/p?dryRun=All", `{"DryRun":["All"]}`, false},
		{"DELETE", pods + "/p", `{"dryRun":["All",""]}`, false},
		{"DELETE", pods + "/p", `{"dryRun":"All"}`, false},
		{"DELETE", pods + "/p", "k8s\x00", false},
		{"CONNECT", pods + "/p", "", false},
	} {
		wire := &sent{next: answer(func(request *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(request.Body)
			assert.Equal(t, string(body), c.body)
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		})}
		request, err := http.NewRequestWithContext(t.Context(), c.method, "https://server.example/k8s/one"+c.url, strings.NewReader(c.body))
		assert.NilError(t, err)
		_, err = (&guard{next: wire, base: "/k8s/one"}).RoundTrip(request)
		assert.Equal(t, err == nil, c.sent, "%s %s %s: %v", c.method, c.url, c.body, err)
		assert.Equal(t, wire.count, map[bool]int{true: 1}[c.sent], "%s %s", c.method, c.url)
	}
}

// wired is a client's own HTTP client, and a count of what it sends.
func wired(t *testing.T) (*http.Client, *sent, *rest.Config) {
	t.Helper()
	config := kubetest.Shared(t).Config(kubetest.Admin)
	wire := &sent{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { wire.next = next; return wire })
	client, err := guardedClient(config, newPace())
	assert.NilError(t, err)
	return client, wire, config
}

func TestNothingThatWritesReachesTheServer(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	client, wire, config := wired(t)
	maps := kubetest.Shared(t).Client(kubetest.Admin).CoreV1().ConfigMaps(namespace)
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "here"}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	before, err := maps.List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	base := config.Host + "/api/v1/namespaces/" + namespace
	do := func(method, path, body string) (int, error) {
		request, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		assert.NilError(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}}`
	for _, refused := range [][3]string{
		{"POST", "/configmaps", object},
		{"DELETE", "/configmaps/here", ""},
		{"DELETE", "/configmaps/here?dryRun=All", `{"gracePeriodSeconds":0}`}, // the server would delete it
		{"POST", "/serviceaccounts/default/token?dryRun=All", `{}`},           // the server would give a token
	} {
		_, err := do(refused[0], refused[1], refused[2])
		assert.ErrorContains(t, err, "refused to send "+refused[0])
	}
	assert.Equal(t, wire.count, 0)
	for _, taken := range [][3]string{
		{"POST", "/configmaps?dryRun=All", object},
		{"DELETE", "/configmaps/here?dryRun=All", ""},
		{"DELETE", "/configmaps/here", `{"dryRun":["All"]}`},
	} {
		code, err := do(taken[0], taken[1], taken[2])
		assert.NilError(t, err)
		assert.Assert(t, code < 300, "%v: %d", taken, code)
	}
	after, err := maps.List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	assert.Equal(t, len(after.Items), len(before.Items))
	assert.Equal(t, after.Items[0].ResourceVersion, before.Items[0].ResourceVersion)
}

func FuzzTheGuardNeverSendsAMutationWithoutDryRun(f *testing.F) {
	f.Add("POST", "/api/v1/pods", "dryRun=All")
	f.Add("DELETE", "/apis/a/v1/namespaces/n/b/c", "dryRun=All&dryRun=")
	f.Fuzz(func(t *testing.T, method, path, query string) {
		request, err := http.NewRequest(method, "https://server.example/", nil)
		if err != nil {
			return
		}
		request.URL.Path, request.URL.RawQuery = path, query
		at, _ := locate(path)
		if (&guard{}).check(request) != nil || isSelfReview(at) {
			return
		}
		reads := method == "GET" || method == "HEAD" || method == "OPTIONS" || method == ""
		values, _ := url.ParseQuery(query)
		assert.Assert(t, reads || len(values["dryRun"]) > 0 && values["dryRun"][0] == "All")
	})
}
