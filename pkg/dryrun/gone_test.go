package dryrun_test

import (
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

func TestAnObjectIsGoneWhenItsUIDIs(t *testing.T) {
	c := cluster(t)
	namespace := c.Namespace(t)
	client, err := dryrun.New(c.Config(kubetest.Admin))
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	uid := string(c.Apply(t, kubetest.Admin, dryrun.Manager, configMaps(namespace, 1))[0].GetUID())
	change := plan.Body{Version: "v1", Kind: "ConfigMap", Namespace: namespace, Name: "m-000", LiveUID: uid}
	is := func(b plan.Body, want bool) {
		t.Helper()
		gone, err := client.Gone(t.Context(), kinds, b)
		assert.NilError(t, err)
		assert.Equal(t, gone, want)
	}
	is(change, false)
	other := change
	other.LiveUID = "another"
	is(other, true)
	nobody := change
	nobody.LiveUID = ""
	is(nobody, false)
	unknown := change
	unknown.Group = "nobody.example"
	is(unknown, false)
	assert.NilError(t, c.Client(kubetest.Admin).CoreV1().ConfigMaps(namespace).Delete(t.Context(), "m-000", metav1.DeleteOptions{}))
	is(change, true)

	strange := kubetest.Shared(t).Config("bob")
	client, err = dryrun.New(strange)
	assert.NilError(t, err)
	_, err = client.Gone(t.Context(), kinds, change)
	assert.ErrorContains(t, err, "forbidden")
}
