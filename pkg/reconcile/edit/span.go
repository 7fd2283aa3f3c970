package edit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// editor edits one document of a text.
type editor struct {
	file    string
	text    []byte // of the whole file
	starts  []int  // of its lines
	style   style
	splices []splice
	doubts  []*Refusal // why the result may not be what was wanted
}

// doubt notes why a value may not become what was wanted. Whether it did is
// decided by reading the new text.
func (e *editor) doubt(line int, path, message string) {
	e.doubts = append(e.doubts, &Refusal{File: e.file, Line: line, Path: path, Message: message})
}

func (e *editor) put(start, end int, text string) {
	e.splices = append(e.splices, splice{start, end, text})
}

// pos is the offset of a node, which begins at its anchor or tag.
func (e *editor) pos(node *yaml.Node) int {
	at := e.starts[min(max(node.Line, 1), len(e.starts))-1]
	for range node.Column - 1 {
		if at < len(e.text) {
			at += runeLength(e.text[at:])
		}
	}
	return at
}

func runeLength(text []byte) int {
	n := 1
	for n < len(text) && text[n]&0xC0 == 0x80 {
		n++
	}
	return n
}

// body is the offset behind a node's anchor and tag, if it has any.
func (e *editor) body(node *yaml.Node) int {
	at := e.pos(node)
	if node.Kind == yaml.AliasNode || node.Anchor == "" && node.Style&yaml.TaggedStyle == 0 {
		return at
	}
	end := at
	for at < len(e.text) && (e.text[at] == '&' || e.text[at] == '!') {
		for at < len(e.text) && !strings.ContainsRune(" \t\n,[]{}", rune(e.text[at])) {
			at++
		}
		end = at
		for at < len(e.text) && (e.text[at] == ' ' || e.text[at] == '\t') {
			at++
		}
	}
	if at == len(e.text) || e.text[at] == '\n' || e.text[at] == '#' {
		return end
	}
	return at
}

// lineOf is the index of the line that holds an offset.
func (e *editor) lineOf(at int) int {
	lo, hi := 0, len(e.starts)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; e.starts[mid] <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (e *editor) lineStart(at int) int { return e.starts[e.lineOf(at)] }

// lineEnd is the offset of the line break behind an offset, or of the end.
func (e *editor) lineEnd(at int) int {
	if i := bytes.IndexByte(e.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(e.text)
}

// shared says whether something else stands on the line before an offset.
func (e *editor) shared(at int) bool {
	return len(bytes.TrimLeft(e.text[e.lineStart(at):at], " ")) > 0
}

// column of an offset, from 0.
func (e *editor) column(at int) int { return at - e.lineStart(at) }

// end is the offset behind the last byte of a node's content.
func (e *editor) end(node *yaml.Node) int {
	at := e.body(node)
	switch {
	case node.Kind == yaml.AliasNode:
		return e.skipTo(at, " \t\n,[]{}")
	case node.Kind == yaml.ScalarNode:
		return e.scalarEnd(node, at)
	case node.Style&yaml.FlowStyle != 0:
		return e.flowEnd(node, at)
	case node.Kind == yaml.MappingNode:
		return e.pairEnd(node.Content[len(node.Content)-2], node.Content[len(node.Content)-1])
	default:
		return e.itemEnd(node, len(node.Content)-1)
	}
}

func (e *editor) skipTo(at int, stops string) int {
	for at < len(e.text) && !strings.ContainsRune(stops, rune(e.text[at])) {
		at++
	}
	return at
}

// colon is the offset behind the colon of a key; false if it has none.
func (e *editor) colon(key *yaml.Node) (int, bool) {
	at := e.end(key)
	for at < len(e.text) && (e.text[at] == ' ' || e.text[at] == '\t') {
		at++
	}
	if at < len(e.text) && e.text[at] == ':' {
		return at + 1, true
	}
	return e.end(key), false
}

func empty(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Value == "" && node.Anchor == "" && node.Style == 0
}

func (e *editor) pairEnd(key, value *yaml.Node) int {
	if empty(value) {
		at, _ := e.colon(key)
		return at
	}
	return e.end(value)
}

func (e *editor) itemEnd(list *yaml.Node, i int) int {
	if item := list.Content[i]; !empty(item) {
		return e.end(item)
	}
	return e.dash(list, i) + 1
}

// dash is the offset of the dash of an entry of a block sequence.
func (e *editor) dash(list *yaml.Node, i int) int {
	first := e.firstDash(list)
	if i == 0 {
		return first
	}
	column := e.column(first)
	for line := list.Content[i].Line - 1; line >= 0; line-- {
		at := e.starts[line] + column
		if at < len(e.text) && e.text[at] == '-' && !e.shared(at) {
			return at
		}
	}
	return first
}

// firstDash is the offset of a block sequence behind its anchor, which stands
// on a line before.
func (e *editor) firstDash(list *yaml.Node) int {
	at := e.body(list)
	for at < len(e.text) && e.text[at] != '-' {
		if at = e.skipTo(at, " \n#-"); at < len(e.text) && e.text[at] == '#' {
			at = e.lineEnd(at)
		} else if at < len(e.text) && e.text[at] != '-' {
			at++
		}
	}
	return at
}

// scalarEnd is where a scalar ends that begins at an offset.
func (e *editor) scalarEnd(node *yaml.Node, at int) int {
	switch {
	case node.Style&yaml.DoubleQuotedStyle != 0:
		for at++; at < len(e.text) && e.text[at] != '"'; at++ {
			if e.text[at] == '\\' {
				at++
			}
		}
		return min(at+1, len(e.text))
	case node.Style&yaml.SingleQuotedStyle != 0:
		for at++; at < len(e.text); at++ {
			if e.text[at] != '\'' {
				continue
			}
			if at+1 == len(e.text) || e.text[at+1] != '\'' {
				return at + 1
			}
			at++
		}
		return at
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return e.block(node).end
	default:
		return e.plainEnd(node.Value, at)
	}
}

// plainEnd finds the end of a plain scalar by its value: it has no escapes, and
// its line breaks are folded.
func (e *editor) plainEnd(value string, at int) int {
	for i := 0; i < len(value) && at < len(e.text); {
		if value[i] != ' ' && value[i] != '\n' {
			i, at = i+1, at+1
			continue
		}
		for i < len(value) && (value[i] == ' ' || value[i] == '\n') {
			i++
		}
		for at < len(e.text) && strings.IndexByte(" \t\n", e.text[at]) >= 0 {
			at++
		}
	}
	return at
}

// flowEnd is behind the bracket that closes what opens at an offset.
func (e *editor) flowEnd(node *yaml.Node, at int) int {
	opens := at < len(e.text) && (e.text[at] == '{' || e.text[at] == '[')
	if n := len(node.Content); n > 0 {
		at = e.end(node.Content[n-1])
		if node.Kind == yaml.MappingNode {
			at = e.pairEnd(node.Content[n-2], node.Content[n-1])
		}
	} else {
		at++
	}
	if !opens { // a: b inside a list
		return at
	}
	for at < len(e.text) && e.text[at] != '}' && e.text[at] != ']' {
		if e.text[at] == '#' {
			at = e.lineEnd(at)
		} else {
			at++
		}
	}
	return min(at+1, len(e.text))
}
