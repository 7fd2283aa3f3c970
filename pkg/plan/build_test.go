package plan_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// object reads YAML as observations hold objects.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	assert.NilError(t, err)
	var out map[string]any
	assert.NilError(t, json.Unmarshal(data, &out))
	return out
}

// observation is of the ConfigMap shop/NAME; live or merged "" is absent.
func observation(t testing.TB, name, live, merged string) plan.Observation {
	t.Helper()
	form := func(rest string) map[string]any {
		if rest == "" {
			return nil
		}
		base := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", namespace: shop, uid: u-"+name+"}}")
		for key, value := range object(t, rest) {
			if key == "metadata" {
				maps.Copy(base["metadata"].(map[string]any), value.(map[string]any))
				continue
			}
			base[key] = value
		}
		return base
	}
	wanted := form(merged)
	if wanted == nil {
		wanted = form("data: {}")
	}
	delete(wanted["metadata"].(map[string]any), "uid")
	return plan.Observation{
		Object: manifest.Object{Content: wanted, Source: manifest.Source{File: name + ".yaml", Line: 1}},
		Live:   form(live), Merged: form(merged), StatusSubresource: true,
		Applier: plan.Applier{Name: "changeward", Mode: plan.ModeServerSide, Manager: "changeward"},
	}
}

func build(t testing.TB, observations ...plan.Observation) *plan.Plan {
	t.Helper()
	p, err := plan.Build(plan.Input{Cluster: plan.Cluster{Name: "prod", UID: "k"}, Scope: "apps/shop", Observations: observations})
	assert.NilError(t, err)
	return p
}

func TestAPlanSaysWhatWouldHappenToEachObject(t *testing.T) {
	failed := observation(t, "failed", `data: {a: "1"}`, "")
	failed.Failure = &plan.Failure{Reason: plan.ReasonForbidden, Message: "no"}
	unverified := observation(t, "unverified", "", "")
	unverified.Unverified = "its namespace is created by this plan"
	p := build(t,
		observation(t, "updated", `data: {feature: "false", gone: x}`, `data: {feature: "true", more: z}`),
		observation(t, "created", "", `data: {a: "1"}`),
		observation(t, "unchanged", `{data: {a: "1"}, status: {x: 1}}`, `{data: {a: "1"}, metadata: {resourceVersion: "9", managedFields: [{}]}}`),
		failed, unverified,
	)
	assert.Equal(t, plan.Text(p), `+ shop/ConfigMap/created (create)
+ shop/ConfigMap/unverified (create)
~ shop/ConfigMap/updated (update)
     data.feature: "false" → "true"
   - data.gone: "x"
   + data.more: "z"
! shop/ConfigMap/failed (error): Forbidden: no
`)
	assert.Equal(t, p.Summary(), plan.Summary{Create: 2, Update: 1, None: 1, Error: 1})
	assert.DeepEqual(t, p.Header.Unverified, []string{"/ConfigMap/shop/unverified"})
	assert.DeepEqual(t, p.Namespaces, []string{"shop"})
	assert.Assert(t, p.Reversible && !p.Complete() && !p.Empty())
	assert.Equal(t, p.Unchanged[0].Body.Name, "unchanged")
	assert.Equal(t, p.Changes[2].Body.LiveUID, "u-updated")
	assert.Equal(t, p.Changes[2].Source.String(), "updated.yaml:1")
	assert.Equal(t, p.Failed[0].Source.String(), "failed.yaml:1")
}

func TestAnObjectIsUnchangedOnlyIfEverythingAccountsForIt(t *testing.T) {
	for _, c := range []struct {
		name, live, merged string
		want               plan.Operation // "" for a failure
		note               string
	}{
		{name: "equal", live: `data: {a: "1"}`, merged: `data: {a: "1"}`, want: plan.None},
		{name: "only what the server keeps differs",
			live:   `metadata: {resourceVersion: "1", creationTimestamp: a}`,
			merged: `{metadata: {resourceVersion: "2"}, status: {x: 1}}`, want: plan.None},
		{name: "equal, and another generation", live: `metadata: {generation: 1}`, merged: `metadata: {generation: 2}`},
		{name: "equal, and a generation for the first time", live: `data: {}`, merged: `{data: {}, metadata: {generation: 1}}`},
		{name: "another uid", live: `metadata: {uid: a}`, merged: `metadata: {uid: b}`},
		{name: "no answer", live: `data: {}`},
		{name: "being deleted", live: `data: {}`, merged: `{data: {}, metadata: {deletionTimestamp: x}}`, want: plan.Update},
		{name: "last-applied is bookkeeping", live: `metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: a}}`,
			merged: `metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: b}}`, want: plan.None},
		{name: "its loss is a note", live: `metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: a}}`,
			merged: `metadata: {}`, want: plan.None, note: "the annotation kubectl.kubernetes.io/last-applied-configuration will be gone"},
		{name: "so is its first appearance", merged: `metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: a}}`,
			live: `metadata: {}`, want: plan.None, note: "the annotation kubectl.kubernetes.io/last-applied-configuration will be there for the first time"},
		{name: "empty is not absent", live: `data: {}`, merged: `metadata: {}`, want: plan.Update},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := build(t, observation(t, "a", c.live, c.merged))
			all := slices.Concat(p.Changes, p.Unchanged)
			if c.want == "" {
				assert.Equal(t, p.Failed[0].Reason, plan.ReasonUnaccounted)
				assert.Equal(t, len(all), 0)
				return
			}
			assert.Equal(t, len(p.Failed), 0, "%v", p.Failed)
			assert.Equal(t, all[0].Body.Operation, c.want)
			if c.note != "" {
				assert.DeepEqual(t, all[0].Notes, []string{c.note})
			}
		})
	}
}

func TestAnObjectThatIsNowhereAndUncheckedIsNoCreate(t *testing.T) {
	p := build(t, observation(t, "a", "", ""))
	assert.Equal(t, p.Failed[0].Reason, plan.ReasonUnaccounted)
}

func TestAValueWithoutAJSONFormFailsItsObjectOnly(t *testing.T) {
	bad := observation(t, "bad", "", `data: {}`)
	bad.Object.Content["data"] = map[string]any{"x": math.NaN()}
	p := build(t, bad, observation(t, "good", "", `data: {}`))
	assert.Equal(t, p.Failed[0].Reason, plan.ReasonInvalid)
	assert.Equal(t, len(p.Changes), 1)
}

func TestStatusCountsWhereItIsNoSubresource(t *testing.T) {
	o := observation(t, "a", `status: {x: 1}`, `status: {x: 2}`)
	assert.Assert(t, build(t, o).Empty())
	o.StatusSubresource = false
	assert.Equal(t, plan.Text(build(t, o)), "~ shop/ConfigMap/a (update)\n     status.x: 1 → 2\n")
}

func TestProblemsAndWarningsAreKept(t *testing.T) {
	o := observation(t, "b", "", `data: {}`)
	o.Warnings, o.Notes = []string{"deprecated", "deprecated"}, []string{"a note"}
	p, err := plan.Build(plan.Input{
		Observations: []plan.Observation{o},
		Problems: []plan.Failed{
			{Key: manifest.Key{Kind: "Gadget", Name: "z"}, Failure: plan.Failure{Reason: plan.ReasonUnknownKind}},
			{Key: manifest.Key{Kind: "ConfigMap", Namespace: "other", Name: "a"}, Failure: plan.Failure{Reason: plan.ReasonNotFound}},
		},
	})
	assert.NilError(t, err)
	assert.Equal(t, p.Failed[0].Key.Name, "a")
	assert.Equal(t, p.Failed[1].Key.Name, "z")
	assert.DeepEqual(t, p.Warnings, []string{"shop/ConfigMap/b: deprecated"})
	assert.DeepEqual(t, p.Changes[0].Notes, []string{"a note"})
	assert.DeepEqual(t, p.Namespaces, []string{"other", "shop"})
}

func TestTheHashGoesByWhatWouldHappenAlone(t *testing.T) {
	base := func() plan.Input {
		return plan.Input{Cluster: plan.Cluster{Name: "prod", UID: "k"}, Observations: []plan.Observation{
			observation(t, "a", `{data: {x: "1", other: "1"}, metadata: {resourceVersion: "1"}}`, `data: {x: "2", other: "1"}`),
			observation(t, "b", "", `data: {y: "1"}`),
		}}
	}
	hash := func(change func(*plan.Input)) string {
		in := base()
		change(&in)
		p, err := plan.Build(in)
		assert.NilError(t, err)
		assert.Assert(t, p.Complete())
		return p.Hash
	}
	want := hash(func(*plan.Input) {})
	first := func(change func(*plan.Observation)) func(*plan.Input) {
		return func(in *plan.Input) { change(&in.Observations[0]) }
	}
	for name, change := range map[string]func(*plan.Input){
		"the order of objects": func(in *plan.Input) { slices.Reverse(in.Observations) },
		"the scope":            func(in *plan.Input) { in.Scope = "elsewhere" },
		"the applier's name":   first(func(o *plan.Observation) { o.Applier.Name = "kubectl" }),
		"the source":           first(func(o *plan.Observation) { o.Object.Source.Line = 99 }),
		"notes and warnings":   first(func(o *plan.Observation) { o.Notes, o.Warnings = []string{"n"}, []string{"w"} }),
		"an unchanged object": func(in *plan.Input) {
			in.Observations = append(in.Observations, observation(t, "c", `data: {}`, `data: {}`))
		},
		"the resource version":  first(func(o *plan.Observation) { o.Live["metadata"].(map[string]any)["resourceVersion"] = "7" }),
		"an untouched field":    first(func(o *plan.Observation) { setData(o.Live, "other", "5"); setData(o.Merged, "other", "5") }),
		"a manifest's own echo": first(func(o *plan.Observation) { setData(o.Object.Content, "other", "1") }),
	} {
		assert.Equal(t, hash(change), want, name)
	}
	for name, change := range map[string]func(*plan.Input){
		"the cluster":              func(in *plan.Input) { in.Cluster.UID = "other" },
		"the cluster's name":       func(in *plan.Input) { in.Cluster.Name = "other" },
		"prune":                    func(in *plan.Input) { in.Prune = true },
		"the mode":                 first(func(o *plan.Observation) { o.Applier.Mode = plan.ModePut }),
		"the manager":              first(func(o *plan.Observation) { o.Applier.Manager = "kubectl" }),
		"force":                    first(func(o *plan.Observation) { o.Applier.Force = true }),
		"the old value":            first(func(o *plan.Observation) { setData(o.Live, "x", "0") }),
		"the new value":            first(func(o *plan.Observation) { setData(o.Merged, "x", "3") }),
		"who loses a value":        first(func(o *plan.Observation) { o.TakesOver = []plan.Takeover{{Manager: "m", Path: "data.x"}} }),
		"another object of a name": first(func(o *plan.Observation) { setUID(o.Live, "n"); setUID(o.Merged, "n") }),
		"what the server adds": func(in *plan.Input) {
			in.Observations[1].Admission = []plan.AdmissionValue{{Path: "data.z", Value: "1"}}
		},
		"that it could not check":   func(in *plan.Input) { in.Observations[1].Unverified = "x" },
		"one object less":           func(in *plan.Input) { in.Observations = in.Observations[:1] },
		"a steering annotation":     first(func(o *plan.Observation) { annotate(o, "argocd.argoproj.io/sync-options", "Prune=false") }),
		"another version of a kind": first(func(o *plan.Observation) { o.Object.Content["apiVersion"] = "v2" }),
	} {
		assert.Assert(t, hash(change) != want, name)
	}
}

func setData(object map[string]any, key, value string) {
	object["data"].(map[string]any)[key] = value
}

func setUID(object map[string]any, uid string) { object["metadata"].(map[string]any)["uid"] = uid }

// annotate puts an annotation on the manifest, where LIVE has it already.
func annotate(o *plan.Observation, key, value string) {
	for _, object := range []map[string]any{o.Object.Content, o.Live, o.Merged} {
		object["metadata"].(map[string]any)["annotations"] = map[string]any{key: value}
	}
}

func TestAPlanOf300ObjectsHashesTheSameInAnyOrder(t *testing.T) {
	observations := deployments(300)
	want := build(t, observations...).Hash
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(observations), func(i, j int) { observations[i], observations[j] = observations[j], observations[i] })
		assert.Equal(t, build(t, observations...).Hash, want)
	}
}

func TestMaskedValuesAreBoundByTheirTag(t *testing.T) {
	secret := func(tag string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "shop"},
			"data": map[string]any{"pw": state.Masked{Tag: tag}, "same": state.Masked{Tag: "k:0"}},
		}
	}
	of := func(tag string) *plan.Plan {
		return build(t, plan.Observation{Object: manifest.Object{Content: secret(tag)}, Live: secret("k:1"), Merged: secret(tag)})
	}
	assert.Assert(t, of("k:1").Empty())
	assert.Equal(t, plan.Text(of("k:2")), "~ shop/Secret/s (update)\n     data.pw: (masked) → (masked)\n")
	assert.Assert(t, of("k:2").Hash != of("k:3").Hash)
	assert.Equal(t, fmt.Sprint(plan.Shown(of("k:2").Changes[0].Body.Transitions[0].New)), "map[masked:true]")
}

// caseFile is one of the real inputs in testdata/cases.
func caseFile(t *testing.T, name string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../testdata/cases", name))
	assert.NilError(t, err)
	return object(t, string(data))
}
