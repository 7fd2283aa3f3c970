package dryrun_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/kubetest"
)

// generated is the text that case B66 makes, in a namespace of the test's.
func generated(t *testing.T, count string) string {
	t.Helper()
	script := filepath.Join("..", "..", "testdata", "cases", "gen-B66-many-objects.sh")
	result := icmd.RunCommand("sh", script, count)
	result.Assert(t, icmd.Success)
	return strings.ReplaceAll(result.Stdout(), "team-a", cluster(t).Namespace(t))
}

// unordered is a configuration in which the first dry runs are answered after
// so many others.
func unordered(t *testing.T, first, others int) *rest.Config {
	t.Helper()
	config := cluster(t).Config(kubetest.Admin)
	var mu sync.Mutex
	asked, answered, enough := 0, 0, make(chan struct{})
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method != http.MethodPatch {
				return next.RoundTrip(request)
			}
			mu.Lock()
			asked++
			early := asked <= first
			mu.Unlock()
			if early {
				<-enough
				return next.RoundTrip(request)
			}
			response, err := next.RoundTrip(request)
			mu.Lock()
			defer mu.Unlock()
			if answered++; answered == others {
				close(enough)
			}
			return response, err
		})
	})
	return config
}

func TestB66ManyObjectsHaveOneOrderAndOneHashHoweverTheirAnswersArrive(t *testing.T) {
	text := generated(t, "500")
	want, hash := observation{}.plan(t, text)
	assert.Equal(t, len(want), 500)
	assert.Assert(t, slices.IsSorted(want))
	lines, late := observation{config: unordered(t, 8, 300)}.plan(t, text)
	assert.DeepEqual(t, lines, want)
	assert.Equal(t, late, hash)
}

func TestB66ManySecretsAndUpdatesHaveOneHashHoweverTheirAnswersArrive(t *testing.T) {
	text := generated(t, "60")
	cluster(t).Apply(t, kubetest.Admin, "changeward", text)
	text = strings.ReplaceAll(text, "idx:", "index:")
	text += strings.NewReplacer("ConfigMap", "Secret", ", data:", ", stringData:", "name: b66", "name: secret", "\ndata:", "\nstringData:").Replace(text)
	want, hash := observation{}.plan(t, text)
	lines, late := observation{config: unordered(t, 15, 100)}.plan(t, text)
	assert.DeepEqual(t, lines, want)
	assert.Equal(t, late, hash)
}

func TestB66AFailureOfOneAmongManyObjectsCancelsNoOther(t *testing.T) {
	text := generated(t, "200")
	want, _ := observation{}.plan(t, text)
	for what, config := range map[string]*rest.Config{
		"refused by the server":    cluster(t).Config(kubetest.Admin),
		"lost with its connection": losing(t, "/b66-00100"),
	} {
		text := text
		if what == "refused by the server" {
			text = strings.Replace(text, `{idx: "100"}`, `{"not a key": "100"}`, 1)
		}
		lines, _ := observation{config: config}.plan(t, text)
		assert.Equal(t, len(lines), 200, what)
		assert.DeepEqual(t, lines[:199], slices.Delete(slices.Clone(want), 100, 101))
		assert.Assert(t, strings.HasPrefix(lines[199], "! ") && strings.Contains(lines[199], "b66-00100"), lines[199])
	}
}

// losing is a configuration that loses each dry run at a path.
func losing(t *testing.T, path string) *rest.Config {
	t.Helper()
	config := cluster(t).Config(kubetest.Admin)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch && strings.HasSuffix(request.URL.Path, path) {
				return nil, syscall.EPIPE
			}
			return next.RoundTrip(request)
		})
	})
	return config
}
