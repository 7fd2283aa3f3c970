package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// besides proves the plan of the namespace that Argo CD writes beside a
// manifest, and answers it.
func (s shop) besides(t *testing.T, text string) (namespace plan.Observation, others []plan.Observation) {
	t.Helper()
	objects, problems := manifest.Parse("test.yaml", []byte(text))
	assert.Equal(t, len(problems), 0, "%v", problems)
	added, is := s.read(t).Beside(manifest.Set{Objects: objects})
	assert.Assert(t, is)
	seen := observe(t, s.applier(t), text, added)
	namespace, r := seen[len(seen)-1], newReader(t)
	before := r.live(t, namespace)
	together := s.sync(t, objects, false)[0]
	assert.Equal(t, together.Phase, "Succeeded", "%+v", together)
	said, _ := together.story(namespace.Object)
	compare(t, namespace, before, r.live(t, namespace), said)
	return namespace, seen[:len(seen)-1]
}

func configMapIn(namespace string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: " + namespace + "}\ndata: {a: b}\n"
}

const managed = "syncPolicy: {syncOptions: [CreateNamespace=true, OPTIONS], managedNamespaceMetadata: {labels: {team: a}, annotations: {note: x}}}\n"

func managedShop(namespace, options string) shop {
	return shop{namespace: namespace, spec: strings.ReplaceAll(managed, "OPTIONS", options)}
}

func TestTheNamespaceThatArgoCDMakesIsPlannedAsItMakesIt(t *testing.T) {
	settle(t)
	prefix := kubetest.Shared(t).Namespace(t)
	for name, app := range map[string]shop{
		"plain":             withOptions("CreateNamespace=true"),
		"server-side":       withOptions("CreateNamespace=true", "ServerSideApply=true"),
		"created whole":     withOptions("CreateNamespace=true", "Replace=true"),
		"in-sync-only":      withOptions("CreateNamespace=true", outOfSync),
		"managed":           managedShop("", ""),
		"managed-and-whole": managedShop("", "Replace=true"),
		"with-other-objects": {options: []string{"CreateNamespace=true"},
			operation: "{sync: {syncOptions: [CreateNamespace=true], resources: [{kind: ConfigMap, name: c}]}}"},
	} {
		t.Run(name, func(t *testing.T) {
			app.namespace = prefix + "-" + strings.ReplaceAll(name, " ", "-")
			namespace, others := app.besides(t, configMapIn(app.namespace))
			assert.Assert(t, namespace.Live == nil && namespace.Failure == nil && namespace.Unverified == "", "%+v", namespace.Failure)
			assert.Equal(t, others[0].Unverified, "its namespace is created by this plan")
			assert.Assert(t, strings.HasPrefix(namespace.Notes[0], "applied before this gate: "), "%v", namespace.Notes)
		})
	}
}

func TestANamespaceThatExistsIsWrittenByArgoCDOnlyWhereItsMetadataIsManaged(t *testing.T) {
	settle(t)
	for name, c := range map[string]struct {
		app     shop
		made    making
		want    []string
		nothing bool
	}{
		"left alone":       {app: withOptions("CreateNamespace=true"), made: bySomebody, nothing: true},
		"put, left alone":  {app: withOptions("CreateNamespace=true", "Replace=true"), made: bySomebody, nothing: true},
		"managed":          {app: managedShop("", ""), made: bySomebody, want: []string{`metadata.labels.team: "b" → "a"`}},
		"made by kubectl":  {app: managedShop("", ""), made: byKubectlApply, want: []string{`- metadata.labels.own: "1"`}},
		"managed, and put": {app: managedShop("", "Replace=true"), made: bySomebody, want: []string{`- metadata.labels.own: "1"`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.app.namespace = kubetest.Shared(t).Namespace(t)
			c.made(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+c.app.namespace+", labels: {team: b, own: \"1\"}}}")()
			namespace, _ := c.app.besides(t, configMapIn(c.app.namespace))
			lines := strings.Join(texts(t, namespace), "\n")
			assert.Equal(t, lines == "", c.nothing, lines)
			for _, want := range c.want {
				assert.Assert(t, strings.Contains(lines, want), "%s", lines)
			}
		})
	}
}

func TestANamespaceAmongTheManifestsIsWrittenAsTheySay(t *testing.T) {
	settle(t)
	app := managedShop(kubetest.Shared(t).Namespace(t), "")
	text := "{apiVersion: v1, kind: Namespace, metadata: {name: " + app.namespace + ", labels: {own: \"1\"}}}"
	objects, _ := manifest.Parse("test.yaml", []byte(text))
	_, is := app.read(t).Beside(manifest.Set{Objects: objects})
	assert.Assert(t, !is)
	seen := app.prove(t, text)[0]
	assert.Assert(t, !strings.Contains(strings.Join(texts(t, seen), "\n"), "team"), "%v", texts(t, seen))
}
