package cluster_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	"gotest.tools/v3/assert"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
)

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestListsThatAreReadSideBySideAskForTheNamespaceOnce(t *testing.T) {
	types := state.Types()
	var sent sync.WaitGroup
	sent.Add(len(types))
	var asked atomic.Int32
	config := rest.CopyConfig(kubetest.Start(t).Config(kubetest.Admin))
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/namespaces/"+cluster.Namespace):
				asked.Add(1)
			case r.URL.Query().Has("labelSelector"): // nobody is answered before all have asked
				sent.Done()
				sent.Wait()
			}
			return next.RoundTrip(r)
		})
	})
	store, err := cluster.New(config)
	assert.NilError(t, err)
	var group errgroup.Group
	for _, kind := range types {
		group.Go(func() error {
			_, err := store.List(t.Context(), kind, state.Selector{})
			assert.Check(t, err != nil)
			return err
		})
	}
	assert.ErrorIs(t, group.Wait(), state.ErrNoStore)
	assert.Equal(t, asked.Load(), int32(1))
	_, err = store.Get(t.Context(), state.TypePlan, "cw-plan-000001")
	assert.ErrorIs(t, err, state.ErrNoStore, "a later question is asked anew")
	assert.Equal(t, asked.Load(), int32(2))
}
