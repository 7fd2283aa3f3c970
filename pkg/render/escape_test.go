package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
)

func TestEscapeShowsWhatWouldDeceive(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, ümlaut, 漢字": "plain text, ümlaut, 漢字",
		"a\nb\r\tc":              `a\nb\r\tc`,
		"\x1b[31mred":            `\u001b[31mred`,
		"\u009b2J":               `\u009b2J`,
		"\x7f":                   `\u007f`,
		"a\u202eb\u2066c":        `a\u202eb\u2066c`,
		"zero\u200bwidth\ufeff":  `zero\u200bwidth\ufeff`,
		"\u2028\u2029":           `\u2028\u2029`,
		"a\u0085b\u2800c":        `a\u0085b\u2800c`,
		"bad\xff\xc0utf8":        `bad\xff\xc0utf8`,
		"\ufffd":                 "\ufffd",
		"tag\U000e0041":          `tag\U000e0041`,
		"##vso[task.setvariable": `\u0023#vso[task.setvariable`,
		"x ###[error]y":          `x \u0023\u0023#[error]y`,
		"## heading [link]":      "## heading [link]",
	} {
		assert.Equal(t, Escape(in), want)
	}
}

func TestAnObjectShowsLineBreaksThatOnlyYAMLKnows(t *testing.T) {
	got := object(map[string]any{"k\u0085": "a\u0085b", "list": []any{"a\u2028\u2029 b"}, "plain": "a\nb"})
	assert.Equal(t, EscapeBlock(got), "k\\u0085: a\\u0085b\nlist:\n- a\\u2028\\u2029 b\nplain: |-\n  a\n  b\n")
}

func TestABlockKeepsItsLinesButNoCommandAtTheirStart(t *testing.T) {
	assert.Equal(t, EscapeBlock("a\n  ::error::x\r\n\tb"), "a\n  \\u003a:error::x\\r\n\\tb")
}

func TestAQuotedStringIsUnambiguous(t *testing.T) {
	assert.Equal(t, Quote("a\"b\\u202e\u202e<"), `"a\"b\\u202e\u202e<"`)
}

func TestJSONKeepsValuesExactAndTextSafe(t *testing.T) {
	for _, s := range hostileStrings() {
		if !utf8.ValidString(s) {
			continue
		}
		var out bytes.Buffer
		assert.NilError(t, JSON(&out, map[string]any{s: s}))
		assertSafe(t, out.String())
		var back map[string]string
		assert.NilError(t, json.Unmarshal(out.Bytes(), &back))
		assert.DeepEqual(t, back, map[string]string{s: s})
	}
}

func TestCodeSpansAndFencesCannotBeLeft(t *testing.T) {
	assert.Equal(t, Code("a`b``c"), "```a`b``c```")
	assert.Equal(t, Code("`"), "`` ` ``")
	assert.Equal(t, Code(""), "` `")
	assert.Equal(t, Code("two\nlines"), "`two\\nlines`")
	assert.Equal(t, Fence("diff", "x\n````\n@everyone\n"), "`````diff\nx\n````\n@everyone\n`````\n")
}

func FuzzEscape(f *testing.F) {
	for _, s := range hostileStrings() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		assertSafe(t, Escape(s))
		assertSafe(t, EscapeBlock(s))
		assertSafe(t, Quote(s))
		assertSafe(t, Code(s))
		assertSafe(t, Fence("", s))
		assert.Assert(t, !strings.Contains(Escape(s), "\n"))
		assert.Equal(t, Escape(Escape(s)), Escape(s))
	})
}

// assertSafe fails on anything that could move a cursor, hide text or command
// a CI system.
func assertSafe(t *testing.T, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Fatalf("%q is no UTF-8", out)
	}
	for line := range strings.SplitSeq(out, "\n") {
		for i, r := range line {
			if hostile(r) || r == '#' && opensCommand(line[i:]) {
				t.Fatalf("%q has %U, or a CI command", line, r)
			}
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Fatalf("%q is a CI command", line)
		}
	}
}

// hostileStrings is what an attacker would put into names, values and errors.
func hostileStrings() []string {
	return []string{
		"\x1b]0;title\x07\x1b[2J", "\u009b31m", "\x7f\b\b\b", "a\nb", "\r\x1b[Kapproved", "\u202etxt.exe",
		"\u2066\u2069", "zero\u200b\u200d\ufeff", "\u2028::error::x", "\n::set-output name=x::y", "::warning::x", "  ::add-mask::x",
		"##vso[task.complete result=Succeeded;]", "\n##[error]x", "section_start:0:x\r\x1b[0K", "bad\xff\xfe utf8\xc0",
		"`code` ```\n```", "</details><script>alert(1)</script>", "@everyone <!-- -->", "[x](javascript:alert(1))", "!\u00a0\u3000",
		"\U000e0041\U000f0000", "|a|b|\n|-|-|", "\u115f\u3164", "# h1\n## h2", "\x00", "\t", "é\u0301 漢字 👍\ufe0f",
	}
}
