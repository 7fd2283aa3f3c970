package argocd_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

func TestObjectsAreMarkedAsArgoCDDoes(t *testing.T) {
	long := strings.Repeat("a", 62) + "-b"
	for name, c := range map[string]struct {
		data        map[string]string
		app, object string
		want        string
	}{
		"by annotation": {nil, "shop", `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team-a, annotations: {a: b}}}`,
			`annotations: {a: b, argocd.argoproj.io/tracking-id: "shop:/ConfigMap:team-a/c"}`},
		"another install's mark goes": {nil, "shop", `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team-a, annotations: {argocd.argoproj.io/installation-id: x}}}`,
			`annotations: {argocd.argoproj.io/tracking-id: "shop:/ConfigMap:team-a/c"}`},
		"with the install": {map[string]string{"installationID": "one"}, "shop", `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team-a}}`,
			`annotations: {argocd.argoproj.io/installation-id: one, argocd.argoproj.io/tracking-id: "shop:/ConfigMap:team-a/c"}`},
		"by label": {map[string]string{"application.resourceTrackingMethod": "label"}, long, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team-a}}`,
			`labels: {app.kubernetes.io/instance: ` + long + `}`},
		"by both": {map[string]string{"application.resourceTrackingMethod": "annotation+label"}, long, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team-a}}`,
			`annotations: {argocd.argoproj.io/tracking-id: "` + long + `:/ConfigMap:team-a/c"}, labels: {app.kubernetes.io/instance: ` + strings.Repeat("a", 62) + `}`},
		"definitions are not marked": {nil, "shop", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: c, namespace: team-a}}`, ``},
		"nobody's":                   {nil, "", `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team-a}}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			a := &argocd.Application{Namespace: "argocd", Name: c.app}
			given := manifest.Object{Content: content(t, c.object)}
			before := runtime.DeepCopyJSON(given.Content)
			got, err := argocd.NewApplier(a, argocd.ReadSettings("argocd", c.data)).Desired(given)
			assert.NilError(t, err)
			assert.DeepEqual(t, given.Content, before)
			want := content(t, `{name: c, namespace: team-a, `+c.want+`}`)
			assert.DeepEqual(t, got.Content["metadata"], any(want))
		})
	}
}

func TestTheWayOfWritingFollowsTheOptions(t *testing.T) {
	config := func(options string) string {
		return `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team-a, annotations: {argocd.argoproj.io/sync-options: "` + options + `"}}}`
	}
	namespace := strings.ReplaceAll(config("Replace=true,Force=true"), "ConfigMap", "Namespace")
	for name, c := range map[string]struct {
		spec, desired, live string
		mode                string
		force, always       bool
	}{
		"by default":                       {"", config(""), config(""), plan.ModeClientSide, false, false},
		"server-side":                      {"ServerSideApply=true", config(""), config(""), plan.ModeServerSide, true, false},
		"not this one":                     {"ServerSideApply=true", config("ServerSideApply=false"), config(""), plan.ModeClientSide, false, false},
		"this one":                         {"", config("ServerSideApply=true"), config(""), plan.ModeServerSide, true, false},
		"only as it is, which is not read": {"", config(""), config("ServerSideApply=true"), plan.ModeClientSide, false, false},
		"replaced":                         {"Replace=true", config(""), config(""), plan.ModePut, false, false},
		"replaced, server-side or not":     {"ServerSideApply=true", config("Replace=true"), config(""), plan.ModePut, false, false},
		"replaced by force":                {"", config(" Force=true , Replace=true "), config(""), plan.ModePut, true, true},
		"replaced by force, as it is":      {"", config(""), config("Replace=true,Force=true"), plan.ModePut, true, true},
		"a namespace is only put":          {"", namespace, namespace, plan.ModePut, false, false},
		"forced":                           {"", config("Force=true"), config(""), plan.ModeClientSide, true, false},
		"forced, server-side":              {"ServerSideApply=true", config("Force=true"), config(""), plan.ModeServerSide, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			applier := argocd.NewApplier(&argocd.Application{SyncOptions: strings.Fields(c.spec)}, settings())
			got, err := applier.Treat(manifest.Object{Content: content(t, c.desired)}, &unstructured.Unstructured{Object: content(t, c.live)})
			assert.NilError(t, err)
			manager := "argocd-controller"
			if c.mode == plan.ModePut {
				manager = "argocd-application-controller"
			}
			assert.Equal(t, got.Applier, plan.Applier{Name: "argocd", Manager: manager, Mode: c.mode, Force: c.force})
			assert.Equal(t, got.Replaces != nil && got.Replaces(nil), c.always)
			assert.Equal(t, got.Validation, "Warn")
			assert.Equal(t, got.After != nil, c.mode == plan.ModeServerSide)
		})
	}
}

func TestServerSideApplyMigratesOneManager(t *testing.T) {
	for name, c := range map[string]struct{ options, from, gone string }{
		"by default":             {"ServerSideApply=true", "", "kubectl-client-side-apply"},
		"as the annotation says": {"ServerSideApply=true", "ci", "ci"},
		"switched off":           {"ServerSideApply=true ClientSideApplyMigration=false", "ci", ""},
	} {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: content(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`)}
			var entries []metav1.ManagedFieldsEntry
			for _, manager := range []string{"kubectl-client-side-apply", "ci", "somebody"} {
				fields := &metav1.FieldsV1{}
				fields.SetRawBytes([]byte(`{"f:data":{"f:` + manager + `":{}}}`))
				entries = append(entries, metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: fields})
			}
			live.SetManagedFields(entries)
			applier := argocd.NewApplier(&argocd.Application{SyncOptions: strings.Fields(c.options), MigratesFrom: c.from}, settings())
			treatment, err := applier.Treat(manifest.Object{Content: live.Object}, live)
			assert.NilError(t, err)
			assert.Equal(t, treatment.Before != nil, c.gone != "")
			if c.gone == "" {
				return
			}
			assert.NilError(t, treatment.Before(live))
			held := map[string]string{}
			for _, entry := range live.GetManagedFields() {
				held[entry.Manager] = string(entry.Operation) + string(entry.FieldsV1.GetRawBytes())
			}
			assert.Equal(t, held["argocd-controller"], `Apply{"f:data":{"f:`+c.gone+`":{}}}`)
			_, there := held[c.gone]
			assert.Assert(t, !there && len(held) == 3, "%v", held)
		})
	}
}

func TestIgnoredDifferencesKeepTheirLiveValuesWhereThatIsAsked(t *testing.T) {
	desired := manifest.Object{Content: content(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: team-a}, spec: {replicas: 2, paused: true}}`)}
	live := &unstructured.Unstructured{Object: content(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: team-a},
  spec: {replicas: 7, strategy: {type: x}, template: {spec: {containers: [{name: a, image: x}, {name: b, image: y}]}}}}`)}
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "hpa", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)}})
	for name, c := range map[string]struct {
		options, rules string
		want, failure  string
	}{
		"not asked":              {"", `[{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]`, ``, ""},
		"a value":                {"RespectIgnoreDifferences=true", `[{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]`, `{replicas: 7, paused: true}`, ""},
		"every kind":             {"RespectIgnoreDifferences=true", `[{group: "*", kind: "*", jsonPointers: [/spec/replicas]}]`, `{replicas: 7, paused: true}`, ""},
		"one that is not there":  {"RespectIgnoreDifferences=true", `[{group: apps, kind: Deployment, jsonPointers: [/spec/paused, /spec/strategy/type]}]`, `{replicas: 2}`, ""},
		"of another name":        {"RespectIgnoreDifferences=true", `[{group: apps, kind: Deployment, name: api, jsonPointers: [/spec/replicas]}]`, ``, ""},
		"of another namespace":   {"RespectIgnoreDifferences=true", `[{group: apps, kind: Deployment, namespace: team-b, jsonPointers: [/spec/replicas]}]`, ``, ""},
		"a query":                {"RespectIgnoreDifferences=true", `[{group: apps, kind: Deployment, jqPathExpressions: [.spec.replicas]}]`, `{replicas: 7, paused: true}`, ""},
		"a query of another":     {"RespectIgnoreDifferences=true", `[{group: apps, kind: StatefulSet, jqPathExpressions: [.spec.replicas]}]`, ``, ""},
		"a query that is none":   {"", `[{group: apps, kind: StatefulSet, jqPathExpressions: ["((("]}]`, ``, "jq cannot parse ((("},
		"a function that is not": {"", `[{group: apps, kind: StatefulSet, jqPathExpressions: [.a | b]}]`, ``, "jq cannot compile .a | b"},
		"a manager's":            {"RespectIgnoreDifferences=true", `[{group: apps, kind: Deployment, managedFieldsManagers: [hpa]}]`, `{replicas: 7, paused: true}`, ""},
		"another manager's":      {"RespectIgnoreDifferences=true", `[{group: apps, kind: Deployment, managedFieldsManagers: [vpa]}]`, ``, ""},
		"a rule of another form": {"RespectIgnoreDifferences=true", `[{kind: 1}]`, ``, "spec.ignoreDifferences of the Application"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &argocd.Application{Name: "shop", SyncOptions: strings.Fields(c.options)}
			a.IgnoreDifferences = content(t, "rules: "+c.rules)["rules"].([]any)
			got, err := argocd.NewApplier(a, settings()).Treat(desired, live)
			if c.failure != "" {
				assert.ErrorContains(t, err, c.failure)
				return
			}
			assert.NilError(t, err)
			if got.Typed != nil {
				got, err = got.Typed(typed.DeducedParseableType)
				assert.NilError(t, err)
			}
			assert.Equal(t, got.Content != nil, c.want != "")
			if c.want != "" {
				have, _ := (&unstructured.Unstructured{Object: map[string]any{"kind": "x", "spec": got.Content["spec"]}}).MarshalJSON()
				want, _ := (&unstructured.Unstructured{Object: map[string]any{"kind": "x", "spec": content(t, c.want)}}).MarshalJSON()
				assert.Equal(t, string(have), string(want))
			}
		})
	}
}

func TestObjectsOfAnApplicationThatIsNotKnownKeepItsMarks(t *testing.T) {
	live := &unstructured.Unstructured{Object: content(t, `{metadata: {annotations: {argocd.argoproj.io/tracking-id: x, other: y}, labels: {app.kubernetes.io/instance: shop}}}`)}
	const kept = "argocd.argoproj.io/tracking-id: x"
	for method, want := range map[string]string{
		"annotation":       `{annotations: {a: b, ` + kept + `}, labels: {app.kubernetes.io/instance: chart}, name: c}`,
		"label":            `{annotations: {a: b, ` + kept + `}, labels: {app.kubernetes.io/instance: shop}, name: c}`,
		"annotation+label": `{annotations: {a: b, ` + kept + `}, labels: {app.kubernetes.io/instance: shop}, name: c}`,
	} {
		given := manifest.Object{Content: content(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: {a: b}, labels: {app.kubernetes.io/instance: chart}}}`)}
		before := runtime.DeepCopyJSON(given.Content)
		applier := argocd.Unowned(false, argocd.ReadSettings("argocd", map[string]string{"application.resourceTrackingMethod": method}))
		desired, err := applier.Desired(given)
		assert.NilError(t, err)
		got, err := applier.Treat(desired, live)
		assert.NilError(t, err)
		assert.DeepEqual(t, got.Content["metadata"], any(content(t, want)))
		assert.DeepEqual(t, given.Content, before)
		fresh, err := applier.Treat(desired, nil)
		assert.NilError(t, err)
		for _, treatment := range []dryrun.Treatment{got, fresh} {
			assert.Assert(t, strings.Contains(strings.Join(treatment.Notes, "\n"), "its Application is not known"), "%v", treatment.Notes)
		}
	}
}
