package apply

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

// site is a namespace with a ConfigMap that changeward applied.
type site struct {
	*kubetest.Cluster
	client    *Client
	namespace string
	version   version
}

func newSite(t *testing.T) site {
	t.Helper()
	s := site{Cluster: kubetest.Shared(t)}
	s.namespace = s.Namespace(t)
	var err error
	s.client, err = New(s.Config(kubetest.Admin))
	assert.NilError(t, err)
	s.version = s.write(t, "1")
	return s
}

func (s site) content(value string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "m", "namespace": s.namespace},
		"data": map[string]any{"a": value}}
}

func (s site) path() string { return "/api/v1/namespaces/" + s.namespace + "/configmaps/m" }

// write is what somebody else does, as changeward.
func (s site) write(t *testing.T, value string) version {
	t.Helper()
	object, _, err := s.client.apply(t.Context(), s.path(), s.content(value), version{}, true)
	assert.NilError(t, err)
	return version{string(object.GetUID()), object.GetResourceVersion()}
}

func (s site) remove(t *testing.T) {
	t.Helper()
	assert.NilError(t, s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace).Delete(t.Context(), "m", metav1.DeleteOptions{}))
}

// Each row is a fact about the server on which no write overwrites what others did.
func TestPreconditionsOfAServerSideApply(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(t *testing.T, s site)
		code      int
		moved     bool
	}{
		"the object as it was":  {func(*testing.T, site) {}, 200, false},
		"written since":         {func(t *testing.T, s site) { s.write(t, "2") }, 409, true},
		"deleted since":         {func(t *testing.T, s site) { s.remove(t) }, 409, true},
		"made anew since":       {func(t *testing.T, s site) { s.remove(t); s.write(t, "1") }, 409, true},
		"held by somebody else": {func(*testing.T, site) {}, 409, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			if name == "held by somebody else" {
				s.ForceApply(t, kubetest.Admin, "other", "{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: "+s.namespace+"}, data: {a: x}}")
				live, err := s.client.get(t.Context(), s.path())
				assert.NilError(t, err)
				s.version.resourceVersion = live.GetResourceVersion()
			}
			test.meanwhile(t, s)
			before, _ := s.client.get(t.Context(), s.path())
			_, code, err := s.client.apply(t.Context(), s.path(), s.content("new"), s.version, false)
			assert.Equal(t, code, test.code, "%v", err)
			if err != nil {
				assert.Equal(t, moved(err), test.moved, "%v", err)
				after, _ := s.client.get(t.Context(), s.path())
				assert.DeepEqual(t, after, before)
			}
		})
	}
}

func TestOnlyTheResourceVersionWouldMakeADeletedObjectAnew(t *testing.T) {
	s := newSite(t)
	s.remove(t)
	_, code, err := s.client.apply(t.Context(), s.path(), s.content("new"), version{resourceVersion: s.version.resourceVersion}, false)
	assert.NilError(t, err)
	assert.Equal(t, code, 201, "which is why every write carries the uid, too")
	_, code, err = s.client.apply(t.Context(), s.path(), s.content("newer"), version{uid: s.version.uid}, false)
	assert.Equal(t, code, 422)
	assert.Assert(t, moved(err), "a wrong uid is an object made anew, no reason to replace it: %v", err)
}

func TestACreateIsRefusedWhereSomethingIs(t *testing.T) {
	s := newSite(t)
	_, code, err := s.client.apply(t.Context(), s.path(), s.content("new"), version{resourceVersion: absent}, false)
	assert.Equal(t, code, 409)
	assert.Assert(t, moved(err))
	s.remove(t)
	_, code, err = s.client.apply(t.Context(), s.path(), s.content("new"), version{resourceVersion: absent}, false)
	assert.NilError(t, err)
	assert.Assert(t, created(code))
}

func TestADeleteTakesExactlyTheObjectThatWasPlanned(t *testing.T) {
	s := newSite(t)
	old := s.version
	s.version = s.write(t, "2")
	assert.Assert(t, moved(s.client.remove(t.Context(), s.path(), old, "background")))
	s.remove(t)
	s.write(t, "2")
	assert.Assert(t, moved(s.client.remove(t.Context(), s.path(), s.version, "background")))
	s.remove(t)
	assert.Assert(t, apierrors.IsNotFound(s.client.remove(t.Context(), s.path(), s.version, "background")))
	s.version = s.write(t, "1")
	assert.NilError(t, s.client.remove(t.Context(), s.path(), s.version, "background"))
}

func TestAnUpdateOfTheWholeObjectIsRefusedOnceItMoved(t *testing.T) {
	s := newSite(t)
	live, err := s.client.get(t.Context(), s.path())
	assert.NilError(t, err)
	s.write(t, "2")
	_, _, err = s.client.put(t.Context(), s.path(), live.Object, s.version)
	assert.Assert(t, moved(err), "%v", err)
}
