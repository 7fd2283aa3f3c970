package edit

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// blockScalar is where the parts of a literal or folded scalar lie.
type blockScalar struct {
	header, headerEnd int      // of its indicators: |2-
	lines             []string // of its content, without line breaks
	indent            int      // of the content
	end               int
	blankEnd          int // behind the blank lines that follow, too
}

// block finds the parts of a block scalar.
func (e *editor) block(node *yaml.Node) blockScalar {
	at := e.body(node)
	b := blockScalar{header: at, headerEnd: e.skipTo(at, " \t\n")}
	keep := strings.Contains(string(e.text[b.header:b.headerEnd]), "+")
	b.end = e.lineEnd(at)
	b.blankEnd = b.end
	b.indent = e.contentIndent(node.Value, b.end)
	var pending []string
	for at = b.end; at < len(e.text); {
		end := e.lineEnd(at + 1)
		line := string(e.text[at+1 : end])
		blank := strings.Trim(line, " ") == "" && len(line) <= b.indent
		if !blank && len(line)-len(strings.TrimLeft(line, " ")) < b.indent || end == at+1 && end == len(e.text) {
			break
		}
		pending = append(pending, line)
		b.blankEnd = end
		if !blank || keep {
			b.lines, b.end, pending = append(b.lines, pending...), end, nil
		}
		at = end
	}
	return b
}

// contentIndent is the indentation of the content behind a header line: that of
// its first line with text, less what the value itself begins with.
func (e *editor) contentIndent(value string, at int) int {
	own := strings.TrimLeft(value, "\n")
	own = own[:len(own)-len(strings.TrimLeft(own, " "))]
	for at < len(e.text) {
		end := e.lineEnd(at + 1)
		line := string(e.text[at+1 : end])
		if strings.Trim(line, " ") != "" {
			return len(line) - len(strings.TrimLeft(line, " ")) - len(own)
		}
		if end == at+1 && end == len(e.text) {
			break
		}
		at = end
	}
	return 1
}

// reblock puts a new string into a block scalar: its lines keep their bytes
// where their text stays. It answers false where the string has no such form.
func (e *editor) reblock(node *yaml.Node, want string) bool {
	b := e.block(node)
	var lines []string
	var ok bool
	indicator := "|"
	if node.Style&yaml.FoldedStyle != 0 {
		lines, ok = b.folded(want)
		indicator = ">"
	}
	if !ok {
		indicator = "|"
		lines, ok = b.literal(want, node.Style&yaml.FoldedStyle == 0)
	}
	if !ok || len(b.lines) == 0 {
		return false
	}
	header := string(e.text[b.header:b.headerEnd])
	digits := strings.Trim(header, "|>+-")
	if digits == "" && leadingSpace(want) {
		return false // needs an indicator, which is relative to the parent
	}
	e.put(b.header, b.headerEnd, indicator+digits+chomping(want))
	end := b.end
	if chomping(want) == "+" {
		end = b.blankEnd
	}
	e.put(e.lineEnd(b.headerEnd), end, "\n"+strings.Join(lines, "\n"))
	return true
}

// literal are the lines of a string; raw lines of the same text are kept.
func (b blockScalar) literal(want string, keepRaw bool) ([]string, bool) {
	if !printable(want) || strings.Trim(want, "\n ") == "" {
		return nil, false
	}
	raw := map[string]string{}
	for _, line := range b.lines {
		if keepRaw {
			raw[strings.TrimPrefix(line, strings.Repeat(" ", min(b.indent, len(line))))] = line
		}
	}
	var lines []string
	for _, text := range contentLines(want) {
		line, known := raw[text]
		if !known && text != "" {
			line = strings.Repeat(" ", b.indent) + text
		}
		lines = append(lines, line)
	}
	return lines, true
}

// folded keeps the raw lines of each paragraph that stays; another becomes one
// line. It answers false where lines are indented further, which do not fold.
func (b blockScalar) folded(want string) (lines []string, ok bool) {
	raw, ok := b.paragraphs()
	text := strings.TrimRight(want, "\n")
	if !ok || !printable(want) || strings.TrimSpace(text) == "" || strings.HasPrefix(want, "\n") || strings.Contains(text, "\n\n") {
		return nil, false
	}
	for i, text := range contentLines(want) {
		kept, known := raw[text]
		switch {
		case strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t"):
			return nil, false
		case text == "":
			lines = append(lines, "")
			continue
		case i > 0:
			lines = append(lines, "")
		}
		if !known {
			kept = []string{strings.Repeat(" ", b.indent) + text}
		}
		lines = append(lines, kept...)
	}
	return lines, true
}

// paragraphs are the raw lines of a folded scalar by the text that they make.
func (b blockScalar) paragraphs() (map[string][]string, bool) {
	raw := map[string][]string{}
	var paragraph, words []string
	for _, line := range append(slices.Clone(b.lines), "") {
		text := strings.TrimPrefix(line, strings.Repeat(" ", min(b.indent, len(line))))
		switch {
		case strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t"):
			return nil, false
		case text != "":
			paragraph, words = append(paragraph, line), append(words, text)
		default:
			raw[strings.Join(words, " ")] = paragraph
			paragraph, words = nil, nil
		}
	}
	return raw, true
}

// contentLines are the lines of a string under the chomping that it needs.
func contentLines(want string) []string {
	if chomping(want) == "+" {
		return strings.Split(strings.TrimSuffix(want, "\n"), "\n")
	}
	return strings.Split(strings.TrimRight(want, "\n"), "\n")
}

// chomping is the indicator that keeps the line breaks at the end of a string.
func chomping(want string) string {
	switch trimmed := strings.TrimRight(want, "\n"); len(want) - len(trimmed) {
	case 0:
		return "-"
	case 1:
		return ""
	default:
		return "+"
	}
}

func leadingSpace(want string) bool { return strings.HasPrefix(strings.TrimLeft(want, "\n"), " ") }

// newBlock is a string as a literal scalar, first its header; false where that
// would be no good form. Content is indented by column.
func (s style) newBlock(want string, column int) ([]string, bool) {
	b := blockScalar{indent: column}
	lines, ok := b.literal(want, false)
	if !ok || s.quoted || s.json || !strings.Contains(strings.TrimRight(want, "\n"), "\n") && !strings.HasSuffix(want, "\n") || chomping(want) == "+" {
		return nil, false
	}
	header := "|"
	if leadingSpace(want) {
		if s.step > 9 {
			return nil, false
		}
		header = fmt.Sprintf("|%d", s.step)
	}
	for _, line := range lines {
		if strings.TrimRight(line, " \t") != line {
			return nil, false // a space at the end of a line is better seen in quotes
		}
	}
	return append([]string{header + chomping(want)}, lines...), true
}
