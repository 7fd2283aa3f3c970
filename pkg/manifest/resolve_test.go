package manifest_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
)

// served is what a server serves: true for namespaced kinds.
type served map[string]bool

func (s served) Scope(group, version, kind string) (namespaced, known bool) {
	namespaced, known = s[group+"/"+version+"/"+kind]
	return namespaced, known
}

func usual() served {
	return served{"/v1/ConfigMap": true, "/v1/Namespace": false, "batch/v1/Job": true,
		"autoscaling/v1/HorizontalPodAutoscaler": true, "autoscaling/v2/HorizontalPodAutoscaler": true,
		"apiextensions.k8s.io/v1/CustomResourceDefinition": false}
}

func resolve(objects []manifest.Object, namespace string) (set manifest.Set, keys, problems []string) {
	set, found := manifest.Resolve(objects, usual(), namespace)
	for _, object := range set.Objects {
		keys = append(keys, object.Key().String())
	}
	for _, problem := range found {
		problems = append(problems, problem.Reason+" "+problem.Error())
	}
	return set, keys, problems
}

func TestObjectsOfOneIdentityAreAllLeftOutAndListed(t *testing.T) {
	objects, _, _ := read(t, "B15-duplicate-objects.yaml")
	_, keys, problems := resolve(objects, "default")
	assert.DeepEqual(t, keys, []string{"team-b/ConfigMap/b15"})
	const f = "B15-duplicate-objects.yaml"
	assert.DeepEqual(t, problems, []string{
		"DuplicateObject " + f + ":1: default/ConfigMap/b15: stands in the set 2 times: " + f + ":1, " + f + ":6",
		"DuplicateObject " + f + ":11: team-a/HorizontalPodAutoscaler.autoscaling/b15-hpa: stands in the set 2 times: " + f + ":11, " + f + ":18",
	})
}

func TestAHookCountsAsAnotherObjectOfItsName(t *testing.T) {
	hook := func(name, phase string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", annotations: {argocd.argoproj.io/hook: " + phase + "}}\n"
	}
	objects, _, _ := parse("f", hook("a", "PreSync")+hook("a", "PostSync")+hook("b", "Sync")+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, generateName: c-}\n")
	_, keys, problems := resolve(objects, "shop")
	assert.Equal(t, len(keys), 0)
	assert.DeepEqual(t, problems, []string{
		"DuplicateObject f:2: shop/ConfigMap/a: stands in the set 2 times: f:2, f:6",
		"DuplicateObject f:10: shop/ConfigMap/b: stands in the set 2 times: f:10, f:14",
	})
}

func TestHooksWithGeneratedNamesMayRepeat(t *testing.T) {
	objects, _, _ := read(t, "B17-generate-name.yaml")
	_, keys, problems := resolve(append(objects, objects...), "default")
	assert.DeepEqual(t, keys, []string{"team-a/Job.batch/", "team-a/Job.batch/"})
	assert.Equal(t, len(problems), 0)
}

func TestScopeComesFromCRDsOfTheSetWhereTheServerHasNone(t *testing.T) {
	objects, _, problems := read(t, "B13-crd-and-cr.yaml")
	assert.Equal(t, len(problems), 0, "%v", problems)
	_, keys, problems := resolve(objects, "default")
	assert.Equal(t, len(problems), 1)
	assert.Assert(t, strings.HasPrefix(problems[0], "UnknownKind B13-crd-and-cr.yaml:"), problems[0])
	assert.Assert(t, strings.Contains(problems[0], "unknown kind Gadget"), problems[0])
	assert.Equal(t, len(keys), 2)
	assert.Assert(t, strings.Contains(keys[0], "/Widget."), keys[0])
}

func TestNamespacesAreFilledAndDroppedAsKubectlWould(t *testing.T) {
	objects, _, _ := parse("f", `
{"apiVersion":"v1","kind":"List","items":[
 {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}},
 {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n","namespace":"other"}}]}`)
	set, keys, problems := resolve(objects, "shop")
	assert.Equal(t, len(problems), 0)
	assert.DeepEqual(t, keys, []string{"shop/ConfigMap/a", "Namespace/n"})
	assert.DeepEqual(t, set.Objects[1].Notes, []string{`metadata.namespace "other" ignored: the kind is cluster-wide`})
	assert.Equal(t, objects[0].Namespace(), "", "the input is not changed")
	assert.Equal(t, objects[1].Namespace(), "other", "the input is not changed")

	outside := manifest.Outside(set, "dev")
	assert.Equal(t, len(outside), 1)
	assert.Equal(t, outside[0].Error(), `f:3: shop/ConfigMap/a: metadata.namespace: is "shop", but only namespace "dev" was asked for`)
	assert.Equal(t, len(manifest.Outside(set, "shop")), 0)
}

func TestAnExportedObjectIsStrippedAndSaysSo(t *testing.T) {
	objects, _, _ := read(t, "B32-exported-object.yaml")
	live, _, _ := read(t, "B32-exported-object.live.yaml")
	stripped := manifest.Strip(objects[0])
	assert.DeepEqual(t, stripped.Content, live[0].Content)
	notes := stripped.StripNotes()
	assert.DeepEqual(t, notes, []string{
		"dropped what the server keeps: status, metadata.managedFields, metadata.creationTimestamp, metadata.generation, metadata.uid, metadata.resourceVersion",
		"the lock that metadata.resourceVersion 1 asked for is dropped, too: the object may have changed since"})
	assert.Assert(t, objects[0].Content["status"] != nil, "the input is not changed")

	set, _ := manifest.Resolve(objects, served{"/v1/Service": true}, "default")
	assert.DeepEqual(t, set.Objects[0].Content, stripped.Content)
	assert.DeepEqual(t, set.Objects[0].StripNotes(), notes)
	assert.DeepEqual(t, set.Objects[0].Unstripped(set.Objects[0].Content), objects[0].Content)

	generated, _, _ := parse("f", "apiVersion: v1\nkind: X\nmetadata: {name: x, creationTimestamp: null}\nstatus: {}\n")
	stripped = manifest.Strip(generated[0])
	assert.Equal(t, len(stripped.StripNotes()), 0)
	assert.DeepEqual(t, stripped.Content, map[string]any{"apiVersion": "v1", "kind": "X", "metadata": map[string]any{"name": "x"}})
}

func TestWhatIsInErrorStillBringsWhatOthersNeed(t *testing.T) {
	for name, broken := range map[string]string{
		"a label that is a number": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com, labels: {a: 1}}\n",
		"a version nobody serves":  "apiVersion: apiextensions.k8s.io/v9\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n",
		"a key twice":              "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com, name: widgets.example.com}\n",
	} {
		t.Run(name, func(t *testing.T) {
			objects, _, _ := parse("f", broken+"spec: {group: example.com, scope: Namespaced, names: {kind: Widget}, versions: [{name: v1}]}\n---\n"+
				"apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n")
			_, problems := manifest.Parse("f", []byte(broken+"spec: {group: example.com, scope: Namespaced, names: {kind: Widget}, versions: [{name: v1}]}\n"))
			set, found := manifest.Resolve(objects, usual(), "shop", problems...)
			assert.Equal(t, len(problems)+len(found), 1)
			assert.Equal(t, len(set.Objects), 1)
			assert.Equal(t, set.Objects[0].Key().String(), "shop/Widget.example.com/a")
			assert.Equal(t, set.Refused[0].Key().String(), "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com")
		})
	}
	_, problems := manifest.Parse("f", []byte("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, labels: {a: 1, b: 2}}\n---\n"+
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: 1}\n"))
	set, _ := manifest.Resolve(nil, served{"/v1/ServiceAccount": true}, "shop", problems...)
	assert.Equal(t, len(set.Refused), 1, "no value of a Secret is kept in a problem")
	assert.Equal(t, set.Refused[0].Key().String(), "shop/ServiceAccount/a")
}
