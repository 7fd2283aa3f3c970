package argocd_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/manifest"
)

func content(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var out map[string]any
	assert.NilError(t, yaml.Unmarshal([]byte(text), &out))
	return out
}

func application(t *testing.T, text string) *argocd.Application {
	t.Helper()
	a, err := argocd.ReadApplication(content(t, "metadata: {name: shop, namespace: argocd}\n"+text))
	assert.NilError(t, err)
	return a
}

func settings() argocd.Settings { return argocd.ReadSettings("argocd", nil) }

// configMap is an object with annotations, in the form of a live one.
func configMap(t *testing.T, annotations string) map[string]any {
	return content(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: team-a, annotations: {"+annotations+"}}}")
}

const tracked = `argocd.argoproj.io/tracking-id: "shop:/ConfigMap:team-a/web"`

func TestOptionsComeFromApplicationManifestAndLive(t *testing.T) {
	options := func(value string) string { return `argocd.argoproj.io/sync-options: "` + value + `"` }
	app := func(list string) string { return "spec: {syncPolicy: {syncOptions: [" + list + "]}}" }
	const from = "kubectl-client-side-apply"
	for name, c := range map[string]struct {
		app, desired, live string
		want               argocd.Options
	}{
		"nothing said":                        {want: argocd.Options{Validate: true}},
		"server-side of the Application":      {app: app("ServerSideApply=true"), want: argocd.Options{Validate: true, ServerSide: true, Migrate: from}},
		"server-side of the manifest":         {desired: options("Prune=false, ServerSideApply=true"), want: argocd.Options{Validate: true, ServerSide: true, Migrate: from}},
		"server-side of live does not count":  {live: options("ServerSideApply=true"), want: argocd.Options{Validate: true}},
		"the manifest says no":                {app: app("ServerSideApply=true"), desired: options("ServerSideApply=false"), want: argocd.Options{Validate: true}},
		"replace and force of live":           {live: options(" Replace=true ,Force=true,"), want: argocd.Options{Validate: true, Replace: true, Force: true}},
		"replace of the Application":          {app: app("Replace=true"), want: argocd.Options{Validate: true, Replace: true}},
		"options have one case of letters":    {desired: options("replace=true,force=TRUE"), want: argocd.Options{Validate: true}},
		"no validation":                       {desired: options("Validate=false"), want: argocd.Options{}},
		"no migration":                        {app: app("ServerSideApply=true, ClientSideApplyMigration=false"), want: argocd.Options{Validate: true, ServerSide: true}},
		"only what differs":                   {app: app("ApplyOutOfSyncOnly=true, RespectIgnoreDifferences=true"), want: argocd.Options{Validate: true, OutOfSyncOnly: true, IgnoreDifferences: true}},
		"force of the sync that runs":         {app: "operation: {sync: {syncStrategy: {hook: {force: true}}}}", want: argocd.Options{Validate: true, Force: true}},
		"the running sync has options itself": {app: "operation: {sync: {syncOptions: [Replace=true]}}\n" + app("ServerSideApply=true"), want: argocd.Options{Validate: true, Replace: true}},
		"a lone Skip":                         {desired: "argocd.argoproj.io/hook: Skip", want: argocd.Options{Validate: true, Skip: "Argo CD does not apply it: argocd.argoproj.io/hook: Skip"}},
		"another object is synced": {app: "operation: {sync: {resources: [{kind: ConfigMap, name: other}]}}",
			want: argocd.Options{Validate: true, Skip: "Argo CD does not apply it: the sync that runs is about other objects"}},
		"this object is synced": {app: "operation: {sync: {resources: [{kind: ConfigMap, name: web}]}}", want: argocd.Options{Validate: true}},
		"a sync that is over":   {app: "status: {operationState: {phase: Succeeded, operation: {sync: {syncOptions: [Replace=true]}}}}", want: argocd.Options{Validate: true}},
	} {
		t.Run(name, func(t *testing.T) {
			desired := manifest.Object{Content: configMap(t, c.desired)}
			assert.DeepEqual(t, application(t, c.app).Options(desired, configMap(t, c.live)), c.want)
		})
	}
}

func TestArgoCDKeepsWhatTheLiveObjectGuards(t *testing.T) {
	const on = "spec: {syncPolicy: {automated: {prune: true}}}"
	options := func(value string) string { return tracked + `, argocd.argoproj.io/sync-options: "` + value + `"` }
	for name, c := range map[string]struct{ app, live, why string }{
		"plain":                        {on, tracked, ""},
		"never":                        {on, options("ServerSideApply=true, Prune=false"), "Prune=false"},
		"the first one counts":         {on, options("Prune=true,Prune=false"), ""},
		"confirm":                      {on, options("Prune=confirm"), "before someone confirms"},
		"the Application's own option": {"spec: {syncPolicy: {automated: {prune: true}, syncOptions: [Prune=confirm]}}", tracked, "before someone confirms"},
		"the object overrides it":      {"spec: {syncPolicy: {automated: {prune: true}, syncOptions: [Prune=false]}}", options("Prune=true"), ""},
		"Helm's word does not count":   {on, tracked + ", helm.sh/resource-policy: keep", ""},
		"not tracked":                  {on, "a: b", "does not name the Application"},
		"of another object":            {on, `argocd.argoproj.io/tracking-id: "shop:apps/Deployment:team-a/other"`, "does not name the Application"},
		"of another Application":       {on, `argocd.argoproj.io/tracking-id: "shop2:/ConfigMap:team-a/web"`, "does not name the Application"},
		"a hook":                       {on, tracked + ", argocd.argoproj.io/hook: PreSync", "is a hook"},
		"skipped":                      {on, tracked + ", argocd.argoproj.io/hook: Skip", "is a hook"},
		"off":                          {"", tracked, "automated pruning is off"},
		"automation disabled":          {"spec: {syncPolicy: {automated: {prune: true, enabled: false}}}", tracked, "automated pruning is off"},
		"asked for":                    {"operation: {sync: {prune: true}}", tracked, ""},
		"running, and not asked for":   {on + "\nstatus: {operationState: {phase: Running, operation: {sync: {}}}}", tracked, "does not prune"},
		"running for other objects":    {on + "\noperation: {sync: {prune: true, resources: [{kind: ConfigMap, name: b}]}}", tracked, "about other objects"},
	} {
		t.Run(name, func(t *testing.T) {
			got := application(t, c.app).Keep(configMap(t, c.live), settings())
			assert.Equal(t, got != "", c.why != "", got)
			assert.Assert(t, strings.Contains(got, c.why), got)
		})
	}
}

func TestAConfirmationCountsForTheOperationThatRuns(t *testing.T) {
	for at, confirmed := range map[string]bool{"2026-03-01T12:00:00Z": true, "2026-03-01T12:00:01Z": true, "2026-03-01T11:59:59Z": false, "yes": false} {
		a, err := argocd.ReadApplication(content(t, `
metadata: {name: shop, namespace: argocd, annotations: {argocd.argoproj.io/deletion-approved: "`+at+`"}}
status: {operationState: {phase: Running, startedAt: "2026-03-01T12:00:00Z", operation: {sync: {prune: true}}}}`))
		assert.NilError(t, err)
		live := configMap(t, tracked+", argocd.argoproj.io/sync-options: Prune=confirm")
		assert.Equal(t, a.Keep(live, settings()) == "", confirmed, at)
	}
}

func TestAManagedNamespaceAndOwnedObjectsAreKept(t *testing.T) {
	a := application(t, "spec: {destination: {namespace: team-a}, syncPolicy: {automated: {prune: true}, managedNamespaceMetadata: {}}}")
	namespace := func(name string) map[string]any {
		return content(t, `{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`, annotations: {argocd.argoproj.io/tracking-id: "shop:/Namespace:team-a/`+name+`"}}}`)
	}
	assert.Assert(t, strings.Contains(a.Keep(namespace("team-a"), settings()), "managedNamespaceMetadata"))
	assert.Equal(t, a.Keep(namespace("team-b"), settings()), "")
	owned := configMap(t, tracked)
	owned["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"kind": "Widget"}}
	assert.Assert(t, strings.Contains(a.Keep(owned, settings()), "owner reference"))
}

func TestClaimsFollowTheMethodOfTheInstall(t *testing.T) {
	label := argocd.ReadSettings("argocd", map[string]string{"application.resourceTrackingMethod": "label", "application.instanceLabelKey": "argocd.argoproj.io/instance"})
	installed := argocd.ReadSettings("argocd", map[string]string{"installationID": "one"})
	labelled := manifest.Object{Content: content(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: team-a, labels: {app.kubernetes.io/instance: shop, argocd.argoproj.io/instance: store}}}`)}
	annotated := func(annotations string) manifest.Object { return manifest.Object{Content: configMap(t, annotations)} }
	for name, c := range map[string]struct {
		settings argocd.Settings
		object   manifest.Object
		want     argocd.Claim
		claimed  bool
	}{
		"annotated":                   {settings(), annotated(tracked), argocd.Claim{Instance: "shop", Self: true}, true},
		"labelled only":               {settings(), labelled, argocd.Claim{}, false},
		"labelled, and labels count":  {label, labelled, argocd.Claim{Instance: "store", Self: true}, true},
		"annotated, but labels count": {label, annotated(tracked), argocd.Claim{Self: true}, false},
		"copied from another":         {settings(), annotated(`argocd.argoproj.io/tracking-id: "shop:apps/Deployment:team-a/web"`), argocd.Claim{Instance: "shop"}, true},
		"of another form":             {settings(), annotated(`argocd.argoproj.io/tracking-id: shop`), argocd.Claim{}, false},
		"of nobody":                   {settings(), annotated(`argocd.argoproj.io/tracking-id: ":/ConfigMap:team-a/web"`), argocd.Claim{}, false},
		"of another install":          {installed, annotated(tracked), argocd.Claim{}, false},
		"of this install":             {installed, annotated(tracked + ", argocd.argoproj.io/installation-id: one"), argocd.Claim{Instance: "shop", Self: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, claimed := c.settings.Claim(c.object)
			assert.Equal(t, claimed, c.claimed)
			assert.DeepEqual(t, got, c.want)
		})
	}
	namespace, name := argocd.Claim{Instance: "team-b_shop"}.Application(settings())
	assert.Equal(t, namespace+"/"+name, "team-b/shop")
	namespace, name = argocd.Claim{Instance: "shop"}.Application(settings())
	assert.Equal(t, namespace+"/"+name, "argocd/shop")
}

func TestTheTrackingIDOfAnObjectNamesIt(t *testing.T) {
	a := application(t, "spec: {destination: {namespace: team-a}}")
	_, value := a.TrackingID(manifest.Key{Kind: "ConfigMap", Namespace: "team-a", Name: "web"}, settings())
	assert.Equal(t, value, "shop:/ConfigMap:team-a/web")
	a.Namespace = "team-b"
	long := *a
	long.Name = strings.Repeat("a", 55) + "-.-b"
	assert.Equal(t, long.LabelValue(settings()), "team-b_"+strings.Repeat("a", 55))
	assert.Equal(t, a.LabelValue(settings()), "team-b_shop")
	_, value = a.TrackingID(manifest.Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "r"}, settings())
	assert.Equal(t, value, "team-b_shop:rbac.authorization.k8s.io/ClusterRole:team-a/r")
}

func TestAnApplicationIsReadWithWhatItLists(t *testing.T) {
	a := application(t, `
spec: {destination: {name: in-cluster, namespace: team-a}, syncPolicy: {automated: {selfHeal: true}}}
status: {resources: [{version: v1, kind: ConfigMap, namespace: team-a, name: web, requiresPruning: true}, {group: batch, version: v1, kind: Job, namespace: team-a, name: migrate, hook: true}]}`)
	assert.DeepEqual(t, a.Resources, map[manifest.Key]argocd.Resource{
		{Kind: "ConfigMap", Namespace: "team-a", Name: "web"}:               {Version: "v1", RequiresPruning: true},
		{Group: "batch", Kind: "Job", Namespace: "team-a", Name: "migrate"}: {Version: "v1", Hook: true},
	})
	assert.Assert(t, a.Automated && a.SelfHeal && !a.Prune && a.Remote == "")
	assert.Equal(t, a.Propagation(), "foreground")
	assert.Equal(t, application(t, "spec: {syncPolicy: {syncOptions: [PrunePropagationPolicy=orphan]}}").Propagation(), "orphan")
	assert.Equal(t, application(t, "spec: {destination: {server: https://other.example}}").Remote, "https://other.example")
	_, err := argocd.ReadApplication(content(t, `{spec: {syncPolicy: {automated: {prune: "yes"}}}}`))
	assert.ErrorContains(t, err, "spec.syncPolicy.automated.prune is of the wrong type: string")
}

func TestArgoCDWritesANamespaceOnlyWhereItIsNoneOfTheManifests(t *testing.T) {
	const text, whole = "{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}", "[CreateNamespace=true]"
	app := func(options, more string) string {
		return "spec: {destination: {namespace: team-a}, syncPolicy: {syncOptions: " + options + more + "}}"
	}
	objects := func(texts ...string) (out []manifest.Object) {
		for _, text := range texts {
			out = append(out, manifest.Object{Content: content(t, text)})
		}
		return out
	}
	for name, c := range map[string]struct {
		app  string
		set  manifest.Set
		want string
	}{
		"not asked for":          {app("[]", ", managedNamespaceMetadata: {labels: {a: b}}"), manifest.Set{}, ""},
		"no namespace":           {"spec: {syncPolicy: {syncOptions: " + whole + "}}", manifest.Set{}, ""},
		"asked for":              {app(whole, ""), manifest.Set{Objects: objects(strings.ReplaceAll(text, "team-a", "team-b"))}, text},
		"by the sync that runs":  {app("[]", "") + "\noperation: {sync: {syncOptions: " + whole + "}}", manifest.Set{}, text},
		"not by that":            {app(whole, "") + "\noperation: {sync: {}}", manifest.Set{}, ""},
		"a manifest":             {app(whole, ""), manifest.Set{Objects: objects(text)}, ""},
		"a manifest with faults": {app(whole, ""), manifest.Set{Refused: objects(text)}, ""},
		"a hook": {app(whole, ""), manifest.Set{Objects: objects(strings.Replace(text, "name: team-a",
			"name: team-a, annotations: {argocd.argoproj.io/hook: PreSync}", 1))}, text},
		"managed": {app(whole, ", managedNamespaceMetadata: {labels: {a: b}, annotations: {c: d}}"), manifest.Set{}, strings.Replace(text, "name: team-a",
			"name: team-a, labels: {a: b}, annotations: {c: d, argocd.argoproj.io/sync-options: ServerSideApply=true}", 1)},
		"managed, and nothing said": {app(whole, ", managedNamespaceMetadata: {}"), manifest.Set{}, strings.Replace(text, "name: team-a",
			"name: team-a, annotations: {argocd.argoproj.io/sync-options: ServerSideApply=true}", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			got, is := application(t, c.app).Beside(c.set)
			assert.Equal(t, is, c.want != "")
			if is {
				assert.DeepEqual(t, got.Content, content(t, c.want))
				assert.Equal(t, got.Source.String(), "application/argocd/shop")
			}
		})
	}
}
