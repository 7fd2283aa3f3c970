package manifest

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// chunk is the text of one document, with its --- line before and its ... line
// behind it. A line of --- or ... at the first column can be nothing else in
// YAML, so cutting there is exact, and an error stays in its document.
type chunk struct {
	line int // of the first line, from 1
	text []byte
}

// decode makes UTF-8 without a byte-order mark and with \n line breaks of
// data; false if it is no text. YAML reads every line break as \n, and JSON
// has them only between tokens, so no value changes.
func decode(data []byte) ([]byte, bool) {
	text, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), data)
	if err != nil || !utf8.Valid(text) {
		return nil, false
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	}
	return text, true
}

// split cuts a text into documents. What only holds comments and space before
// a first --- or behind ... is no document; directives stay with the document
// that follows.
func split(text []byte) []chunk {
	var chunks []chunk
	start, startLine, line := 0, 1, 0
	cut := func(end, next int) {
		c := chunk{startLine, text[start:end]}
		if marked(c.text) || !preamble(c.text) {
			chunks = append(chunks, c)
		}
		start, startLine = end, next
	}
	for at := 0; at < len(text); {
		line++
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch here := text[at:end]; {
		case marker(here, "---") && !directives(text[start:at]):
			cut(at, line)
		case marker(here, "..."):
			cut(end, line+1)
		}
		at = end
	}
	cut(len(text), line)
	return chunks
}

// Chunk is the text of one document of a file, with its --- line before and
// its ... line behind it, and the line of the file, from 1, where it begins.
type Chunk struct {
	Line int
	Text []byte
}

// Chunks cuts a UTF-8 text with \n line breaks into documents, where Parse
// would. What only holds comments and space around them is in none.
func Chunks(text []byte) []Chunk {
	var chunks []Chunk
	for _, c := range split(text) {
		chunks = append(chunks, Chunk{c.line, c.text})
	}
	return chunks
}

// marker says whether a line starts with the document marker mark.
func marker(line []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(mark))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\n"), rest[0]) >= 0)
}

func marked(text []byte) bool { return marker(text, "---") }

// preamble says whether a text is only blank lines and comments, and perhaps
// the ... behind them.
func preamble(text []byte) bool {
	return onlyLines(text, func(line string) bool {
		return comment(line) || marker([]byte(line), "...") && comment(line[len("..."):])
	})
}

// directives says whether a text is only what may stand before the --- of a
// document, and has a directive.
func directives(text []byte) bool {
	return !onlyLines(text, comment) && onlyLines(text, func(line string) bool {
		return comment(line) || line[0] == '%'
	})
}

// comment says whether a line is blank or a comment.
func comment(line string) bool {
	line = strings.Trim(line, " \t\n")
	return line == "" || line[0] == '#'
}

func onlyLines(text []byte, ok func(line string) bool) bool {
	for line := range bytes.Lines(text) {
		if !ok(string(line)) {
			return false
		}
	}
	return true
}
