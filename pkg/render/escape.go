package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes a string safe for one line of any output: control characters
// (C0, C1, DEL), line and paragraph separators, bidirectional and zero-width
// characters, byte-order marks and invalid UTF-8 are shown visibly, like
// \u202e or \xff. CI commands (##vso[, ##[, :: at the start) are broken up.
// Everything else stays as it is.
func Escape(s string) string { return guardLine(escape(s)) }

func escape(s string) string {
	if clean(s) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, s[i])
		case hostile(r) || opensCommand(s[i:]):
			out.WriteString(visible(r))
		default:
			out.WriteRune(r)
		}
		i += size
	}
	return out.String()
}

// EscapeBlock is Escape for text of several lines: line feeds stay, and a line
// that CI would take for a command is broken up. Tabs and carriage returns are
// shown, since a change of them is a change.
func EscapeBlock(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Escape(line)
	}
	return strings.Join(lines, "\n")
}

// Quote is a string as a JSON string that hides nothing: quotes, backslashes
// and everything that Escape shows are escaped, HTML is not.
func Quote(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`)
	return `"` + escape(s) + `"`
}

// guardLine breaks up what GitHub reads as a command: "::" at the start of a
// line, behind any white space.
func guardLine(line string) string {
	body := strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(body, "::") {
		return line
	}
	return line[:len(line)-len(body)] + `\u003a` + body[1:]
}

func clean(s string) bool {
	for i, r := range s {
		if hostile(r) || r == utf8.RuneError || r == '#' && opensCommand(s[i:]) {
			return false
		}
	}
	return true
}

// opensCommand finds the "##" of ##vso[, ##[ and ##teamcity[, which Azure
// Pipelines and TeamCity obey anywhere in a line.
func opensCommand(s string) bool {
	if !strings.HasPrefix(s, "##") {
		return false
	}
	rest := strings.TrimLeft(s, "#")
	word := strings.TrimLeftFunc(rest, unicode.IsLetter)
	return strings.HasPrefix(word, "[")
}

// hostile says whether a character could move the cursor, hide text, change
// its order, or end a line.
func hostile(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r == 0x2028, r == 0x2029:
		return true
	case unicode.Is(unicode.Cf, r), r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true // bidi, zero-width, BOM, tags, and letters without a shape
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Zs, r) && r != ' ':
		return true // invisible, or a space that is none
	case r >= 0xe000 && r <= 0xf8ff, r > 0xeffff, r == 0xfffe, r == 0xffff:
		return true // private use: what it looks like is up to the font
	}
	return false
}

func visible(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
