package dryrun_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
)

// tight lets a user have few requests at once, and refuses all others.
const tight = `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: tight}
spec:
  type: Limited
  limited: {nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse: {type: Reject}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: tight}
spec:
  matchingPrecedence: 2
  priorityLevelConfiguration: {name: tight}
  rules:
  - subjects: [{kind: User, user: {name: slow}}]
    resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: slow}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: slow}]
`

// throttled is the configuration of a user whom the server refuses all but few
// requests at once, and a count of all its answers, and of those refused.
func throttled(t *testing.T) (config *rest.Config, answers, refused *atomic.Int64) {
	t.Helper()
	cluster(t).Apply(t, kubetest.Admin, "test", tight)
	levels := cluster(t).Client(kubetest.Admin).FlowcontrolV1().PriorityLevelConfigurations()
	level, err := levels.Get(t.Context(), "tight", metav1.GetOptions{})
	assert.NilError(t, err)
	config, answers, refused = cluster(t).Config("slow"), &atomic.Int64{}, &atomic.Int64{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil {
				answers.Add(1)
				if response.StatusCode == http.StatusTooManyRequests {
					refused.Add(1)
				}
			}
			return response, err
		})
	})
	client, err := rest.HTTPClientFor(cluster(t).Config("slow"))
	assert.NilError(t, err)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		response, err := client.Get(config.Host + "/api/v1/namespaces")
		if err != nil {
			return poll.Error(err)
		}
		_ = response.Body.Close()
		if response.Header.Get("X-Kubernetes-PF-PriorityLevel-UID") != string(level.UID) {
			return poll.Continue("the flow schema is not in force yet")
		}
		return poll.Success()
	})
	return config, answers, refused
}

func TestAPlanOfManyObjectsSurvivesAServerThatRefusesMostRequests(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	text := deployments(namespace, 150)
	want, hash := observation{}.plan(t, text)
	config, answers, refused := throttled(t)
	lines, got := observation{config: config, concurrency: 48}.plan(t, text)
	assert.DeepEqual(t, lines, want)
	assert.Equal(t, got, hash)
	t.Logf("%d of %d requests were refused", refused.Load(), answers.Load())
	assert.Assert(t, refused.Load() > 0)
	assert.Assert(t, refused.Load() < 150, "of %d requests %d were refused: fewer should have been sent at once", answers.Load(), refused.Load())
}

func TestARequestThatIsRefusedForGoodFailsItsObjectAlone(t *testing.T) {
	namespace := cluster(t).Namespace(t)
	config := cluster(t).Config(kubetest.Admin)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch && request.URL.Path == "/apis/apps/v1/namespaces/"+namespace+"/deployments/d-001" {
				return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"0"}}, Body: http.NoBody, Request: request}, nil
			}
			return next.RoundTrip(request)
		})
	})
	lines, _ := observation{config: config}.plan(t, deployments(namespace, 3))
	assert.Equal(t, len(lines), 3)
	assert.Equal(t, lines[0], "+ "+namespace+"/Deployment.apps/d-000 (create)")
	assert.Equal(t, lines[1], "+ "+namespace+"/Deployment.apps/d-002 (create)")
	assert.Assert(t, len(lines[2]) > 0 && lines[2][0] == '!', lines[2])
}

func TestWhoWaitsForATurnStopsWhenTheContextEnds(t *testing.T) {
	config, _, _ := throttled(t)
	client, err := dryrun.New(config)
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	objects, problems := manifest.Parse("test.yaml", []byte(deployments(cluster(t).Namespace(t), 400)))
	assert.Equal(t, len(problems), 0)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	begun := time.Now()
	_, err = client.Observe(ctx, manifest.Set{Objects: objects}, dryrun.ObserveOptions{Kinds: kinds,
		Applier: dryrun.Changeward(false), Masker: manifest.NewMasker([]byte("k"), "uid", false), Concurrency: 64})
	var problem *dryrun.Error
	assert.Assert(t, asError(err, &problem) && problem.Reason == dryrun.Cancelled, "%v", err)
	assert.Assert(t, time.Since(begun) < 1200*time.Millisecond)
}

func TestRequestsShareAConnectionByHTTP2(t *testing.T) {
	config := cluster(t).Config(kubetest.Admin)
	var others atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && response.ProtoMajor != 2 {
				others.Add(1)
			}
			return response, err
		})
	})
	observation{config: config}.plan(t, deployments(cluster(t).Namespace(t), 5))
	assert.Equal(t, others.Load(), int64(0))
}
