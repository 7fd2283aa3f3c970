package dryrun_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
)

// createAs creates Deployments as another manager does that is no applier.
func createAs(t *testing.T, manager, text string) {
	t.Helper()
	objects, problems := manifest.Parse("live.yaml", []byte(text))
	assert.Equal(t, len(problems), 0, "%v", problems)
	client := cluster(t).Dynamic(kubetest.Admin).Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	for _, object := range objects {
		_, err := client.Namespace(object.Namespace()).Create(t.Context(),
			&unstructured.Unstructured{Object: object.Content}, metav1.CreateOptions{FieldManager: manager})
		assert.NilError(t, err)
	}
}

// envOf is the environment of a Deployment's first container.
func envOf(deployment map[string]any) []any {
	containers, _, _ := unstructured.NestedSlice(deployment, "spec", "template", "spec", "containers")
	container, _ := containers[0].(map[string]any)
	env, _ := container["env"].([]any)
	return env
}

// roundTripper is a transport made of a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// goneAfterDiscovery is a server that goes away once its kinds are known.
func goneAfterDiscovery(t *testing.T) *rest.Config {
	t.Helper()
	config := cluster(t).Config(kubetest.Admin)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.URL.Path == "/api" || request.URL.Path == "/apis" {
				return next.RoundTrip(request)
			}
			return nil, syscall.ECONNREFUSED
		})
	})
	return config
}

// meddled is admin's configuration with something done before each dry run of
// one method; it is told how many there were.
func meddled(t *testing.T, method string, before func(count int64)) *rest.Config {
	t.Helper()
	config := cluster(t).Config(kubetest.Admin)
	var count atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == method {
				before(count.Add(1))
			}
			return next.RoundTrip(request)
		})
	})
	return config
}

func asError(err error, target **dryrun.Error) bool { return errors.As(err, target) }

// removeAPIService spares the other tests a group that answers nothing.
func removeAPIService(t *testing.T, name string) {
	t.Helper()
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	client := kubetest.Shared(t).Dynamic(kubetest.Admin).Resource(services)
	assert.Check(t, client.Delete(context.Background(), name, metav1.DeleteOptions{}))
}
