package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const head = "apiVersion: v1\nkind: X\nmetadata: {name: x}\n"

func TestMergeKeysMayBeOverriddenWhereAllReadersAgree(t *testing.T) {
	objects, _, problems := parse("f", head+`
base: &base {a: 1, b: 1}
more: &more {b: 2, c: 2}
one: {<<: *base, b: 3}
two: {<<: [*base, *more], a: 4}
inline:
  <<: {x: 1}
  z: 2
quoted: {"<<": *base}
copy: *more
`)
	assert.Equal(t, len(problems), 0, "%v", problems)
	content := objects[0].Content
	assert.DeepEqual(t, content["one"], map[string]any{"a": int64(1), "b": int64(3)})
	assert.DeepEqual(t, content["two"], map[string]any{"a": int64(4), "b": int64(1), "c": int64(2)})
	assert.DeepEqual(t, content["inline"], map[string]any{"x": int64(1), "z": int64(2)})
	assert.DeepEqual(t, content["quoted"], map[string]any{"<<": map[string]any{"a": int64(1), "b": int64(1)}})
	assert.DeepEqual(t, content["copy"], map[string]any{"b": int64(2), "c": int64(2)})
}

func TestWhatReadersOfYAMLDisagreeOnIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"base: &b {a: 1}\nuse:\n  a: 2\n  <<: *b\n":             "Ambiguous f:6: X/x: use.a: stands before the merge key (<<) that sets it, too: tools disagree which one wins; put << first",
		"p: &p {a: 1}\nq: &q {b: 1}\nuse: {<<: *p, <<: *q}\n":   `DuplicateKey f:6: X/x: use["<<"]: a second merge key in one mapping; list what is merged: <<: [*a, *b]`,
		"use:\n  <<: {a: 1, a: 2}\n":                            "DuplicateKey f:5: X/x: use.a: this key stands here twice",
		"use: {a: {b: 1}, \"a\": {b: 2}}\n":                     "DuplicateKey f:4: X/x: use.a: this key stands here twice",
		"use: {0x10: a, 16: b}\n":                               `DuplicateKey f:4: X/x: use.16: this key stands here twice: YAML reads both 0x10 and 16 as 16; quote them`,
		"list:\n- a: 1\n  b: 2\n  a: 3\n":                       "DuplicateKey f:7: X/x: list[0].a: this key stands in lines 5 and 7",
		"use: !!binary aGk=\n":                                  "NotJSON f:4: X/x: use: has a YAML tag (!) that has no meaning in JSON; quote a value that starts with !",
		"use: !secret a\n":                                      "NotJSON f:4: X/x: use: has a YAML tag (!) that has no meaning in JSON; quote a value that starts with !",
		"use: {~: a}\n":                                         "NotJSON f:4: X/x: use: has null as a key; quote it if it is a string",
		"use: {? {a: b} : c}\n":                                 "NotJSON f:4: X/x: use: has a key that is a mapping or a list",
		"use: {!!int \"1\": c}\n":                               "NotJSON f:4: X/x: use: has a key with a YAML tag (!)",
		"use: [.inf, -.INF, .NaN]\n":                            "NotJSON f:4: X/x: use[0]: is not a finite number|NotJSON f:4: X/x: use[1]: is not a finite number|NotJSON f:4: X/x: use[2]: is not a finite number",
		"use: 18446744073709551615\n":                           "NumberOutOfRange f:4: X/x: use: is an integer beyond 64 bits and would lose digits; quote it if it is a string",
		"use: 123456789012345678901234567890\n":                 "NumberOutOfRange f:4: X/x: use: is an integer beyond 64 bits and would lose digits; quote it if it is a string",
		"use: &a [*a]\n":                                        "NotJSON f:4: X/x: an anchor that contains itself",
		"use: *hunter2\n":                                       "Syntax f:4: document 1: an alias (*) without its anchor (&); quote a value that starts with *",
		"use: !!int hunter2\n":                                  "NotJSON f:1: X/x: has no JSON form",
		"use: " + strings.Repeat("[", 250) + "\n":               "Syntax",
		"use: " + deep(250) + "\n":                              "TooDeep",
		"a: &a [x,x,x,x,x,x,x,x,x]\n" + bomb():                  "NotJSON f:1: X/x: document contains excessive aliasing",
		"use: {a: 1, a: 2}\nalso: {b: 1, b: 2}\nn: !!set {a}\n": "DuplicateKey f:4: X/x: use.a: this key stands here twice|DuplicateKey f:5: X/x: also.b: this key stands here twice|NotJSON",
	} {
		t.Run(text[:min(40, len(text))], func(t *testing.T) {
			_, objects, problems := parse("f", head+text)
			assert.Equal(t, len(objects), 0)
			got := strings.Join(problems, "|")
			assert.Assert(t, strings.HasPrefix(got, want), "%s", got)
			assert.Assert(t, !strings.Contains(got, "hunter2"), got)
		})
	}
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func bomb() string {
	out, last := "", "a"
	for _, name := range strings.Split("b c d e f g h i", " ") {
		out += fmt.Sprintf("%s: &%s [%s]\n", name, name, strings.Repeat("*"+last+",", 9))
		last = name
	}
	return out
}

func TestJSONIsReadAsJSON(t *testing.T) {
	objects, lines, problems := parse("f", `{"apiVersion":"v1","kind":"X","metadata":{"name":"a"},"smile":"\ud83d\ude00","slash":"\/","e":1e3,"f":1.5,"i":7,"n":null,"t":true}
{
	"apiVersion": "v1", "kind": "X",
	"metadata": {"name": "b"}
} {"apiVersion":"v1","kind":"X","metadata":{"name":"c"}}
# end
...
--- # and one more
{"apiVersion":"v1","kind":"X","metadata":{"name":"d"}}`)
	assert.Equal(t, len(problems), 0, "%v", problems)
	assert.DeepEqual(t, lines, []string{"f:1 X/a", "f:2 X/b", "f:5 X/c", "f:9 X/d"})
	delete(objects[0].Content, "metadata")
	assert.DeepEqual(t, objects[0].Content, map[string]any{"apiVersion": "v1", "kind": "X",
		"smile": "😀", "slash": "/", "e": float64(1000), "f": 1.5, "i": int64(7), "n": nil, "t": true})
}

func TestNothingOfAJSONStreamIsLostSilently(t *testing.T) {
	const good = `{"apiVersion":"v1","kind":"X","metadata":{"name":"a"}}`
	for text, want := range map[string]string{
		good + "\n{\"apiVersion\":": "Syntax f:2: document 2: no JSON object; nothing from here on was read",
		good + "\n[" + good + "]":   "NotObject f:2: document 2: a list, not an object",
		good + "\nkind: X\n":        "Syntax f:2: document 2: no JSON object; nothing from here on was read",
		good + `{"apiVersion":"v1","kind":"X","metadata":{"name":"b"},"a":1,` + "\n" + `"a":2}`:  "DuplicateKey f:2: X/b: a: this key stands in lines 1 and 2",
		good + `{"apiVersion":"v1","kind":"X","metadata":{"name":"b"},"n":99999999999999999999}`: "NumberOutOfRange f:1: X/b: n: is an integer beyond 64 bits and would lose digits; quote it if it is a string",
		good + " 3": "NotObject f:1: document 2: a number, not an object",
	} {
		t.Run(text[len(good):], func(t *testing.T) {
			_, objects, problems := parse("f", text)
			assert.DeepEqual(t, objects, []string{"f:1 X/a"})
			assert.DeepEqual(t, problems, []string{want})
		})
	}
}

func TestListsAreUnfoldedAndTheirFaultyEntriesNamed(t *testing.T) {
	for text, want := range map[string]struct{ objects, problems string }{
		"kind: List\napiVersion: v1\n":                                      {"", "BadList f:1: List/: document 1: a list without items"},
		"kind: List\napiVersion: v1\nitems: {}\n":                           {"", "WrongType f:3: List/: items: is a mapping, must be a list"},
		"kind: List\napiVersion: v1\nitems: []\n":                           {"", ""},
		"kind: Foo\napiVersion: v1\nitems: []\n":                            {"", "BadList f:3: Foo/: items: kubectl reads an object with items as a list, but its kind does not end in List"},
		"kind: AllowList\napiVersion: v1\nmetadata: {name: a}\nitems: []\n": {"", "BadList f:3: AllowList/a: metadata.name: a list has no name: kubectl would apply its items and nothing else"},
		"kind: AllowList\napiVersion: v1\nmetadata: {name: a}\n":            {"f:1 AllowList/a", ""},
		"kind: List\napiVersion: v1\nitems:\n- null\n- 3\n- {kind: X, apiVersion: v1, metadata: {name: a}}\n- {metadata: {name: b}}\n": {"f:6 X/a",
			"NotObject f:4: document 1, items[0]: null, not an object|NotObject f:5: document 1, items[1]: a number, not an object|NoKind f:7: /b: document 1, items[3]: no apiVersion/kind"},
		"kind: List\napiVersion: v1\nitems:\n- {kind: X, apiVersion: v1, metadata: {name: a}, a: 1, a: 2}\n- {kind: X, apiVersion: v1, metadata: {name: b}}\n": {"f:5 X/b",
			"DuplicateKey f:4: X/a: a: this key stands here twice"},
		"kind: List\napiVersion: v1\nitems: []\nitems: [{kind: X}]\n":                                     {"", "DuplicateKey f:4: List/: items: this key stands in lines 3 and 4"},
		"kind: List\napiVersion: v1\nx: &x {kind: X, apiVersion: v1, metadata: {name: a}}\nitems: [*x]\n": {"f:4 X/a", ""},
	} {
		t.Run(text, func(t *testing.T) {
			_, objects, problems := parse("f", text)
			assert.Equal(t, strings.Join(objects, "|"), want.objects)
			got := strings.Join(problems, "|")
			assert.Assert(t, got == want.problems || strings.ReplaceAll(got, "f:7: /b: ", "f:7: ") == strings.ReplaceAll(want.problems, "f:7: /b: ", "f:7: "), got)
		})
	}
}
