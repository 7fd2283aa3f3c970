package dryrun_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// heard is what went over the wire: the path of each answer, by its code.
type heard struct {
	mu    sync.Mutex
	codes map[int][]string
}

func (h *heard) listen(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil {
				h.mu.Lock()
				defer h.mu.Unlock()
				h.codes[response.StatusCode] = append(h.codes[response.StatusCode], request.URL.Path)
			}
			return response, err
		})
	})
}

// cachedPlan plans with a cache, and tells what went over the wire.
func cachedPlan(t *testing.T, folder, text string) (lines []string, hash string, wire map[int][]string) {
	t.Helper()
	h := heard{codes: map[int][]string{}}
	config := cluster(t).Config(kubetest.Admin)
	h.listen(config)
	lines, hash = observation{config: config, cache: folder}.plan(t, text)
	return lines, hash, h.codes
}

func cached(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	assert.NilError(t, err)
	return files
}

func TestKindsAndSchemasAreDownloadedOnce(t *testing.T) {
	folder, text := filepath.Join(t.TempDir(), "a", "b"), deployments(cluster(t).Namespace(t), 2)
	want, hash, wire := cachedPlan(t, folder, text)
	assert.Assert(t, strings.Contains(strings.Join(wire[200], " "), "/openapi/v3/apis/apps/v1"), "%v", wire)
	assert.Equal(t, len(wire[304]), 0)
	assert.Equal(t, len(cached(t, folder)), 3)
	lines, again, wire := cachedPlan(t, folder, text)
	assert.DeepEqual(t, lines, want)
	assert.Equal(t, again, hash)
	assert.Assert(t, !strings.Contains(strings.Join(wire[200], " "), "/openapi/v3/apis"), "%v", wire)
	assert.DeepEqual(t, wire[304], []string{"/api", "/apis"})
}

func TestWhatLiesInTheCacheIsNotBelieved(t *testing.T) {
	folder, text := t.TempDir(), deployments(cluster(t).Namespace(t), 2)
	want, hash, _ := cachedPlan(t, folder, text)
	kept := cached(t, folder)
	assert.Equal(t, len(kept), 3)
	for name, forge := range map[string]func([]byte) []byte{
		"empty":   func([]byte) []byte { return nil },
		"cut off": func(content []byte) []byte { return content[:len(content)/2] },
		"another scope, another key of lists": func(content []byte) []byte {
			return []byte(strings.NewReplacer("Namespaced", "Cluster", `"containerPort"`, `"hostPort"`).Replace(string(content)))
		},
		"another version": func(content []byte) []byte { return bytes.ReplaceAll(content, []byte("v1"), []byte("v7")) },
	} {
		for _, file := range kept {
			content, err := os.ReadFile(file)
			assert.NilError(t, err)
			assert.NilError(t, os.WriteFile(file, forge(content), 0o600))
		}
		lines, forged, wire := cachedPlan(t, folder, text)
		assert.DeepEqual(t, lines, want)
		assert.Equal(t, forged, hash, name)
		assert.Equal(t, len(wire[304]), 0, name)
	}
	_, _, wire := cachedPlan(t, folder, text)
	assert.Equal(t, len(wire[304]), 2) // the good ones are back
}

func TestACacheThatCannotBeWrittenToIsNoError(t *testing.T) {
	text := deployments(cluster(t).Namespace(t), 2)
	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	_, want, _ := cachedPlan(t, "", text)
	for _, folder := range []string{file, filepath.Join(file, "below")} {
		_, hash, _ := cachedPlan(t, folder, text)
		assert.Equal(t, hash, want)
	}
}

func TestACachedListOfKindsKnowsWhatIsNew(t *testing.T) {
	folder := t.TempDir()
	kinds := func() *dryrun.Kinds {
		client, err := dryrun.NewWithCache(cluster(t).Config(kubetest.Admin), folder)
		assert.NilError(t, err)
		kinds, err := client.Kinds(t.Context())
		assert.NilError(t, err)
		return kinds
	}
	const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.cache.example.com}
spec:
  group: cache.example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`
	_, known := kinds().Scope("cache.example.com", "v1", "Gadget")
	assert.Assert(t, !known)
	for _, status := range []bool{false, true} {
		text := crd
		if status {
			text = strings.Replace(crd, "served: true", "served: true, subresources: {status: {}}", 1)
		}
		cluster(t).Apply(t, kubetest.Admin, "test", text)
		poll.WaitOn(t, func(poll.LogT) poll.Result {
			now := kinds()
			if _, known := now.Scope("cache.example.com", "v1", "Gadget"); !known || now.HasStatus("cache.example.com", "v1", "Gadget") != status {
				return poll.Continue("the kind, or its status, is not yet served")
			}
			return poll.Success()
		})
	}
}
