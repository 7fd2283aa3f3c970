package state

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestCanonicalWritesOneFormOfEveryValue(t *testing.T) {
	for _, test := range []struct {
		name  string
		value any
		want  string
	}{
		{"keys are sorted by bytes", map[string]any{"b": 1, "a": 2, "B": 3, "é": 4}, `{"B":3,"a":2,"b":1,"é":4}`},
		{"64-bit integers are exact", []any{int64(math.MaxInt64), uint64(math.MaxUint64), json.Number("9007199254740993")},
			`[9223372036854775807,18446744073709551615,9007199254740993]`},
		{"no HTML escapes", "<a href='x'>&", `"<a href='x'>&"`},
		{"line separators stay as they are", "a\u2028b\u2029c", "\"a\u2028b\u2029c\""},
		{"only what must be escaped is", "\x00\b\t\n\x1f\"\\/\x7f", `"\u0000\u0008\u0009\u000a\u001f\"\\/` + "\x7f\""},
		{"the replacement character itself is text", "\ufffd", "\"\ufffd\""},
		{"nil slices and maps are null", []any{nil, []any(nil), map[string]any(nil), []string(nil)}, `[null,null,null,null]`},
		{"empty ones are not", []any{[]any{}, map[string]any{}, []string{}}, `[[],{},[]]`},
		{"raw JSON is brought into form", json.RawMessage(` {"b": "\u003c", "a": 1.50} `), `{"a":1.50,"b":"<"}`},
		{"bytes are base64", []byte{0xff, 0xfe}, `"//4="`},
		{"structs go by their tags", Signature{KeyID: "SHA256:x", Sig: []byte("s")}, `{"keyid":"SHA256:x","sig":"cw=="}`},
		{"masked values keep their tag", []Masked{{Tag: "01234567:ab"}, {Tag: "secret", Unbound: true}},
			`[{"hmac":"01234567:ab"},{"mark":"unbound"}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Canonical(test.value)
			assert.NilError(t, err)
			assert.Equal(t, string(got), test.want)
			again, err := Canonical(json.RawMessage(got))
			assert.NilError(t, err)
			assert.Equal(t, string(again), test.want)
		})
	}
}

func TestCanonicalRefusesWhatHasNoForm(t *testing.T) {
	deep := any("leaf")
	for range maxDepth + 1 {
		deep = []any{deep}
	}
	for name, value := range map[string]any{
		"invalid UTF-8 in a string":    "a\xffb",
		"invalid UTF-8 in a key":       map[string]any{"\xff": 1},
		"invalid UTF-8 in a struct":    Person{Username: "\xff"},
		"invalid UTF-8 in a slice":     Person{Groups: []string{"ok", "\xff"}},
		"invalid UTF-8 in a typed map": map[string]string{"a": "\xff"},
		"invalid UTF-8 in raw JSON":    json.RawMessage("\"\xff\""),
		"duplicate keys in raw JSON":   json.RawMessage(`{"a":1,"a":2}`),
		"duplicate keys by an escape":  json.RawMessage(`{"a":1,"\u0061":2}`),
		"a number that is none":        json.Number("1,\"x\":2"),
		"infinity":                     math.Inf(1),
		"what is nested too deep":      deep,
		"raw JSON nested too deep":     json.RawMessage(strings.Repeat("[", 20000) + strings.Repeat("]", 20000)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Canonical(value)
			assert.Assert(t, err != nil, "%s", got)
		})
	}
}

func TestStrictDecodingTakesCanonicalBytesOnly(t *testing.T) {
	const good = `{"action":"approve","clusterUID":"u","number":9007199254740993,"person":{"username":"a\u0001"},"time":"t"}`
	var decision Decision
	assert.NilError(t, DecodeStrict([]byte(good), &decision))
	assert.Equal(t, decision.Number, 9007199254740993)

	for name, data := range map[string]string{
		"white space":             strings.Replace(good, ":", ": ", 1),
		"trailing line end":       good + "\n",
		"second value":            good + good,
		"unknown key":             strings.Replace(good, `"time"`, `"extra":1,"time"`, 1),
		"duplicate key":           strings.Replace(good, `"time":"t"`, `"time":"t","time":"t"`, 1),
		"differently cased key":   strings.Replace(good, `"action"`, `"Action"`, 1),
		"cased key beside":        strings.Replace(good, `{"action"`, `{"Action":"reject","action"`, 1),
		"long s for s":            strings.Replace(good, `"person"`, `"perſon"`, 1),
		"missing key":             strings.Replace(good, `,"time":"t"`, ``, 1),
		"empty optional key":      strings.Replace(good, `"time"`, `"ticket":"","time"`, 1),
		"null for a string":       strings.Replace(good, `"t"`, `null`, 1),
		"keys out of order":       `{"clusterUID":"u","action":"approve","number":1,"person":{"username":"a"},"time":"t"}`,
		"float for an integer":    strings.Replace(good, "9007199254740993", "1.0", 1),
		"integer over 64 bits":    strings.Replace(good, "9007199254740993", "9223372036854775808", 1),
		"escape that is not due":  strings.Replace(good, `"u"`, `"\u0075"`, 1),
		"lone surrogate":          strings.Replace(good, `"u"`, `"\ud800"`, 1),
		"invalid UTF-8":           strings.Replace(good, `"u"`, "\"\xff\"", 1),
		"byte order mark":         "\ufeff" + good,
		"nothing":                 "",
		"null":                    "null",
		"an array":                "[]",
		"cut off":                 good[:len(good)-1],
		"upper-case hex":          strings.Replace(good, `\u0001`, `\u001F`, 1),
		"value of another type":   strings.Replace(good, `"t"`, `5`, 1),
		"unknown key one further": strings.Replace(good, `{"username"`, `{"groups":["x"],"uid":"1","username"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Assert(t, DecodeStrict([]byte(data), &Decision{}) != nil, data)
		})
	}
}

func FuzzWhatDecodesStrictlyEncodesToTheSameBytes(f *testing.F) {
	for _, seed := range []string{`{"action":"approve","clusterUID":"u","number":1,"person":{"username":"a"},"time":"t"}`,
		`{"Action":"approve"}`, `{"number":1e3}`, `{"a":1,"a":2}`, "\"\u2028\"", `[[[]]]`, `-0`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var decision Decision
		if DecodeStrict(data, &decision) == nil {
			again, err := Canonical(decision)
			assert.NilError(t, err)
			assert.Equal(t, string(again), string(data))
		}
		once, err := Canonical(json.RawMessage(data))
		if err != nil {
			return
		}
		twice, err := Canonical(json.RawMessage(once))
		assert.NilError(t, err)
		assert.Equal(t, string(once), string(twice))
		var tree any
		assert.NilError(t, DecodeStrict(once, &tree))
	})
}

func TestATextOfTooManyValuesIsRefusedBeforeItIsRead(t *testing.T) {
	var into any
	bomb := []byte("[" + strings.Repeat("1,", maxValues) + "1]")
	assert.ErrorContains(t, DecodeStrict(bomb, &into), "values")
	quoted, err := Canonical(strings.Repeat("[\",:", maxValues/2))
	assert.NilError(t, err)
	assert.NilError(t, DecodeStrict(quoted, &into))
}
