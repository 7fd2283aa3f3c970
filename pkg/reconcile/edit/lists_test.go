package edit_test

import "testing"

func named(name string, more ...any) map[string]any {
	m := map[string]any{"name": name}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

func TestEntriesOfListsStayWhereTheyAre(t *testing.T) {
	for _, r := range []row{
		{"added", "a:\n- x # c\nb: 1\n", "a:\n- x # c\n- w\nb: 1\n", set("a", []any{"x", "w"})},
		{"added in front", "a:\n# of x\n- x\nb: 1\n", "a:\n- w\n# of x\n- x\nb: 1\n", set("a", []any{"w", "x"})},
		{"added between, indented", "a:\n  - x\n  # of z\n  - z\n", "a:\n  - x\n  - w\n  # of z\n  - z\n", set("a", []any{"x", "w", "z"})},
		{"changed", "a: \n- 'x' # c\n- z\n", "a: \n- 'w' # c\n- z\n", set("a", []any{"w", "z"})},
		{"removed", "a:\n- x\n# of w\n- w # c\n- z\n", "a:\n- x\n# of w\n- z\n", set("a", []any{"x", "z"})},
		{"all removed", "a: # c\n- x\nb: 1\n", "a: [] # c\nb: 1\n", set("a", []any{})},
		{"all others", "a:\n- name: x\nb: 1\n", "a:\n- name: w\n  v: 1\nb: 1\n", set("a", []any{named("w", "v", int64(1))})},
		{"by name", "a:\n-   name: x # c\n    v: 1\n-   name: w\n    v: 2\n", "a:\n-   name: w\n    v: 3\n", set("a", []any{named("w", "v", int64(3))})},
		{"with the gap of the others", "a:\n-   name: x\n", "a:\n-   name: x\n-   name: w\n    v:\n    -   1\n", set("a", []any{named("x"), named("w", "v", []any{int64(1)})})},
		{"moved with comments", "a:\n# of x\n- name: x # c\n  # in x\n  v: 1\n- name: w\n", "a:\n- name: w\n# of x\n- name: x # c\n  # in x\n  v: 2\n",
			set("a", []any{named("w"), named("x", "v", int64(2))})},
		{"the first key behind the dash", "a:\n- k: x\n  v: 1\n", "a:\n- v: 1\n", set("a", []any{map[string]any{"v": int64(1)}})},
		{"the first key behind the dash, commented", "a:\n- k: x\n  # of v\n  v: 1\n", "a:\n-\n  # of v\n  v: 1\n", set("a", []any{map[string]any{"v": int64(1)}})},
		{"an entry emptied", "a:\n- k: x\n  v: 1\n- z\n", "a:\n- {}\n- z\n", set("a", []any{map[string]any{}, "z"})},
		{"an entry for another", "a:\n- k: x\n  v: 1\n", "a:\n- w: 1\n", set("a", []any{map[string]any{"w": int64(1)}})},
		{"a list in a list", "a:\n- - x\n  - z\n", "a:\n- - z\n", set("a", []any{[]any{"z"}})},
		{"a list in a list, in front", "a:\n- - x\n  - z\n", "a:\n- - w\n  - x\n  - z\n", set("a", []any{[]any{"w", "x", "z"}})},
		{"null", "a:\n- # c\n- z\n", "a:\n- x # c\n- z\n", set("a", []any{"x", "z"})},
		{"scalar to map", "a:\n- x # c\n- z\n", "a:\n- k: v\n  l: w\n- z\n", set("a", []any{map[string]any{"k": "v", "l": "w"}, "z"})},
	} {
		r.holds(t)
	}
}

func TestFlowStyleStays(t *testing.T) {
	for _, r := range []row{
		{"changed", "a: { k: v, 'l': [1, 2] } # c\n", "a: { k: w, 'l': [1, 3] } # c\n", set("a", map[string]any{"k": "w", "l": []any{int64(1), int64(3)}})},
		{"added", "a: { k: v } # c\n", "a: { k: v, l: w } # c\n", set("a", map[string]any{"k": "v", "l": "w"})},
		{"added to a list", "a: ['--a', \"--b\",--c]\n", "a: ['--a', \"--b\",--c, --d]\n", set("a", []any{"--a", "--b", "--c", "--d"})},
		{"removed", "a: [x, z, w]\n", "a: [x, w]\n", set("a", []any{"x", "w"})},
		{"the first removed", "a: [ x, z ]\n", "a: [ z ]\n", set("a", []any{"z"})},
		{"the last removed", "a: [ x, z ]\n", "a: [ x ]\n", set("a", []any{"x"})},
		{"all removed", "a: [ x, z ]\n", "a: []\n", set("a", []any{})},
		{"over lines", "a: {\n  k: v,\n  l: w,\n}\n", "a: {\n  k: v,\n  l: w,\n  m: u,\n}\n", set("a", map[string]any{"k": "v", "l": "w", "m": "u"})},
		{"moved", "a: [{name: x, v: 'q'}, {name: w}]\n", "a: [{name: w}, {name: x, v: 'q'}]\n", set("a", []any{named("w"), named("x", "v", "q")})},
		{"needs quotes there", "a: [x]\n", "a: [x, \"b,c\", \"{\"]\n", set("a", []any{"x", "b,c", "{"})},
		{"a key without a value", "a: {k, l: }\n", "a: {k: v, l: w }\n", set("a", map[string]any{"k": "v", "l": "w"})},
		{"deeper", "a: {k: {}}\n", "a: {k: {b: [1, {c: d}]}}\n", set("a", map[string]any{"k": map[string]any{"b": []any{int64(1), map[string]any{"c": "d"}}}})},
		{"JSON", "{\"a\":\"x\",\"b\":[1]}\n", "{\"a\":\"x\",\"b\":[1],\"c\":{\"d\":\"on\"}}\n", set("c", map[string]any{"d": "on"})},
		{"JSON over lines", "{\n  \"a\": \"x\"\n}\n", "{\n  \"a\": \"z\",\n  \"c\": [1, {\"d\": \"e\"}]\n}\n", func(m map[string]any) {
			m["a"], m["c"] = "z", []any{int64(1), map[string]any{"d": "e"}}
		}},
	} {
		r.holds(t)
	}
}

func TestBlockScalarsKeepTheirLines(t *testing.T) {
	for _, r := range []row{
		{"literal", "a: | # c\n  one\n    two\n\n  three\nb: 1\n", "a: | # c\n  one\n    2\n\n  three\nb: 1\n", set("a", "one\n  2\n\nthree\n")},
		{"stripped", "a: |-\n    one\n    two\nb: 1\n", "a: |\n    one\n    two\nb: 1\n", set("a", "one\ntwo\n")},
		{"kept", "a: |\n  one\n\nb: 1\n", "a: |+\n  one\n\n\nb: 1\n", set("a", "one\n\n\n")},
		{"indicator", "a: |2\n   one\n  two\n", "a: |2\n   one\n  2\n", set("a", " one\n2\n")},
		{"shorter", "a: |\n  one\n  two\n# c\nb: 1\n", "a: |-\n  one\n# c\nb: 1\n", set("a", "one")},
		{"to a number", "a: | # c\n  one\n  two\nb: 1\n", "a: 5 # c\nb: 1\n", set("a", int64(5))},
		{"folded", "a: >\n  one\n  two\n\n  three\n  four\nb: 1\n", "a: >\n  one\n  two\n\n  3 four\nb: 1\n", set("a", "one two\n3 four\n")},
		{"folded, stripped", "a: >-\n  one\n  two\n", "a: >-\n  one three\n", set("a", "one three")},
		{"not for a literal", "a: |\n  one\n", "a: \"one\\u0007\\n\"\n", set("a", "one\a\n")},
		{"new", "a: x # c\n", "a: |- # c\n  one\n  two\n", set("a", "one\ntwo")},
		{"new among entries", "a:\n- x\n", "a:\n- x\n- |\n  one\n  two\n", set("a", []any{"x", "one\ntwo\n"})},
		{"the last without final newline", "b: 1\na: |-\n  one\n  two", "b: 1\na: |-\n  one\n  2", set("a", "one\n2")},
	} {
		r.holds(t)
	}
}
