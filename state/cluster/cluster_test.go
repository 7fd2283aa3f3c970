package cluster_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
	"github.com/changeward/changeward/state/statetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m, "nobody:")) }

const falseActor = "changeward-canary"

func storeOf(t *testing.T, c *kubetest.Cluster, user string) *cluster.Store {
	t.Helper()
	store, err := cluster.New(c.Config(user))
	assert.NilError(t, err)
	return store
}

func makeNamespace(t *testing.T, c *kubetest.Cluster) {
	t.Helper()
	_, err := c.Client(kubetest.Admin).CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Namespace}}, metav1.CreateOptions{})
	assert.NilError(t, err)
}

// fence applies the admission text and waits until the server acts on it.
func fence(t *testing.T, c *kubetest.Cluster) {
	t.Helper()
	objects, err := admission.Render(nil, nil)
	assert.NilError(t, err)
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		assert.NilError(t, err)
		c.Apply(t, kubetest.Admin, "test", string(text))
	}
	store := storeOf(t, c, kubetest.Admin)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if err := store.Canary(t.Context(), falseActor); err != nil {
			return poll.Continue("canary: %v", err)
		}
		return poll.Success()
	}, poll.WithTimeout(time.Minute))
}

func TestAClusterKeepsThePromisesOfAStoreBehindTheFence(t *testing.T) {
	c := kubetest.Start(t)
	makeNamespace(t, c)
	fence(t, c)
	core := c.Client(kubetest.Admin).CoreV1()
	statetest.Run(t, kubetest.Admin, func(t *testing.T) state.Store {
		ctx := t.Context()
		assert.NilError(t, core.Secrets(cluster.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
		assert.NilError(t, core.ConfigMaps(cluster.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
		return storeOf(t, c, kubetest.Admin)
	})

	t.Run("a record in another's name, or of a foreign group, is forbidden", func(t *testing.T) {
		store := storeOf(t, c, kubetest.Admin)
		_, err := store.Create(t.Context(), statetest.Record(state.TypeDecision, "cw-decision-aaaaaaaaaaaa", "alice"))
		assert.ErrorIs(t, err, state.ErrForbidden)
		assert.ErrorContains(t, err, "changeward.dev/actor must be your own username")
		record := statetest.Record(state.TypeDecision, "cw-decision-aaaaaaaaaaaa", kubetest.Admin)
		record.Claims.Groups = []string{"system:masters", "sre"}
		_, err = store.Create(t.Context(), record)
		assert.ErrorIs(t, err, state.ErrForbidden)
		record.Claims.Groups = []string{"system:authenticated", "system:masters"}
		made, err := store.Create(t.Context(), record)
		assert.NilError(t, err)
		assert.DeepEqual(t, made.Claims, record.Claims)
	})

	t.Run("no record can be edited", func(t *testing.T) {
		record, err := core.ConfigMaps(cluster.Namespace).Get(t.Context(), "cw-decision-aaaaaaaaaaaa", metav1.GetOptions{})
		assert.NilError(t, err)
		record.Labels[state.LabelPlan] = "other"
		_, err = core.ConfigMaps(cluster.Namespace).Update(t.Context(), record, metav1.UpdateOptions{})
		assert.ErrorContains(t, err, "append-only")
	})
}

func TestWhereNothingIsInstalledThereIsNoStore(t *testing.T) {
	store := storeOf(t, kubetest.Shared(t), kubetest.Admin)
	for _, kind := range []state.Type{state.TypePlan, state.TypeDecision} {
		name := "cw-" + string(kind) + "-000001"
		_, err := store.List(t.Context(), kind, state.Selector{})
		assert.ErrorIs(t, err, state.ErrNoStore)
		_, err = store.Get(t.Context(), kind, name)
		assert.ErrorIs(t, err, state.ErrNoStore)
		_, err = store.Create(t.Context(), statetest.Record(kind, name, kubetest.Admin))
		assert.ErrorIs(t, err, state.ErrNoStore)
	}
	_, err := store.Foreign(t.Context())
	assert.ErrorIs(t, err, state.ErrNoStore)
	wantCanary(t, store, cluster.CanaryUnanswered)
}

func wantCanary(t *testing.T, store *cluster.Store, reason string) {
	t.Helper()
	var failed *cluster.CanaryError
	assert.Assert(t, errors.As(store.Canary(t.Context(), falseActor), &failed))
	assert.Equal(t, failed.Reason, reason, failed.Error())
}

func TestWithoutTheFence(t *testing.T) {
	c := kubetest.Shared(t)
	makeNamespace(t, c)
	store := storeOf(t, c, kubetest.Admin)

	t.Run("the canary is admitted, and leaves nothing behind", func(t *testing.T) {
		wantCanary(t, store, cluster.CanaryAdmitted)
		records, err := store.List(t.Context(), state.TypePlan, state.Selector{})
		assert.NilError(t, err)
		assert.Assert(t, cmp.Len(records, 0))
	})
	t.Run("a refusal by anything else proves nothing", func(t *testing.T) {
		wantCanary(t, storeOf(t, c, "nobody"), cluster.CanaryRefusedByOther)
	})
	t.Run("who may not read or write is told what is forbidden", func(t *testing.T) {
		nobody := storeOf(t, c, "nobody")
		_, err := nobody.List(t.Context(), state.TypePlan, state.Selector{})
		assert.ErrorIs(t, err, state.ErrForbidden)
		assert.ErrorContains(t, err, "list plan (secrets in namespace changeward)")
		_, err = nobody.Get(t.Context(), state.TypeDecision, "cw-decision-000001")
		assert.ErrorIs(t, err, state.ErrForbidden)
		assert.ErrorContains(t, err, "get decision cw-decision-000001 (configmaps in namespace changeward)")
		_, err = nobody.Create(t.Context(), statetest.Record(state.TypePlan, "cw-plan-000001", "nobody"))
		assert.ErrorIs(t, err, state.ErrForbidden)
		_, err = nobody.Now(t.Context())
		assert.NilError(t, err)
	})
	t.Run("foreign objects are no records, and are named", func(t *testing.T) { foreignObjects(t, c, store) })
	t.Run("what cannot be stored as given is refused", func(t *testing.T) {
		record := statetest.Record(state.TypeDecision, "cw-decision-000002", kubetest.Admin)
		record.Claims.Groups = []string{"a\nb"}
		_, err := store.Create(t.Context(), record)
		assert.ErrorContains(t, err, "cannot be recorded")
		record = statetest.Record(state.TypeDecision, "cw-decision-000002", kubetest.Admin)
		record.Data[state.DataEnvelope] = []byte{0xff}
		_, err = store.Create(t.Context(), record)
		assert.ErrorContains(t, err, "not text")
	})
	t.Run("a list has more records than one page", func(t *testing.T) {
		var group errgroup.Group
		group.SetLimit(20)
		for i := range 510 {
			group.Go(func() error {
				_, err := store.Create(t.Context(), statetest.Record(state.TypeAudit, state.NumberedName(state.TypeAudit, i+1), kubetest.Admin))
				return err
			})
		}
		assert.NilError(t, group.Wait())
		records, err := store.List(t.Context(), state.TypeAudit, state.Selector{})
		assert.NilError(t, err)
		assert.Equal(t, state.LastNumber(state.TypeAudit, records), 510)
		assert.Assert(t, cmp.Len(records, 510))
	})
	t.Run("a request that is cut off is an error, not an answer", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := store.List(ctx, state.TypePlan, state.Selector{})
		assert.ErrorIs(t, err, context.Canceled)
		_, err = store.Now(ctx)
		assert.ErrorIs(t, err, context.Canceled)
		var failed *cluster.CanaryError
		assert.Assert(t, errors.As(store.Canary(ctx, falseActor), &failed) && failed.Reason == cluster.CanaryUnanswered)
	})
}

func foreignObjects(t *testing.T, c *kubetest.Cluster, store *cluster.Store) {
	c.Apply(t, kubetest.Admin, "test", `
apiVersion: v1
kind: ConfigMap
metadata: {name: cw-plan-000001, namespace: changeward, labels: {changeward.dev/type: plan}}
---
apiVersion: v1
kind: Secret
metadata: {name: cw-plan-000002, namespace: changeward, labels: {changeward.dev/type: plan}}
---
apiVersion: v1
kind: Secret
type: changeward.dev/plan
metadata: {name: other-000003, namespace: changeward, labels: {changeward.dev/type: plan}}
---
apiVersion: v1
kind: Secret
type: changeward.dev/plan
metadata: {name: cw-plan-000004, namespace: changeward, labels: {changeward.dev/type: plan}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-root-ca.crt, namespace: changeward}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cw-decision-000005, namespace: changeward}
`)
	records, err := store.List(t.Context(), state.TypePlan, state.Selector{})
	assert.NilError(t, err)
	assert.Assert(t, cmp.Len(records, 1))
	assert.Equal(t, records[0].Name, "cw-plan-000004")
	assert.Assert(t, !records[0].Immutable)

	found, err := store.Foreign(t.Context())
	assert.NilError(t, err)
	named := map[string]string{}
	for _, foreign := range found {
		named[foreign.Kind+"/"+foreign.Name] = foreign.Why
	}
	assert.DeepEqual(t, named, map[string]string{
		"ConfigMap/cw-plan-000001":     "is a ConfigMap",
		"Secret/cw-plan-000002":        `type of the Secret is "Opaque"`,
		"Secret/other-000003":          "name does not start with cw-plan-",
		"Secret/cw-plan-000004":        "is not immutable",
		"ConfigMap/cw-decision-000005": "carries no label changeward.dev/type",
	})

	_, err = store.Get(t.Context(), state.TypePlan, "cw-plan-000002")
	assert.ErrorContains(t, err, "is no plan record")
	_, err = store.Create(t.Context(), statetest.Record(state.TypePlan, "cw-plan-000002", kubetest.Admin))
	assert.ErrorIs(t, err, state.ErrExists)
}
