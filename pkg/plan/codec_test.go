package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

func encoded(t testing.TB, p *plan.Plan) []byte {
	t.Helper()
	data, err := plan.Encode(p)
	assert.NilError(t, err)
	return data
}

func TestWhatIsEncodedDecodesToTheSameChanges(t *testing.T) {
	unverified := observation(t, "c", "", "")
	unverified.Unverified = "its namespace is created by this plan"
	p := build(t, append(deployments(30), unverified,
		observation(t, "a", `data: {big: 9007199254740993, float: 1.5, no: null}`, `data: {big: 9007199254740992, list: [1, {a: "<"}]}`))...)
	q, err := plan.Decode(encoded(t, p))
	assert.NilError(t, err)
	assert.Equal(t, q.Hash, p.Hash)
	assert.DeepEqual(t, q.Header, p.Header)
	assert.Equal(t, plan.Text(q), plan.Text(p))
	assert.Equal(t, string(encoded(t, q)), string(encoded(t, p)))
	assert.DeepEqual(t, q.Namespaces, p.Namespaces)
	for i, c := range q.Changes {
		assert.DeepEqual(t, c.Body, p.Changes[i].Body)
		assert.Equal(t, c.Digest, p.Changes[i].Digest)
		assert.Equal(t, c.Reversible, p.Changes[i].Reversible)
		assert.Equal(t, c.Unverified != "", p.Changes[i].Unverified != "")
	}
}

func TestMasksOfSecretsComeBackAsMasks(t *testing.T) {
	c := readHashCase(t, "../../testdata/hashes/v1/secret.json")
	data, err := state.Canonical(c.Plan)
	assert.NilError(t, err)
	p, err := plan.Decode(data)
	assert.NilError(t, err)
	assert.Equal(t, plan.Text(p), "~ shop/Secret/login (update)\n     data.pw: (masked) → (masked)\n+ shop/Secret/new (create)\n")
	object := p.Changes[1].Body.Object.(map[string]any)
	assert.DeepEqual(t, object["data"], map[string]any{"hmac": state.Masked{Unbound: true}})
	assert.DeepEqual(t, object["metadata"].(map[string]any)["labels"], map[string]any{"hmac": "x"})
}

func TestAnIncompletePlanIsNotEncoded(t *testing.T) {
	_, err := plan.Encode(build(t, observation(t, "a", "", "")))
	assert.ErrorContains(t, err, "incomplete")
}

// repeat makes a document anew whose digests fit what was done to it.
func rebuilt(t *testing.T, change func(header *plan.Header, bodies []plan.Body) []plan.Body) []byte {
	t.Helper()
	p := build(t,
		observation(t, "a", `data: {x: "1"}`, `data: {x: "2"}`),
		observation(t, "b", "", `data: {x: "1"}`),
	)
	var bodies []plan.Body
	for _, c := range p.Changes {
		bodies = append(bodies, c.Body)
	}
	header := p.Header
	bodies = change(&header, bodies)
	if len(header.Changes) == len(p.Header.Changes) || len(bodies) != len(p.Changes) {
		header.Changes = []string{}
		for _, body := range bodies {
			digest, err := state.DigestOf(body)
			assert.NilError(t, err)
			header.Changes = append(header.Changes, digest)
		}
	}
	data, err := state.Canonical(map[string]any{"header": header, "changes": bodies})
	assert.NilError(t, err)
	return data
}

func TestBytesThatEncodeWouldNotWriteAreRefused(t *testing.T) {
	set := func(change func(a, b *plan.Body)) func(*plan.Header, []plan.Body) []plan.Body {
		return func(_ *plan.Header, bodies []plan.Body) []plan.Body {
			change(&bodies[0], &bodies[1])
			return bodies
		}
	}
	for _, c := range []struct {
		name, want string
		change     func(*plan.Header, []plan.Body) []plan.Body
	}{
		{"another schema", `unknown schema "changeward.dev/plan/v2"`, func(h *plan.Header, b []plan.Body) []plan.Body {
			h.Schema = "changeward.dev/plan/v2"
			return b
		}},
		{"other rules", "unknown rule number 99", func(h *plan.Header, b []plan.Body) []plan.Body { h.Rules = 99; return b }},
		{"changes in another order", "not in order", func(_ *plan.Header, b []plan.Body) []plan.Body { return []plan.Body{b[1], b[0]} }},
		{"a digest too many", "2 changes, but 3 digests", func(h *plan.Header, b []plan.Body) []plan.Body {
			h.Changes = append(h.Changes, h.Changes[0])
			return b
		}},
		{"an unverified object that does not change", "has no change", func(h *plan.Header, b []plan.Body) []plan.Body {
			h.Unverified = []string{"/ConfigMap/shop/z"}
			return b
		}},
		{"an unverified object twice", "unverified keys are not in order", func(h *plan.Header, b []plan.Body) []plan.Body {
			h.Unverified = []string{"/ConfigMap/shop/a", "/ConfigMap/shop/a"}
			return b
		}},
		{"null for a list", "null instead of a list", func(h *plan.Header, b []plan.Body) []plan.Body { h.Unverified = nil; return b }},
		{"an unknown operation", `unknown operation "upsert"`, set(func(a, _ *plan.Body) { a.Operation = "upsert" })},
		{"an unchanged object", `unknown operation "none"`, set(func(a, _ *plan.Body) { a.Operation, a.Transitions = plan.None, nil })},
		{"an update of nothing", "member transitions does not fit", set(func(a, _ *plan.Body) { a.Transitions = nil })},
		{"an update with an object", "member object does not fit", set(func(a, b *plan.Body) { a.Object = b.Object })},
		{"a create with transitions", "member transitions does not fit", set(func(a, b *plan.Body) { b.Transitions = a.Transitions })},
		{"a create of a live object", "member liveUID does not fit", set(func(_, b *plan.Body) { b.LiveUID = "u" })},
		{"a create with phases", "member phases does not fit", set(func(_, b *plan.Body) { b.Phases = []string{"Sync"} })},
		{"a create that takes over", "member takesOver does not fit", set(func(_, b *plan.Body) { b.TakesOver = []plan.Takeover{{}} })},
		{"an update with admission", "member admission does not fit", set(func(a, _ *plan.Body) { a.Admission = []plan.AdmissionValue{{Path: "x"}} })},
		{"a delete without its terms", "member delete does not fit", set(func(a, _ *plan.Body) { a.Operation, a.Transitions = plan.Delete, nil })},
		{"an object of another kind", "another one than the change says", set(func(_, b *plan.Body) { b.Object.(map[string]any)["kind"] = "Secret" })},
		{"an object in another namespace", "another one than the change says", set(func(_, b *plan.Body) {
			b.Object.(map[string]any)["metadata"] = map[string]any{"name": "b", "namespace": "kube-system"}
		})},
		{"an object that is a list", "object is no object", set(func(_, b *plan.Body) { b.Object = []any{} })},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := plan.Decode(rebuilt(t, c.change))
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestEveryByteOfAPlanIsBound(t *testing.T) {
	data := encoded(t, build(t,
		observation(t, "a", `data: {x: "1"}`, `data: {x: "2"}`),
		observation(t, "b", "", `{data: {n: 12}}`),
	))
	want, err := plan.Decode(data)
	assert.NilError(t, err)
	for i := range data {
		for _, flip := range []byte{0x01, 0x20, 0x80} {
			changed := append([]byte(nil), data...)
			changed[i] ^= flip
			if p, err := plan.Decode(changed); err == nil {
				assert.Assert(t, p.Hash != want.Hash, "byte %d as %q", i, changed[i])
			}
		}
	}
	for name, text := range map[string]string{
		"white space":      " " + string(data),
		"a tail":           string(data) + "{}",
		"an unknown key":   strings.Replace(string(data), `{"changes":`, `{"a":1,"changes":`, 1),
		"a key twice":      strings.Replace(string(data), `"force":false`, `"force":false,"force":false`, 1),
		"a key in capital": strings.Replace(string(data), `"force"`, `"Force"`, 1),
		"an empty member":  strings.Replace(string(data), `"kind":"ConfigMap",`, `"kind":"ConfigMap","liveUID":"",`, 1),
		"nothing":          "",
		"null":             "null",
	} {
		_, err := plan.Decode([]byte(text))
		assert.Assert(t, err != nil, name)
	}
}

func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("../../testdata/hashes/v1/*.json")
	assert.NilError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		assert.NilError(f, err)
		if _, after, ok := strings.Cut(string(data), `"Plan": `); ok {
			f.Add([]byte(after))
		}
	}
	f.Add(encoded(f, build(f, observation(f, "a", `data: {x: "1"}`, `data: {x: "2"}`))))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.Decode(data)
		if err != nil {
			return
		}
		again, err := plan.Encode(p)
		assert.NilError(t, err)
		assert.Assert(t, cmp.Equal(string(again), string(data)))
		for _, c := range p.Changes {
			assert.Assert(t, c.Body.Operation != plan.Update || len(c.Body.Transitions) > 0)
			for _, tr := range c.Body.Transitions {
				assert.Assert(t, tr.Action != diff.Add || tr.Old == nil)
			}
		}
	})
}

// FuzzBodies makes the digests fit, so that what lies behind them is reached:
// no shape of a body may do worse than an error.
func FuzzBodies(f *testing.F) {
	for _, name := range []string{"create", "update", "delete", "replace", "hook", "secret"} {
		data, err := os.ReadFile("../../testdata/hashes/v1/" + name + ".json")
		assert.NilError(f, err)
		var c struct {
			Plan struct{ Changes json.RawMessage }
		}
		assert.NilError(f, json.Unmarshal(data, &c))
		f.Add([]byte(c.Plan.Changes))
	}
	f.Add([]byte(`[{"kind":"ClusterRole","group":"rbac.authorization.k8s.io","operation":"update","transitions":[{"action":"add","new":{"verbs":1},"path":"rules[0]"}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var bodies []json.RawMessage
		if json.Unmarshal(data, &bodies) != nil {
			return
		}
		digests := []string{}
		for _, body := range bodies {
			digest, err := state.DigestOf(body)
			if err != nil {
				return
			}
			digests = append(digests, digest)
		}
		doc, err := state.Canonical(map[string]any{"changes": bodies, "header": plan.Header{
			Schema: plan.SchemaV1, Rules: plan.Rules, Changes: digests, Unverified: []string{},
		}})
		assert.NilError(t, err)
		p, err := plan.Decode(doc)
		if err != nil {
			return
		}
		assert.Equal(t, string(encoded(t, p)), string(doc))
		assert.Assert(t, len(plan.Text(p)) > 0 || len(bodies) == 0)
	})
}
