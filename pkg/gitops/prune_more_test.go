package gitops_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// kustomization is an owner that prunes, and lists ids.
func kustomization(t *testing.T, name string, ids ...string) planner {
	t.Helper()
	text := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {prune: true}\nstatus: {inventory: {entries: ["
	for _, id := range ids {
		text += fmt.Sprintf("{id: %q, v: v1},", id)
	}
	cluster(t).Apply(t, kubetest.Admin, fluxManager, text+"]}}")
	return planner{owner: "kustomization/flux-system/" + name}
}

// labels of an object that belongs to a Kustomization.
func labels(name string) string {
	return "labels: {kustomize.toolkit.fluxcd.io/name: " + name + ", kustomize.toolkit.fluxcd.io/namespace: flux-system}"
}

func configMap(name, namespace, rest string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: " + namespace + ", " + rest + "}, data: {a: \"1\"}}"
}

func TestADeleteStaysTheSameWhileOthersWriteTheObject(t *testing.T) {
	p := kustomization(t, "calm", "team-a_calm_apps_Deployment")
	const text = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: calm, namespace: team-a, %s}
spec:
  replicas: 3
  selector: {matchLabels: {app: calm}}
  template: {metadata: {labels: {app: calm}}, spec: {containers: [{name: c, image: "registry.example/a:1"}]}}
`
	c := cluster(t)
	c.Apply(t, kubetest.Admin, fluxManager, fmt.Sprintf(text, labels("calm")))
	const keep = "{apiVersion: v1, kind: ConfigMap, metadata: {name: calm-other, namespace: team-a}}"
	first := p.planned(t, keep)
	deployments := c.Client(kubetest.Admin).AppsV1().Deployments("team-a")
	_, err := deployments.Patch(t.Context(), "calm", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{FieldManager: "hpa"}, "scale")
	assert.NilError(t, err)
	_, err = deployments.Patch(t.Context(), "calm", types.MergePatchType, []byte(`{"metadata":{"annotations":{"scraped":"now"}},"spec":{"template":{"metadata":{"annotations":{"x":"y"}}}}}`),
		metav1.PatchOptions{FieldManager: "monitor"})
	assert.NilError(t, err)
	_, err = deployments.Patch(t.Context(), "calm", types.MergePatchType, []byte(`{"status":{"replicas":7}}`), metav1.PatchOptions{FieldManager: "kcm"}, "status")
	assert.NilError(t, err)
	assert.Equal(t, p.planned(t, keep).Hash, first.Hash)

	c.ForceApply(t, kubetest.Admin, fluxManager, strings.Replace(fmt.Sprintf(text, labels("calm")), "a:1", "a:2", 1))
	assert.Assert(t, p.planned(t, keep).Hash != first.Hash) // the owner applied something else
}

func TestAnObjectUnderTwoGroupsIsNotGone(t *testing.T) {
	event := func(rest string) string {
		return "{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: twice, namespace: team-a" + rest + "}, eventTime: \"2026-03-01T12:00:00.000000Z\", " +
			"reportingController: c, reportingInstance: i, action: a, reason: r, type: Normal, regarding: {kind: ConfigMap, name: x, namespace: team-a}}"
	}
	p := kustomization(t, "two-groups", "team-a_twice__Event")
	cluster(t).Apply(t, kubetest.Admin, fluxManager, event(", "+labels("two-groups")))
	got := lines(p.planned(t, event("")))
	assert.DeepEqual(t, got, []string{
		"= team-a/Event.events.k8s.io/twice (none)",
		"! team-a/Event/twice Guarded: it is the same object as team-a/Event.events.k8s.io/twice of the manifests, which the server shows under two groups: Flux would delete it",
	})
	got = lines(p.planned(t, configMap("unrelated", "team-a", "")))
	assert.Equal(t, got[1], "- team-a/Event/twice (delete)") // here it did leave
}

func TestAKindThatNobodyKnowsIsUnknownAndNotGone(t *testing.T) {
	p := kustomization(t, "unknown", "team-a_old_extensions_Ingress", "team-a_gone__ConfigMap", "team-a_web_no.such.group_Widget", "_odd__ConfigMap")
	assert.DeepEqual(t, lines(p.planned(t, configMap("unknown-keep", "team-a", "")))[1:], []string{
		"! ConfigMap/odd Invalid: its owner lists it without a namespace, and its kind has one",
		`! team-a/Ingress.extensions/old UnknownKind: the server does not know the kind Ingress in group "extensions", so whether the object is still there is not known`,
		`! team-a/Widget.no.such.group/web UnknownKind: the server does not know the kind Widget in group "no.such.group", so whether the object is still there is not known`,
	})
}

func TestAnObjectWhoseDocumentIsBrokenDidNotLeave(t *testing.T) {
	p := kustomization(t, "broken", "team-a_broken-a__ConfigMap", "team-a_broken-b__ConfigMap")
	cluster(t).Apply(t, kubetest.Admin, fluxManager, configMap("broken-a", "team-a", labels("broken")), configMap("broken-b", "team-a", labels("broken")))
	got := p.planned(t, configMap("broken-c", "team-a", "")+"\n---\nkind: [")
	assert.Equal(t, got.Summary().Delete, 0, "%v", lines(got))
	assert.Assert(t, !got.Complete())
	twice := configMap("broken-a", "team-a", "")
	got = p.planned(t, twice+"\n---\n"+twice)
	assert.DeepEqual(t, lines(got)[0], "- team-a/ConfigMap/broken-b (delete)")
	assert.Equal(t, got.Summary().Delete, 1)
}

func TestWhatIsBeingDeletedOrOfAnotherOwnerStays(t *testing.T) {
	p := kustomization(t, "stays", "team-a_stays-dying__ConfigMap", "team-a_stays-other__ConfigMap")
	c := cluster(t)
	c.Apply(t, kubetest.Admin, fluxManager, configMap("stays-dying", "team-a", labels("stays")+", finalizers: [test/wait]"), configMap("stays-other", "team-a", labels("other")))
	maps := c.Client(kubetest.Admin).CoreV1().ConfigMaps("team-a")
	assert.NilError(t, maps.Delete(t.Context(), "stays-dying", metav1.DeleteOptions{}))
	assert.DeepEqual(t, lines(p.planned(t, configMap("stays-keep", "team-a", "")))[1:], []string{
		"= team-a/ConfigMap/stays-dying (none) it is being deleted already",
		"= team-a/ConfigMap/stays-other (none) Flux does not delete it: its label kustomize.toolkit.fluxcd.io/name does not name the Kustomization",
	})
	_, err := maps.Patch(t.Context(), "stays-dying", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	assert.NilError(t, err)
}

func TestADefinitionAndAStatefulSetSayWhatGoesWithThem(t *testing.T) {
	p := kustomization(t, "takes", "_boxes.takes.example.com_apiextensions.k8s.io_CustomResourceDefinition", "team-a_takes_apps_StatefulSet")
	c := cluster(t)
	c.Apply(t, kubetest.Admin, fluxManager, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.takes.example.com, `+labels("takes")+`}
spec:
  group: takes.example.com
  scope: Namespaced
  names: {kind: Box, plural: boxes, singular: box}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: takes, namespace: team-a, `+labels("takes")+`}
spec:
  serviceName: takes
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}
  selector: {matchLabels: {app: takes}}
  template: {metadata: {labels: {app: takes}}, spec: {containers: [{name: c, image: "a:1"}]}}
`)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if kindsOf(t, client2(t, kubetest.Admin)).Preferred("takes.example.com", "Box") == "" {
			return poll.Continue("not served yet")
		}
		return poll.Success()
	})
	set, err := c.Client(kubetest.Admin).AppsV1().StatefulSets("team-a").Get(t.Context(), "takes", metav1.GetOptions{})
	assert.NilError(t, err)
	claim := "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: team-a%s}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"
	owned := fmt.Sprintf(", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: takes, uid: %s}]", set.UID)
	c.Apply(t, kubetest.Admin, "sts", fmt.Sprintf(claim, "data-takes-0", owned), fmt.Sprintf(claim, "takes-free", ""),
		"{apiVersion: takes.example.com/v1, kind: Box, metadata: {name: a, namespace: team-a}}", "{apiVersion: takes.example.com/v1, kind: Box, metadata: {name: b, namespace: team-b}}")
	got := p.planned(t, configMap("takes-keep", "team-a", ""))
	assert.Equal(t, len(got.Changes), 3, "%v", lines(got))
	assert.DeepEqual(t, lines(got)[:11], []string{
		"+ team-a/ConfigMap/takes-keep (create)",
		"- CustomResourceDefinition.apiextensions.k8s.io/boxes.takes.example.com (delete)",
		"  owner kustomization/flux-system/takes",
		"  ! delete: deletes CustomResourceDefinition.apiextensions.k8s.io/boxes.takes.example.com, which contains 0 objects of this plan and 2 others",
		"  ! prune", "  ! crd",
		"- team-a/StatefulSet.apps/takes (delete)",
		"  owner kustomization/flux-system/takes",
		"  ! delete: deletes team-a/StatefulSet.apps/takes, which contains 0 objects of this plan and 1 other (PVC data-takes-0)",
		"  ! prune", "  ! storage: deletes 1 volume",
	})
}

func TestADefinitionThatGoesTakesWhatTheManifestsWant(t *testing.T) {
	const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crates.wants.example.com, LABELS}
spec:
  group: wants.example.com
  scope: Cluster
  names: {kind: Crate, plural: crates, singular: crate}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]`
	const crate = "{apiVersion: wants.example.com/v1, kind: Crate, metadata: {name: a}}"
	// one with a namespace that its kind has not, as some manifests have it
	p := kustomization(t, "wants", "_crates.wants.example.com_apiextensions.k8s.io_CustomResourceDefinition", "team-a_a_wants.example.com_Crate")
	c := cluster(t)
	c.Apply(t, kubetest.Admin, fluxManager, strings.Replace(crd, "LABELS", labels("wants"), 1))
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if kindsOf(t, client2(t, kubetest.Admin)).Preferred("wants.example.com", "Crate") == "" {
			return poll.Continue("not served yet")
		}
		return poll.Success()
	})
	c.Apply(t, kubetest.Admin, fluxManager, strings.Replace(crate, "name: a", "name: a, "+labels("wants"), 1), strings.Replace(crate, "name: a", "name: b", 1))
	got := p.planned(t, crate)
	assert.Equal(t, got.Summary().Delete, 1, "%v", lines(got))
	assert.Equal(t, plan.DeletionText(got.Changes[0].Body), "deletes CustomResourceDefinition.apiextensions.k8s.io/crates.wants.example.com, which contains 1 object of this plan and 1 other")
	assert.DeepEqual(t, got.Unchanged[0].Notes, []string{"its kind crates.wants.example.com is deleted by this plan, and the object with it"})
}

func TestASecretIsDeletedWithoutItsValues(t *testing.T) {
	p := kustomization(t, "hidden", "team-a_hidden__Secret")
	cluster(t).Apply(t, kubetest.Admin, fluxManager, "{apiVersion: v1, kind: Secret, metadata: {name: hidden, namespace: team-a, "+labels("hidden")+"}, stringData: {password: CANARY-hidden-secret}}")
	got := p.planned(t, configMap("hidden-keep", "team-a", ""))
	data, err := plan.Encode(got)
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(data), `"fields":{"data":{"password":{"hmac":`), "%s", data)
	assert.Assert(t, !strings.Contains(string(data), "CANARY") && !strings.Contains(string(data), "Q0FOQVJZ"), "%s", data)
}

func TestWhatDiesWithANamespaceMustBeKnown(t *testing.T) {
	p := kustomization(t, "dark", "_dark__Namespace")
	c := cluster(t)
	c.Apply(t, kubetest.Admin, fluxManager, "{apiVersion: v1, kind: Namespace, metadata: {name: dark, "+labels("dark")+"}}")
	client := c.Client(kubetest.Admin).RbacV1()
	meta := metav1.ObjectMeta{Name: "gitops-dark"}
	_, err := client.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"", "kustomize.toolkit.fluxcd.io"}, Resources: []string{"namespaces", "configmaps", "kustomizations"}, Verbs: []string{"*"}},
	}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "alice"}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	p.user = "alice"
	got := p.planned(t, configMap("dark-keep", "team-a", ""))
	assert.Equal(t, len(got.Failed), 1, "%v", lines(got))
	assert.Equal(t, got.Failed[0].Reason, plan.ReasonForbidden)
	assert.Assert(t, strings.HasPrefix(got.Failed[0].Message, "what would be deleted with it is not known: "), got.Failed[0].Message)
}

// wire remembers the DELETE requests of a client.
type wire struct {
	mu     sync.Mutex
	bodies []string
}

func (w *wire) RoundTrip(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			w.mu.Lock()
			w.bodies = append(w.bodies, string(body))
			w.mu.Unlock()
		}
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestDeletesAreDryRunAgainstTheObjectThatWasRead(t *testing.T) {
	c := cluster(t)
	made := c.Apply(t, kubetest.Admin, fluxManager, configMap("wire", "team-a", ""))
	seen := &wire{}
	config := c.Config(kubetest.Admin)
	config.Wrap(seen.RoundTrip)
	client, err := dryrun.New(config)
	assert.NilError(t, err)
	removals, err := client.ObserveDeletes(t.Context(), []dryrun.Departed{{Key: manifest.Key{Kind: "ConfigMap", Namespace: "team-a", Name: "wire"}, Version: "v0"}},
		dryrun.DeleteOptions{Kinds: kindsOf(t, client), Masker: manifest.NewMasker([]byte("k"), "uid", false), Propagation: "foreground",
			Applier: plan.Applier{Manager: fluxManager}, Judge: func(map[string]any) dryrun.Fate { return dryrun.Fate{} }})
	assert.NilError(t, err)
	assert.Assert(t, removals[0].Failure == nil)
	assert.Equal(t, removals[0].Version, "v1") // the owner's own is not served any more
	assert.DeepEqual(t, removals[0].Deletion.Fields, map[string]any{"data": map[string]any{"a": "1"}})
	assert.DeepEqual(t, seen.bodies, []string{`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"` + string(made[0].GetUID()) +
		`"},"propagationPolicy":"Foreground","dryRun":["All"]}` + "\n"})
	_, err = c.Dynamic(kubetest.Admin).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("team-a").Get(t.Context(), "wire", metav1.GetOptions{})
	assert.NilError(t, err) // it is still there
}
