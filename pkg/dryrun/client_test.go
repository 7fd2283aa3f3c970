package dryrun_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
)

func TestTheClusterIsKnownByItsUIDAndTheCallerByNameAndGroups(t *testing.T) {
	client, err := dryrun.New(cluster(t).Config("alice"))
	assert.NilError(t, err)
	caller, err := client.Whoami(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, caller.Username, "alice")
	assert.Equal(t, caller.Author, "")
	assert.Assert(t, slices.Contains(caller.Groups, "sre"))
	assert.Assert(t, strings.HasPrefix(caller.Credential, "X509SHA256="), caller.Credential)
	version, err := client.ServerVersion(t.Context())
	assert.NilError(t, err)
	assert.Assert(t, strings.HasPrefix(version, "v1."), version)
	_, err = client.Cluster(t.Context())
	var problem *dryrun.Error
	assert.Assert(t, asError(err, &problem) && problem.Reason == dryrun.Forbidden, "%v", err)

	admin, err := dryrun.New(cluster(t).Config(kubetest.Admin))
	assert.NilError(t, err)
	uid, err := admin.Cluster(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, len(uid), 36)
}

func TestTheAuthorIsWhomTheServerNamesInTheCallersExtra(t *testing.T) {
	config := cluster(t).Config(kubetest.Admin)
	config.Impersonate = rest.ImpersonationConfig{UserName: "robot", Extra: map[string][]string{dryrun.AuthorExtra: {"github:bob"}}}
	client, err := dryrun.New(config)
	assert.NilError(t, err)
	caller, err := client.Whoami(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, caller.Author, "github:bob")
}

func TestAServerThatCannotBeAskedHasAReason(t *testing.T) {
	good := cluster(t).Config(kubetest.Admin)
	unauthorized := rest.AnonymousClientConfig(good)
	unauthorized.BearerToken = "expired"
	unreachable := rest.CopyConfig(good)
	unreachable.Host = "https://127.0.0.1:9"
	untrusted := rest.CopyConfig(good)
	untrusted.CAData, untrusted.CAFile = nil, ""
	for _, c := range []struct {
		config *rest.Config
		reason string
	}{{unauthorized, dryrun.Unauthorized}, {unreachable, dryrun.Unreachable}, {untrusted, dryrun.Unreachable}} {
		client, err := dryrun.New(c.config)
		assert.NilError(t, err)
		_, err = client.Cluster(t.Context())
		var problem *dryrun.Error
		assert.Assert(t, asError(err, &problem) && problem.Reason == c.reason, "%v", err)
		_, err = client.Kinds(t.Context())
		assert.Assert(t, asError(err, &problem) && problem.Reason == c.reason, "%v", err)
	}
}

func TestKindsTellScopeStatusAndVersions(t *testing.T) {
	client, err := dryrun.New(cluster(t).Config(kubetest.Admin))
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	for _, c := range []struct {
		group, version, kind      string
		namespaced, known, status bool
	}{
		{"", "v1", "ConfigMap", true, true, false},
		{"", "v1", "Namespace", false, true, true},
		{"apps", "v1", "Deployment", true, true, true},
		{"apps", "v1beta1", "Deployment", false, false, false},
		{"example.com", "v1", "Nothing", false, false, false},
	} {
		namespaced, known := kinds.Scope(c.group, c.version, c.kind)
		assert.Equal(t, namespaced, c.namespaced, c.kind)
		assert.Equal(t, known, c.known, c.kind)
		assert.Equal(t, kinds.HasStatus(c.group, c.version, c.kind), c.status, c.kind)
	}
	assert.DeepEqual(t, kinds.Versions("autoscaling", "HorizontalPodAutoscaler"), []string{"v1", "v2"})
	assert.NilError(t, kinds.Unreadable("apps"))
}

func TestAGroupThatAnswersNoDiscoveryIsUnknownWithItsReason(t *testing.T) {
	cluster(t).Apply(t, kubetest.Admin, "test", `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.gone.example.com}
spec:
  group: gone.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: nothing, namespace: team-a}
`)
	t.Cleanup(func() { removeAPIService(t, "v1.gone.example.com") })
	client, err := dryrun.New(cluster(t).Config(kubetest.Admin))
	assert.NilError(t, err)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		kinds, err := client.Kinds(t.Context())
		if err != nil || kinds.Unreadable("gone.example.com") == nil {
			return poll.Continue("the group is not listed yet: %v", err)
		}
		return poll.Success()
	})
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	lost, _ := manifest.Parse("test.yaml", []byte("{apiVersion: gone.example.com/v1, kind: Lost, metadata: {name: x}}"))
	_, problems := manifest.Resolve(lost, kinds, "default")
	assert.Equal(t, problems[0].Reason, manifest.ReasonUnreadable)
	lines := planned(t, "{apiVersion: gone.example.com/v1, kind: Lost, metadata: {name: x, namespace: team-a}}\n---\n"+
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: beside, namespace: team-a}}")
	assert.Equal(t, lines[0], "+ team-a/ConfigMap/beside (create)")
	assert.Assert(t, strings.HasPrefix(lines[1], "! team-a/Lost.gone.example.com/x Unreadable: the server could not say"), lines[1])
}

func TestTooManyRequestsAreSentAgainWhenTheServerSays(t *testing.T) {
	config := cluster(t).Config(kubetest.Admin)
	var refused atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch && refused.Add(1) == 1 {
				return &http.Response{StatusCode: http.StatusTooManyRequests, Request: request,
					Header: http.Header{"Retry-After": {"1"}}, Body: http.NoBody}, nil
			}
			return next.RoundTrip(request)
		})
	})
	lines, _ := observation{config: config}.plan(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: later, namespace: team-a}}")
	assert.DeepEqual(t, lines, []string{"+ team-a/ConfigMap/later (create)"})
	assert.Equal(t, refused.Load(), int64(2))
}

func TestAFieldThatNoSchemaHasIsAskedAboutOnce(t *testing.T) {
	config := cluster(t).Config(kubetest.Admin)
	var sent atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch {
				sent.Add(1)
			}
			return next.RoundTrip(request)
		})
	})
	observation{config: config}.plan(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: typo, namespace: team-a}, dada: {}}")
	assert.Equal(t, sent.Load(), int64(1))
}

func TestWarningsOfTheServerBelongToTheirObject(t *testing.T) {
	seen := observation{}.observe(t, `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: warned, namespace: team-a, annotations: {kubernetes.io/ingress.class: nginx}}
spec: {defaultBackend: {service: {name: x, port: {number: 80}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: quiet, namespace: team-a}}
`)
	assert.Equal(t, len(seen[0].Warnings), 1)
	assert.Assert(t, strings.Contains(seen[0].Warnings[0], "ingress.class"))
	assert.Equal(t, len(seen[1].Warnings), 0)
}
