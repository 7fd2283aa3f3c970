package dryrun_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
)

func TestAKindThatAServerDoesNotNameYetIsUnknownOnlyOnceItIsReady(t *testing.T) {
	definition := strings.ReplaceAll(oldDefinition, "upgrade.example", "ready.example")
	plain := strings.ReplaceAll(jar, "upgrade.example", "ready.example")
	asked := atomic.Int32{}
	config := cluster(t).Config(kubetest.Admin)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.URL.Path != "/readyz" {
				return next.RoundTrip(request)
			}
			if asked.Add(1) == 1 { // as a server that has just been started
				starting := httptest.NewRecorder()
				starting.WriteHeader(http.StatusInternalServerError)
				return starting.Result(), nil
			}
			cluster(t).Apply(t, kubetest.Admin, "test", definition)
			cluster(t).Apply(t, kubetest.Admin, "test", plain) // which waits until the kind is served
			return next.RoundTrip(request)
		})
	})
	client, err := dryrun.New(config)
	assert.NilError(t, err)
	objects, problems := manifest.Parse("jar.yaml", []byte(plain))
	assert.Equal(t, len(problems), 0)
	for range 2 {
		kinds, err := client.KindsFor(t.Context(), objects)
		assert.NilError(t, err)
		_, known := kinds.Scope("ready.example.com", "v1", "Jar")
		assert.Assert(t, known)
		assert.Equal(t, int(asked.Load()), 2) // who knows all kinds does not ask
	}
}
