package diff_test

import (
	"math/rand/v2"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

func TestNoPathHasTwoTransitions(t *testing.T) {
	values := []string{`{}`, `{a: null}`, `{a: 1}`, `{a: x}`, `{a: []}`, `{a: [1]}`, `{a: [1, 2]}`, `{a: [{b: 1}]}`, `{a: {}}`, `{a: {b: 1}}`, `{a: {b: {}}}`}
	for _, live := range values {
		for _, merged := range values {
			seen := map[string]bool{}
			for _, transition := range diff.Objects(decoded(t, live), decoded(t, merged), nil, nil) {
				assert.Check(t, !seen[transition.Path], "%s to %s: %s", live, merged, transition.Path)
				seen[transition.Path] = true
			}
		}
	}
}

func TestTransitions(t *testing.T) {
	pod := realSchemas(t).of(t, "v1", "Pod")
	env := func(entries string) string { return `spec: {containers: [{name: c, env: [` + entries + `]}]}` }
	for _, c := range []struct {
		name                  string
		live, merged, desired string
		schema                *diff.Schema
		want                  []string
	}{
		{name: "equal objects have none", live: `{a: {b: [1, 2]}, c: null}`, merged: `{c: null, a: {b: [1, 2]}}`, want: []string{}},
		{name: "a parent that is new does not change a leaf's path", live: `{}`, merged: `{a: {b: {c: 1}}}`, want: []string{`+ a.b.c: 1`}},
		{name: "nor does an empty one", live: `{a: {}}`, merged: `{a: {b: {c: 1}}}`, want: []string{`+ a.b.c: 1`}},
		{name: "a parent that goes", live: `{a: {b: {c: 1, d: 2}}}`, merged: `{}`, want: []string{`- a.b.c: 1`, `- a.b.d: 2`}},
		{name: "a map left empty is another than none", live: `{a: {b: 1}}`, merged: `{a: {}}`, want: []string{`- a.b: 1`, `+ a: {}`}},
		{name: "an empty map comes", live: `{}`, merged: `{a: {}}`, want: []string{`+ a: {}`}},
		{name: "an empty map goes", live: `{a: {}}`, merged: `{}`, want: []string{`- a: {}`}},
		{name: "null is a value", live: `{a: null}`, merged: `{}`, want: []string{`- a: null`}},
		{name: "null becomes a value", live: `{a: null}`, merged: `{a: 1}`, want: []string{`a: null → 1`}},
		{name: "a scalar becomes a map", live: `{a: 1}`, merged: `{a: {b: 1}}`, want: []string{`- a: 1`, `+ a.b: 1`}},
		{name: "a list becomes a scalar", live: `{a: [1]}`, merged: `{a: x}`, want: []string{`a: [1] → "x"`}},
		{name: "a list becomes null", live: `{a: [1]}`, merged: `{a: null}`, want: []string{`a: [1] → null`}},
		{name: "64 bits are exact", live: `{a: 9007199254740993}`, merged: `{a: 9007199254740992}`, want: []string{`a: 9007199254740993 → 9007199254740992`}},
		{name: "a number is no string", live: `{a: 1}`, merged: `{a: "1"}`, want: []string{`a: 1 → "1"`}},
		{name: "without a schema a list is atomic", live: `{a: [{name: x}]}`, merged: `{a: [{name: z}]}`, want: []string{`a[0].name: "x" → "z"`}},
		{name: "and changes whole when its length does", live: `{a: [1]}`, merged: `{a: [1, 2]}`, want: []string{`a: [1] → [1,2]`}},
		{name: "paths quote what is not bare", live: `{}`, merged: `{a: {"b.c/d": {e: 1}}}`, want: []string{`+ a["b.c/d"].e: 1`}},
		{name: "a key's default stands in where it is not written", schema: pod,
			live:   `spec: {containers: [{name: c, ports: [{containerPort: 80, protocol: TCP}]}]}`,
			merged: `spec: {containers: [{name: c, ports: [{containerPort: 80, name: http}]}]}`,
			want: []string{
				`+ spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].name: "http"`,
				`- spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].protocol: "TCP"`,
			}},
		{name: "a list that is new is its entries, in their order", schema: pod,
			live: `spec: {containers: [{name: c}]}`, merged: env(`{name: Z}, {name: A}`),
			want: []string{`+ spec.containers[name="c"].env[name="Z"]: {"name":"Z"}`, `+ spec.containers[name="c"].env[name="A"]: {"name":"A"}`}},
		{name: "a key twice in LIVE changes the list whole", schema: pod,
			live: env(`{name: M, value: a}, {name: Z}, {name: M, value: b}`), merged: env(`{name: M, value: b}, {name: Z}`),
			want: []string{`spec.containers[name="c"].env: [{"name":"M","value":"a"},{"name":"Z"},{"name":"M","value":"b"}] → [{"name":"M","value":"b"},{"name":"Z"}]`}},
		{name: "also when its length stays", schema: pod,
			live: env(`{name: M, value: a}, {name: M, value: b}`), merged: env(`{name: M, value: b}, {name: M, value: a}`),
			want: []string{`spec.containers[name="c"].env: [{"name":"M","value":"a"},{"name":"M","value":"b"}] → [{"name":"M","value":"b"},{"name":"M","value":"a"}]`}},
		{name: "an entry added behind is no order", schema: pod,
			live: env(`{name: A}, {name: B}`), merged: env(`{name: A}, {name: B}, {name: C}`),
			want: []string{`+ spec.containers[name="c"].env[name="C"]: {"name":"C"}`}},
		{name: "an entry added in front is", schema: pod,
			live: env(`{name: A}, {name: B}`), merged: env(`{name: C}, {name: A}, {name: B}`),
			want: []string{`+ spec.containers[name="c"].env[name="C"]: {"name":"C"}`,
				`order spec.containers[name="c"].env: ["A","B"] → ["C","A","B"]`}},
		{name: "order is that of the manifest's own entries", schema: pod,
			live: env(`{name: A}, {name: F}, {name: B}`), merged: env(`{name: B}, {name: F}, {name: A}`), desired: env(`{name: B}, {name: A}`),
			want: []string{`order spec.containers[name="c"].env: ["A","B"] → ["B","A"]`}},
		{name: "where another's entry lands among added ones is no order", schema: pod,
			live: env(`{name: A}, {name: F}`), merged: env(`{name: A}, {name: B}, {name: F}`), desired: env(`{name: A}, {name: B}`),
			want: []string{`+ spec.containers[name="c"].env[name="B"]: {"name":"B"}`}},
		{name: "if the manifest's own stay, all count", schema: pod,
			live: env(`{name: A}, {name: F}, {name: B}`), merged: env(`{name: A}, {name: B}, {name: F}`), desired: env(`{name: A}, {name: B}`),
			want: []string{`order spec.containers[name="c"].env: ["A","F","B"] → ["A","B","F"]`}},
		{name: "an entry removed is no order", schema: pod,
			live: env(`{name: A}, {name: B}, {name: C}`), merged: env(`{name: A}, {name: C}`),
			want: []string{`- spec.containers[name="c"].env[name="B"]: {"name":"B"}`}},
		{name: "several keys make an order of maps", schema: pod,
			live:   `spec: {containers: [{name: c, ports: [{containerPort: 1, protocol: TCP}, {containerPort: 2, protocol: TCP}]}]}`,
			merged: `spec: {containers: [{name: c, ports: [{containerPort: 2, protocol: TCP}, {containerPort: 1, protocol: TCP}]}]}`,
			want: []string{`order spec.containers[name="c"].ports: [{"containerPort":1,"protocol":"TCP"},{"containerPort":2,"protocol":"TCP"}]` +
				` → [{"containerPort":2,"protocol":"TCP"},{"containerPort":1,"protocol":"TCP"}]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var desired map[string]any
			if c.desired != "" {
				desired = decoded(t, c.desired)
			}
			got := diff.Objects(decoded(t, c.live), decoded(t, c.merged), desired, c.schema)
			assert.DeepEqual(t, lines(t, got), c.want)
		})
	}
}

func TestMaskedValuesDifferByTheirTag(t *testing.T) {
	secret := func(tag string) map[string]any {
		return map[string]any{"data": map[string]any{"pw": state.Masked{Tag: tag}, "same": state.Masked{Tag: "k:0"}}}
	}
	assert.Equal(t, len(diff.Objects(secret("k:1"), secret("k:1"), nil, nil)), 0)
	got := diff.Objects(secret("k:1"), secret("k:2"), nil, nil)
	assert.DeepEqual(t, lines(t, got), []string{`data.pw: {"hmac":"k:1"} → {"hmac":"k:2"}`})
}

// wild is a schema with every list kind at every depth.
func wild() *diff.Schema {
	node, text := "node", schema.String
	list := func(relation schema.ElementRelationship, element schema.TypeRef, keys ...string) schema.TypeRef {
		return schema.TypeRef{Inlined: schema.Atom{List: &schema.List{ElementType: element, ElementRelationship: relation, Keys: keys}}}
	}
	itself, scalar := schema.TypeRef{NamedType: &node}, schema.TypeRef{Inlined: schema.Atom{Scalar: &text}}
	return &diff.Schema{Root: itself, Types: &schema.Schema{Types: []schema.TypeDef{{Name: node, Atom: schema.Atom{Map: &schema.Map{
		Fields: []schema.StructField{
			{Name: "map", Type: itself},
			{Name: "keyed", Type: list(schema.Associative, itself, "name", "port")},
			{Name: "set", Type: list(schema.Associative, scalar)},
			{Name: "atomic", Type: list(schema.Atomic, itself)},
			{Name: "port", Type: scalar, Default: "TCP"},
		}, ElementType: itself,
	}}}}}}
}

// grow makes a value of any shape, often one that fits the schema.
func grow(r *rand.Rand, depth int) any {
	if depth == 0 {
		return []any{nil, true, int64(1), 1.5, "a", "b", state.Masked{Tag: "t"}, map[string]any{}, []any{}}[r.IntN(9)]
	}
	switch r.IntN(6) {
	case 0:
		return grow(r, 0)
	case 1:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, grow(r, depth-1))
		}
		return list
	default:
		members := map[string]any{}
		for range r.IntN(5) {
			key := []string{"map", "keyed", "set", "atomic", "x.y", "name", "port"}[r.IntN(7)]
			members[key] = grow(r, depth-1)
		}
		return members
	}
}

// touch changes a few places of a value.
func touch(r *rand.Rand, value any) any {
	if r.IntN(8) == 0 {
		return grow(r, 1)
	}
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			if r.IntN(8) > 0 {
				out[key] = touch(r, member)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, entry := range v {
			out = append(out, touch(r, entry))
		}
		r.Shuffle(len(out)*r.IntN(2), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	default:
		return v
	}
}

func TestThereAreTransitionsExactlyWhenObjectsDiffer(t *testing.T) {
	same, differ := 0, 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		live, _ := grow(r, 4).(map[string]any)
		merged, _ := touch(r, live).(map[string]any)
		desired, _ := touch(r, merged).(map[string]any)
		for _, s := range []*diff.Schema{nil, wild()} {
			got := diff.Objects(live, merged, desired, s)
			equal := text(t, live) == text(t, merged) || len(live)+len(merged) == 0
			assert.Equal(t, diff.Equal(live, merged), equal)
			assert.Equal(t, len(got) == 0, equal, "seed %d: %s → %s: %v", seed, text(t, live), text(t, merged), got)
			for _, tr := range got {
				_, ok := diff.ParsePath(tr.Path)
				assert.Assert(t, ok, tr.Path)
			}
			if equal {
				same++
			} else {
				differ++
			}
		}
	}
	assert.Assert(t, same > 100 && differ > 1000, "%d %d", same, differ)
}
