package plan

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

type object = map[string]any

func envs(names ...string) []any {
	var out []any
	for _, name := range names {
		out = append(out, object{"name": name, "value": "v"})
	}
	return out
}

func TestFieldsArePutBackAndNothingElse(t *testing.T) {
	secret := state.Masked{Tag: "k:1"}
	for name, test := range map[string]struct {
		transition   diff.Transition
		before, live object
		want         object
	}{
		"changed": {diff.Transition{Path: "data.a", Action: diff.Change, Old: "1", New: "2"},
			object{"data": object{"a": "1"}}, object{"data": object{"a": "2", "b": "x"}}, object{"data": object{"a": "1", "b": "x"}}},
		"added": {diff.Transition{Path: "data.a", Action: diff.Add, New: "2"},
			object{}, object{"data": object{"a": "2", "b": "x"}}, object{"data": object{"b": "x"}}},
		"added, gone again": {diff.Transition{Path: "data.a", Action: diff.Add, New: "2"}, object{}, object{}, object{}},
		"removed": {diff.Transition{Path: "data.a.b", Action: diff.Remove, Old: "1"},
			object{}, object{}, object{"data": object{"a": object{"b": "1"}}}},
		"a removed entry comes back in its place": {diff.Transition{Path: `env[name="B"]`, Action: diff.Remove, Old: envs("B")[0]},
			object{"env": envs("A", "B", "C")}, object{"env": envs("A", "C", "D")}, object{"env": envs("A", "B", "C", "D")}},
		"an added entry goes": {diff.Transition{Path: `env[name="B"]`, Action: diff.Add, New: envs("B")[0]},
			object{}, object{"env": envs("A", "B", "C")}, object{"env": envs("A", "C")}},
		"a value within an entry": {diff.Transition{Path: `env[name="B"].value`, Action: diff.Change, Old: "old", New: "v"},
			object{}, object{"env": envs("A", "B")}, object{"env": []any{envs("A")[0], object{"name": "B", "value": "old"}}}},
		"the order": {diff.Transition{Path: "env", Action: diff.Order, Old: []any{"A", "B"}, New: []any{"B", "A"}},
			object{}, object{"env": envs("B", "X", "A")}, object{"env": envs("A", "X", "B")}},
		"the order of entries whose name is no key": {diff.Transition{Path: "mounts", Action: diff.Order, Old: []any{"/a", "/b"}, New: []any{"/b", "/a"}},
			object{}, object{"mounts": mounts("/b", "/a")}, object{"mounts": mounts("/a", "/b")}},
		"a member of a set": {diff.Transition{Path: `metadata.finalizers[="f"]`, Action: diff.Remove, Old: "f"},
			object{"metadata": object{"finalizers": []any{"e", "f"}}}, object{"metadata": object{"finalizers": []any{"e"}}},
			object{"metadata": object{"finalizers": []any{"e", "f"}}}},
		"a value that is not kept stays": {diff.Transition{Path: "data.a", Action: diff.Change, Old: secret, New: secret},
			object{}, object{"data": object{"a": "eA=="}}, object{"data": object{"a": "eA=="}}},
	} {
		t.Run(name, func(t *testing.T) {
			body := Body{Kind: "X", Name: "x", Operation: Update, Transitions: []diff.Transition{test.transition}}
			back := Back{priors: map[manifest.Key]Prior{body.Key(): {Object: test.before}}}
			untouched := manifest.DeepCopy(test.live)
			assert.DeepEqual(t, back.Reverted(body, test.live), test.want)
			assert.DeepEqual(t, any(test.live), untouched)
		})
	}
}

// mounts are entries of a list whose key is their path.
func mounts(paths ...string) (out []any) {
	for _, path := range paths {
		out = append(out, object{"name": "data", "mountPath": path})
	}
	return out
}

func TestDifferencesAreOfWhatTheChangeTouchesAlone(t *testing.T) {
	live := object{"metadata": object{"uid": "u1", "labels": object{"a": "1"}}, "data": object{"a": "2", "b": "x"}, "env": envs("B", "A"),
		"limits": object{"cpu": "1"}}
	update := func(transitions ...diff.Transition) Body {
		return Body{Operation: Update, LiveUID: "u1", Transitions: transitions}
	}
	create := func(content object) Body { return Body{Operation: Create, Object: content} }
	for name, test := range map[string]struct {
		body Body
		live object
		want []string
	}{
		"as approved":       {update(diff.Transition{Path: "data.a", Action: diff.Change, Old: "1", New: "2"}), live, nil},
		"changed":           {update(diff.Transition{Path: "data.a", Action: diff.Change, Old: "1", New: "3"}), live, []string{"data.a"}},
		"not there":         {update(diff.Transition{Path: "data.c", Action: diff.Add, New: "3"}), live, []string{"data.c (before)"}},
		"still there":       {update(diff.Transition{Path: "data.b", Action: diff.Remove, Old: "x"}), live, []string{"data.b (before)"}},
		"ordered":           {update(diff.Transition{Path: "env", Action: diff.Order, Old: []any{"A", "B"}, New: []any{"B", "A"}}), live, nil},
		"ordered as before": {update(diff.Transition{Path: "env", Action: diff.Order, Old: []any{"B", "A"}, New: []any{"A", "B"}}), live, []string{"env (before)"}},
		"mounts not ordered": {update(diff.Transition{Path: "mounts", Action: diff.Order, Old: []any{"/b", "/a"}, New: []any{"/a", "/b"}}),
			object{"metadata": object{"uid": "u1"}, "mounts": mounts("/b", "/a")}, []string{"mounts (before)"}},
		"another each time":   {update(diff.Transition{Path: "data.a", Action: diff.Change, Old: "1", New: object{"mark": MarkDiffers}}), live, nil},
		"made anew":           {Body{Operation: Update, LiveUID: "u0"}, live, []string{"it was deleted and made anew"}},
		"deleted":             {Body{Operation: Update, LiveUID: "u1"}, nil, []string{"it is not there"}},
		"deleted as approved": {Body{Operation: Delete, LiveUID: "u1"}, nil, nil},
		"not deleted":         {Body{Operation: Delete, LiveUID: "u1"}, live, []string{"it is still there (before)"}},
		"another by its name": {Body{Operation: Delete, LiveUID: "u0"}, live, nil},
		"created":             {create(object{"data": object{"a": "2"}, "empty": object{}, "limits": object{"cpu": "1000m"}}), live, nil},
		"created, edited":     {create(object{"data": object{"a": "2", "b": "y"}}), live, []string{"data.b"}},
		"created, gone":       {create(object{}), nil, []string{"it is not there (before)"}},
		"a hook":              {Body{Operation: Hook}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range Differences(test.body, Sight{Object: test.live}) {
				text := d.Path + d.Why
				if d.Before {
					text += " (before)"
				}
				got = append(got, text)
			}
			assert.DeepEqual(t, got, test.want)
		})
	}
}

func TestADifferenceNamesWhoWroteTheNearestField(t *testing.T) {
	s := Sight{Holders: map[string]Holder{"spec": {Manager: "far"}, "spec.replicas": {Manager: "near"}, "data.a.b": {Manager: "below"}}}
	assert.Equal(t, s.holder("spec.replicas").Manager, "near")
	assert.Equal(t, s.holder("spec.other").Manager, "far")
	assert.Equal(t, s.holder("nothing").Manager, "")
}
