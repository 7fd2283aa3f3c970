package reconcile_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/reconcile"
)

// overlays are a base and what an overlay says beside it.
func overlays(t *testing.T, kustomization string, more ...string) string {
	t.Helper()
	return folder(t, append([]string{
		"base/kustomization.yaml", "resources: [web.yaml, cm.yaml]\n",
		"base/web.yaml", deployment,
		"base/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {k: v}\n",
		"prod/kustomization.yaml", "# production\nresources:\n- ../base\nnamespace: shop\n" + kustomization,
	}, more...)...)
}

func TestAPlainManifestGetsTheFieldInItsLine(t *testing.T) {
	dir := folder(t, "deep/web.yaml", deployment, "other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")
	result, changes := brought(t, dir, "", web(change("spec.replicas", int64(3)), change(webImage, "example.com/web:2"),
		change(`spec.template.spec.containers[name="log"].image`, "example.com/log:1")))
	assert.DeepEqual(t, changes, map[string]string{"deep/web.yaml": "-  replicas: 2\n-  selector: {matchLabels: {app: web}}\n-  template:\n-    metadata: {labels: {app: web}}\n-    spec:\n-      containers:\n-      - name: web\n-        image: example.com/web:1 # pinned\n" +
		"+  replicas: 3\n+  selector: {matchLabels: {app: web}}\n+  template:\n+    metadata: {labels: {app: web}}\n+    spec:\n+      containers:\n+      - name: web\n+        image: example.com/web:2 # pinned\n"})
	assert.Equal(t, len(result.Edits), 2)
	assert.Equal(t, len(result.Already), 1)
	assert.NilError(t, result.Failure())
}

func TestAnOverlayIsChangedWhereItSetsTheFieldItself(t *testing.T) {
	for _, c := range []struct {
		name, kustomization string
		more                []string
		field               reconcile.Field
		file, want          string
	}{
		{"images", "images:\n- name: example.com/web\n  newTag: \"7\" # by the pipeline\n", nil, change(webImage, "example.com/web:8"),
			"prod/kustomization.yaml", "-  newTag: \"7\" # by the pipeline\n+  newTag: \"8\" # by the pipeline\n"},
		{"images by digest", "images:\n- name: example.com/web\n  newTag: \"7\"\n", nil, change(webImage, "mirror/web@sha256:00"),
			"prod/kustomization.yaml", "-  newTag: \"7\"\n+  digest: sha256:00\n+  newName: mirror/web\n"},
		{"replicas", "replicas:\n- {name: web, count: 4}\n", nil, change("spec.replicas", int64(5)),
			"prod/kustomization.yaml", "-- {name: web, count: 4}\n+- {name: web, count: 5}\n"},
		{"strategic patch", "patches:\n- path: p.yaml\n", []string{"prod/p.yaml", "# why\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 4 # peak\n"},
			change("spec.replicas", int64(5)), "prod/p.yaml", "-  replicas: 4 # peak\n+  replicas: 5 # peak\n"},
		{"JSON patch", "patches:\n- path: p.yaml\n  target: {kind: Deployment}\n", []string{"prod/p.yaml", "- op: replace\n  path: /spec/template/spec/containers/0/image\n  value: x:1 # why\n"},
			change(webImage, "x:2"), "prod/p.yaml", "-  value: x:1 # why\n+  value: x:2 # why\n"},
		{"JSON patch of more", "patches:\n- path: p.yaml\n  target: {kind: Deployment}\n", []string{"prod/p.yaml", "- op: add\n  path: /metadata/labels\n  value: {team: a, b: c}\n"},
			change("metadata.labels.team", "z"), "prod/p.yaml", "-  value: {team: a, b: c}\n+  value: {team: z, b: c}\n"},
		{"inline patch", "patches:\n- patch: |\n    # why\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec:\n      replicas: 4 # peak\n", nil,
			change("spec.replicas", int64(5)), "prod/kustomization.yaml", "-      replicas: 4 # peak\n+      replicas: 5 # peak\n"},
		{"inline JSON patch", "patches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: replace\n      path: /spec/replicas\n      value: 4\n", nil,
			change("spec.replicas", int64(5)), "prod/kustomization.yaml", "-      value: 4\n+      value: 5\n"},
		{"old strategic patch", "patchesStrategicMerge:\n- p.yaml\n", []string{"prod/p.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 4}\n"},
			change("spec.replicas", int64(5)), "prod/p.yaml", "-spec: {replicas: 4}\n+spec: {replicas: 5}\n"},
		{"patch of the object", "patches:\n- path: p.yaml\n", []string{"prod/p.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 4}\n"},
			change(webImage, "example.com/web:2"), "prod/p.yaml", "-spec: {replicas: 4}\n+spec: {replicas: 4, template: {spec: {containers: [{name: web, image: example.com/web:2}]}}}\n"},
	} {
		result, changes := brought(t, overlays(t, c.kustomization, c.more...), "prod", web(c.field))
		assert.NilError(t, result.Failure(), c.name)
		assert.DeepEqual(t, changes, map[string]string{c.file: c.want})
	}
}

func TestWhatOnlyABaseSetsGetsAPatchInTheOverlay(t *testing.T) {
	head := "+apiVersion: apps/v1\n+kind: Deployment\n+metadata:\n+  name: web\n+spec:\n"
	for _, c := range []struct {
		name, kustomization string
		field               reconcile.Field
		entry, patch        string
	}{
		{"a value", "", change("spec.replicas", int64(5)), "+patches:\n+- path: patch-deployment-web.yaml\n", head + "+  replicas: 5\n"},
		{"in a list with keys", "", change(webImage, "x"), "+patches:\n+- path: patch-deployment-web.yaml\n",
			head + "+  template:\n+    spec:\n+      containers:\n+      - name: web\n+        image: x\n"},
		{"in a list without keys", "", change(`spec.template.spec.containers[name="web"].args[1]`, "--c"), "+patches:\n+- path: patch-deployment-web.yaml\n",
			head + "+  template:\n+    spec:\n+      containers:\n+      - name: web\n+        args:\n+        - --a\n+        - --c\n"},
		{"removed", "", reconcile.Field{Path: "spec.replicas", Action: diff.Remove}, "+patches:\n+- path: patch-deployment-web.yaml\n", head + "+  replicas: null\n"},
		{"an entry removed", "", reconcile.Field{Path: `spec.template.spec.containers[name="log"]`, Action: diff.Remove}, "+patches:\n+- path: patch-deployment-web.yaml\n",
			head + "+  template:\n+    spec:\n+      containers:\n+      - name: log\n+        $patch: delete\n"},
		{"beside other patches", "patches: # all\n  - path: q.yaml\n", change("spec.replicas", int64(5)), "+  - path: patch-deployment-web.yaml\n", head + "+  replicas: 5\n"},
	} {
		dir := overlays(t, c.kustomization, "prod/q.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {k: w}\n")
		result, changes := brought(t, dir, "prod", web(c.field))
		assert.NilError(t, result.Failure(), c.name)
		assert.DeepEqual(t, changes, map[string]string{"prod/kustomization.yaml": c.entry, "prod/patch-deployment-web.yaml": c.patch})
		again, _ := brought(t, dir, "prod", web(c.field))
		assert.Equal(t, len(again.Already), 1, "%s: a second run finds nothing to do", c.name)
	}
}

func TestAnOverlaysOwnManifestIsChangedItself(t *testing.T) {
	dir := folder(t, "kustomization.yaml", "namePrefix: my-\nresources: [web.yaml]\n", "web.yaml", deployment)
	w := web(change(webImage, "x"), change("spec.replicas", int64(3)))
	w.Key.Name = "my-web"
	_, changes := brought(t, dir, "", w)
	assert.Equal(t, len(changes), 1)
	assert.Assert(t, changes["web.yaml"] != "")
}

func TestAGeneratedConfigMapIsChangedWhereItsKeysComeFrom(t *testing.T) {
	generator := "configMapGenerator:\n- name: conf\n  literals: [a=1, b=2]\n  files: [app.ini, x=y.txt]\n"
	stable := generator + "generatorOptions: {disableNameSuffixHash: true}\n"
	dir := folder(t, "kustomization.yaml", stable, "app.ini", "k=v\n", "y.txt", "old")
	_, changes := brought(t, dir, "", configMap("conf", change("data.b", "3"), change(`data["app.ini"]`, "k=w\n"), change("data.x", "new")))
	assert.DeepEqual(t, changes, map[string]string{"kustomization.yaml": "-  literals: [a=1, b=2]\n+  literals: [a=1, b=3]\n", "app.ini": "-k=v\n+k=w\n", "y.txt": "-old+new"})
}
