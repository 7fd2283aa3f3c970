package plan_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// twice looks at ConfigMap m as it is and would be, then once more.
func twice(t *testing.T, live, merged, liveAgain, mergedAgain string) (plan.Observation, bool) {
	t.Helper()
	return plan.Twice(observation(t, "m", live, merged), observation(t, "m", liveAgain, mergedAgain))
}

func TestAValueThatDiffersBetweenTwoDryRunsIsNamedAndMarked(t *testing.T) {
	live := `data: {a: "1", stamp: "10:00"}`
	o, moved := twice(t, live, `data: {a: "2", stamp: "10:05"}`, live, `data: {a: "2", stamp: "10:06"}`)
	assert.Assert(t, !moved)
	p := build(t, o)
	assert.Equal(t, plan.Text(p), `~ shop/ConfigMap/m (update)
     data.a: "1" → "2"
     data.stamp: (differs from run to run)
`)
	assert.DeepEqual(t, p.Changes[0].Notes, []string{"differs from one dry run to the next: data.stamp"})

	later, _ := twice(t, live, `data: {a: "2", stamp: "23:59"}`, live, `data: {a: "2", stamp: "00:00"}`)
	assert.Equal(t, build(t, later).Hash, p.Hash)
	absent, _ := twice(t, `data: {a: "1"}`, `data: {a: "2", stamp: "1"}`, `data: {a: "1"}`, `data: {a: "2", stamp: "2"}`)
	assert.Equal(t, build(t, absent).Hash, p.Hash, "whether there was such a value before says nothing")
	changed, _ := twice(t, live, `data: {a: "3", stamp: "1"}`, live, `data: {a: "3", stamp: "2"}`)
	assert.Assert(t, build(t, changed).Hash != p.Hash, "the other values are bound")

	encoded, err := plan.Encode(p)
	assert.NilError(t, err)
	decoded, err := plan.Decode(encoded)
	assert.NilError(t, err)
	assert.Equal(t, decoded.Hash, p.Hash)
	assert.Equal(t, plan.Text(decoded), plan.Text(p))
}

func TestWhatDoesNotDifferLeavesTheHashAsItIs(t *testing.T) {
	live, merged := `data: {a: "1"}`, `data: {a: "2"}`
	o, moved := twice(t, live, merged, live, merged)
	assert.Assert(t, !moved)
	assert.Equal(t, build(t, o).Hash, build(t, observation(t, "m", live, merged)).Hash)
}

func TestAForeignWriteInBetweenIsNotTakenForRandom(t *testing.T) {
	for name, test := range map[string]struct {
		live, merged, liveAgain, mergedAgain string
		moved                                bool
	}{
		"elsewhere":            {`data: {a: "1", m: "1"}`, `data: {a: "2", m: "1"}`, `data: {a: "1", m: "7"}`, `data: {a: "2", m: "7"}`, false},
		"what changes":         {`data: {a: "1"}`, `data: {a: "2"}`, `data: {a: "0"}`, `data: {a: "2"}`, true},
		"a list becomes null":  {`data: {a: [x]}`, `data: {a: null}`, `data: {a: [x]}`, `data: {a: null}`, false},
		"what was equal":       {`data: {a: "1", b: "1"}`, `data: {a: "2", b: "1"}`, `data: {a: "1", b: "0"}`, `data: {a: "2", b: "1"}`, true},
		"applied in between":   {`data: {a: "1"}`, `data: {a: "2"}`, `data: {a: "2"}`, `data: {a: "2"}`, true},
		"created in between":   {"", `data: {a: "2"}`, `data: {a: "2"}`, `data: {a: "2"}`, true},
		"the random value too": {`data: {a: "1", r: x}`, `data: {a: "2", r: y}`, `data: {a: "1", r: z}`, `data: {a: "2", r: w}`, false},
	} {
		o, moved := twice(t, test.live, test.merged, test.liveAgain, test.mergedAgain)
		assert.Equal(t, moved, test.moved, name)
		if !moved {
			assert.Equal(t, len(build(t, o).Failed), 0, name)
		}
	}
	calm, _ := twice(t, `data: {a: "1"}`, `data: {a: "2"}`, `data: {a: "1"}`, `data: {a: "2"}`)
	busy, _ := twice(t, `data: {a: "1", m: "1"}`, `data: {a: "2", m: "1"}`, `data: {a: "1", m: "7"}`, `data: {a: "2", m: "7"}`)
	assert.Equal(t, build(t, busy).Hash, build(t, calm).Hash)
}

func TestFieldsThatComeAndGoAtRandomCannotBeBound(t *testing.T) {
	live := `data: {a: "1"}`
	o, moved := twice(t, live, `data: {a: "2", k-17: x}`, live, `data: {a: "2", k-42: x}`)
	assert.Assert(t, !moved)
	p := build(t, o)
	assert.Equal(t, p.Failed[0].Reason, plan.ReasonRandom)
	assert.Assert(t, is.Contains(p.Failed[0].Message, "data.k-17, data.k-42"))

	o.Merged["data"] = map[string]any{"a": "2"}
	assert.Equal(t, build(t, o).Failed[0].Reason, plan.ReasonRandom)
}

func TestAnObjectOfWhichOnlyAnnotationsAreDrawnAnewIsUnchanged(t *testing.T) {
	form := func(stamp, data string) string {
		return `{data: {a: "` + data + `"}, metadata: {annotations: {stamp: "` + stamp + `"}}}`
	}
	o, moved := twice(t, form("1", "x"), form("2", "x"), form("1", "x"), form("3", "x"))
	assert.Assert(t, !moved)
	p := build(t, o)
	assert.Assert(t, p.Empty() && p.Complete())
	assert.DeepEqual(t, p.Warnings, []string{"shop/ConfigMap/m: metadata.annotations.stamp would get another value, as at each write"})

	o, _ = twice(t, form("1", "x"), form("2", "y"), form("1", "x"), form("1", "y"))
	within, _ := twice(t, form("1", "x"), form("1", "y"), form("1", "x"), form("2", "y"))
	assert.Equal(t, build(t, within).Hash, build(t, o).Hash, "within its second, LIVE has the same stamp")
	assert.Equal(t, plan.Text(build(t, o)), `~ shop/ConfigMap/m (update)
     data.a: "x" → "y"
     metadata.annotations.stamp: (differs from run to run)
`)
	data, _ := twice(t, `data: {stamp: "1"}`, `data: {stamp: "2"}`, `data: {stamp: "1"}`, `data: {stamp: "3"}`)
	assert.Equal(t, len(build(t, data).Changes), 1, "other fields are shown")
}

// created is a new ConfigMap to which admission adds values, other ones in a
// second look.
func created(t *testing.T, first, second []plan.AdmissionValue) plan.Observation {
	t.Helper()
	a, b := observation(t, "m", "", `data: {a: "1"}`), observation(t, "m", "", `data: {a: "1"}`)
	a.Admission, b.Admission = first, second
	o, moved := plan.Twice(a, b)
	assert.Assert(t, !moved)
	return o
}

func TestWhatAdmissionAddsIsBoundButForWhatDiffers(t *testing.T) {
	sidecar := func(image, id string) []plan.AdmissionValue {
		return []plan.AdmissionValue{{Path: "uid", Value: id},
			{Path: `spec.containers[name="s"]`, Value: map[string]any{"name": "s", "image": image, "env": []any{map[string]any{"value": id}}}}}
	}
	p := build(t, created(t, sidecar("s:1", "x"), sidecar("s:1", "y")))
	assert.Equal(t, plan.Text(p), `+ shop/ConfigMap/m (create)
     set by admission: spec.containers[name="s"] = {"env":[{"value":{"mark":"differs"}}],"image":"s:1","name":"s"}
     uid (set by admission, differs each time)
`)
	assert.Equal(t, build(t, created(t, sidecar("s:1", "v"), sidecar("s:1", "w"))).Hash, p.Hash)
	assert.Assert(t, build(t, created(t, sidecar("s:2", "v"), sidecar("s:2", "w"))).Hash != p.Hash)

	tossed := build(t, created(t, sidecar("s:1", "x"), sidecar("s:1", "x")[:1]))
	assert.Equal(t, tossed.Failed[0].Reason, plan.ReasonRandom)
	longer := sidecar("s:1", "x")
	longer[1].Value.(map[string]any)["env"] = []any{}
	assert.Equal(t, build(t, created(t, sidecar("s:1", "x"), longer)).Failed[0].Reason, plan.ReasonRandom)
}

func TestAGraveFieldWithARandomValueIsARisk(t *testing.T) {
	pod := podOf(`hostNetwork: true`)
	var want []string
	for _, path := range []string{"spec.hostNetwork", `spec.containers[name="c"].image`} {
		o := plan.Observation{Object: manifest.Object{Content: object(t, pod)}, Merged: object(t, pod),
			Admission: []plan.AdmissionValue{{Path: path, Mark: plan.MarkDiffers}}}
		want = append(want, riskText(build(t, o).Changes[0].Risks))
	}
	assert.Assert(t, is.Contains(want[0], "privileged"))
	assert.Assert(t, is.Contains(want[1], "image: (differs from run to run)"))
}

func TestPolicyLeavesPathsOut(t *testing.T) {
	paths := []string{`metadata.annotations["x.io/stamp"]`, "data.noise"}
	with := func(observations ...plan.Observation) *plan.Plan {
		p, err := plan.Build(plan.Input{Cluster: plan.Cluster{Name: "prod", UID: "k"}, Scope: "apps/shop", Observations: observations, IgnorePaths: paths})
		assert.NilError(t, err)
		return p
	}
	noisy := with(observation(t, "m", `data: {a: "1", noise: x}`, `{data: {a: "2", noise: y, noise-2: z}, metadata: {annotations: {x.io/stamp: "9"}}}`))
	assert.Equal(t, plan.Text(noisy), `~ shop/ConfigMap/m (update)
     data.a: "1" → "2"
   + data.noise-2: "z"
`)
	assert.DeepEqual(t, noisy.Changes[0].Notes, []string{`left out, as policy says: data.noise, metadata.annotations["x.io/stamp"]`})

	only := with(observation(t, "m", `{data: {a: "1", noise: x}, metadata: {generation: 1}}`, `{data: {a: "1", noise: y}, metadata: {generation: 2}}`))
	assert.Assert(t, only.Empty() && only.Complete())
	assert.Equal(t, only.Unchanged[0].Notes[0], "left out, as policy says: data.noise")

	random, _ := twice(t, `data: {a: "1"}`, `data: {a: "2", noise: x}`, `data: {a: "1"}`, `data: {a: "2"}`)
	assert.Assert(t, with(random).Complete(), "what is left out may come and go")

	fresh := observation(t, "m", "", `data: {a: "1", noise: x}`)
	fresh.Admission = []plan.AdmissionValue{{Path: "data.noise", Value: "z"}, {Path: "data.more", Value: "w"}}
	assert.Equal(t, len(with(fresh).Changes[0].Body.Admission), 1)
	assert.Assert(t, strings.Contains(plan.ValueText(with(fresh).Changes[0].Body.Object), "noise"), "what the manifest says is never left out")
}

func TestAnIgnoredPathCoversWhatIsBelowAndNothingElse(t *testing.T) {
	for _, test := range []struct {
		ignored, path string
		want          bool
	}{
		{"data.a", "data.a", true},
		{"data.a", "data.a.b", true},
		{"data.a", "data.ab", false},
		{"data.a", "data", false},
		{`spec.containers[name="s"]`, `spec.containers[name="s"].image`, true},
		{`spec.containers[name="s"]`, `spec.containers[name="t"].image`, false},
		{`spec.containers[*].env`, `spec.containers[name="t"].env[name="A"].value`, true},
		{`spec.containers[*].env`, `spec.containers.env`, false},
	} {
		assert.Equal(t, plan.Ignores([]string{test.ignored}, test.path), test.want, "%s %s", test.ignored, test.path)
	}
}

func TestPolicyMayBindWholeObjects(t *testing.T) {
	with := func(o plan.Observation, paths ...string) *plan.Plan {
		p, err := plan.Build(plan.Input{Observations: []plan.Observation{o}, WholeObjects: true, IgnorePaths: paths})
		assert.NilError(t, err)
		return p
	}
	base := with(observation(t, "m", `{data: {a: "1", m: "1"}, metadata: {resourceVersion: "7"}, status: {x: 1}}`, `data: {a: "2", m: "1"}`))
	same := with(observation(t, "m", `{data: {a: "1", m: "1"}, metadata: {resourceVersion: "9"}, status: {x: 2}}`, `data: {a: "2", m: "1"}`))
	assert.Equal(t, same.Hash, base.Hash)
	moved := observation(t, "m", `data: {a: "1", m: "7"}`, `data: {a: "2", m: "7"}`)
	assert.Assert(t, with(moved).Hash != base.Hash)
	assert.Equal(t, with(moved, "data.m").Hash, with(observation(t, "m", `data: {a: "1"}`, `data: {a: "2"}`), "data.m").Hash)

	encoded, err := plan.Encode(base)
	assert.NilError(t, err)
	decoded, err := plan.Decode(encoded)
	assert.NilError(t, err)
	assert.Equal(t, decoded.Hash, base.Hash)
}
