package edit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/changeward/changeward/pkg/diff"
)

// Replace makes a document, by its index in Values, mean want, which is decoded
// JSON. It is the file after that: only lines that must change differ from the
// text as it was opened.
func (t *Text) Replace(index int, want any) ([]byte, error) {
	out, err := t.replace(index, want, false)
	if err != nil { // a block scalar at the end of a file without final newline means another text
		out, err = t.replace(index, want, true)
	}
	return out, err
}

func (t *Text) replace(index int, want any, quoted bool) ([]byte, error) {
	doc := t.docs[index]
	e := &editor{file: t.name, text: t.text, starts: lineStarts(t.text)}
	e.style = e.styleOf(doc)
	e.style.quoted = quoted
	e.edit(place{after: -1, column: -1}, doc.root, doc.value, want, "")
	out, err := t.apply(e.splices)
	if err == nil {
		err = t.check(out, index, want)
	}
	if err != nil && len(e.doubts) > 0 {
		return nil, e.doubts[0]
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// check reads the new file: the document means what was wanted, and the others
// have kept their bytes.
func (t *Text) check(out []byte, index int, want any) error {
	after, err := Open(t.name, out)
	failed := t.refuse(t.Line(index), "cannot be edited in place so that it means what is wanted")
	if err != nil || len(after.docs) != len(t.docs) {
		return failed
	}
	for i, doc := range after.docs {
		before := t.docs[i]
		if i == index && !diff.Equal(doc.value, want) ||
			i != index && !bytes.Equal(after.text[doc.start:doc.end], t.text[before.start:before.end]) {
			return failed
		}
	}
	return nil
}

// place is where a value stands.
type place struct {
	flow   bool
	after  int  // behind the colon or dash before the value; -1 for a whole document
	column int  // of the key or dash
	pair   bool // it is the value of a key
}

// edit makes the value of a node another one.
func (e *editor) edit(at place, node *yaml.Node, have, want any, path string) {
	if diff.Equal(have, want) {
		return
	}
	switch {
	case node.Kind == yaml.AliasNode:
		e.doubt(node.Line, path, "comes from the anchor &"+node.Value+", which other places use, too")
		return
	case node.Anchor != "":
		e.doubt(node.Line, path, "is the anchor &"+node.Anchor+", which other places use, too")
	case node.Style&yaml.TaggedStyle != 0:
		e.doubt(node.Line, path, "has a YAML tag (!), which another value may not fit")
	}
	to, isMap := want.(map[string]any)
	from, wasMap := have.(map[string]any)
	toList, isList := want.([]any)
	fromList, wasList := have.([]any)
	switch {
	case node.Style&yaml.TaggedStyle != 0:
		e.never()
	case isMap && wasMap && node.Kind == yaml.MappingNode:
		e.mapping(at, node, from, to, path)
	case isList && wasList && node.Kind == yaml.SequenceNode:
		e.sequence(at, node, fromList, toList, path)
	case at.after < 0:
		e.doubt(node.Line, path, "is another kind of document")
		e.never()
	default:
		e.substitute(at, node, want)
	}
}

// substitute puts another kind of value, or another scalar, in place of a node.
func (e *editor) substitute(at place, node *yaml.Node, want any) {
	isBlock := node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && node.Kind == yaml.ScalarNode
	text, isText := want.(string)
	switch {
	case at.flow:
		start, end := e.body(node), e.end(node)
		if empty(node) {
			start = at.after
			end = start
			e.put(start, end, e.gapBefore(at)+e.style.flowText(want, ": ", ", "))
			return
		}
		e.put(start, end, e.flowSubstitute(node, want))
	case isBlock && isText && !e.style.quoted && e.reblock(node, text):
	case !filled(want):
		e.substituteScalar(at, node, want)
	default:
		e.substituteFilled(at, node, want)
	}
}

func (e *editor) flowSubstitute(node *yaml.Node, want any) string {
	if !filled(want) {
		return e.style.scalarText(want, quoteStyle(node), true)
	}
	return e.style.flowText(want, ": ", ", ")
}

// quoteStyle is the style that a scalar may take over from a node.
func quoteStyle(node *yaml.Node) yaml.Style {
	if node.Kind != yaml.ScalarNode {
		return 0
	}
	return node.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
}

// gapBefore is what stands between a key of a flow mapping and a value that it
// did not have.
func (e *editor) gapBefore(at place) string {
	if at.after > 0 && e.text[at.after-1] == ':' || !at.pair {
		return " "
	}
	return ": "
}

// substituteScalar puts a scalar, or an empty collection, where a node is.
func (e *editor) substituteScalar(at place, node *yaml.Node, want any) {
	if text, ok := want.(string); ok && strings.Contains(strings.TrimRight(text, "\n"), "\n") {
		column := at.column + e.style.step
		if lines, ok := e.style.newBlock(text, column); ok {
			e.substituteLines(at, node, lines[0], lines[1:])
			return
		}
	}
	e.substituteLines(at, node, e.style.scalarText(want, quoteStyle(node), false), nil)
}

// substituteFilled puts a map or list, on lines of its own, where a node is.
func (e *editor) substituteFilled(at place, node *yaml.Node, want any) {
	if at.pair {
		column := at.column + e.style.step
		if _, list := want.([]any); list {
			column = at.column + e.style.list
		}
		e.substituteLines(at, node, "", e.style.blockLines(want, column))
		return
	}
	column := at.column + 1 + len(e.style.gap)
	lines := e.style.blockLines(want, column)
	e.substituteLines(at, node, lines[0][column:], lines[1:])
}

// substituteLines puts head on the line of the key or dash, and lines below it,
// in place of a node; a comment behind it stays.
func (e *editor) substituteLines(at place, node *yaml.Node, head string, lines []string) {
	start, end := e.body(node), 0
	rest, restEnd := -1, -1 // what goes below the first line
	switch {
	case empty(node):
		start, end = at.after, at.after
	case node.Kind == yaml.ScalarNode && node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		b := e.block(node)
		end, rest, restEnd = b.headerEnd, e.lineEnd(b.headerEnd), b.end
	case isBlockCollection(node) && e.lineOf(e.firstOf(node)) != e.lineOf(at.after):
		rest, restEnd = e.lineStart(e.firstOf(node))-1, e.lineEnd(e.end(node))
		if start = e.body(node); start == e.firstOf(node) {
			start = at.after
		}
		end = start
	default:
		end = e.end(node)
	}
	for head == "" && start > at.after && e.text[start-1] == ' ' {
		start--
	}
	if head != "" && e.text[start-1] != ' ' {
		head = " " + head
	}
	e.put(start, end, head)
	if rest < 0 {
		rest, restEnd = e.lineEnd(end), e.lineEnd(end)
	}
	e.put(rest, restEnd, below(lines))
}

func isBlockCollection(node *yaml.Node) bool {
	return (node.Kind == yaml.MappingNode || node.Kind == yaml.SequenceNode) && node.Style&yaml.FlowStyle == 0
}

// firstOf is where the first key or dash of a block collection stands.
func (e *editor) firstOf(node *yaml.Node) int {
	if node.Kind == yaml.SequenceNode {
		return e.firstDash(node)
	}
	return e.pos(node.Content[0])
}

// below are lines as they follow another.
func below(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString("\n" + line)
	}
	return out.String()
}
