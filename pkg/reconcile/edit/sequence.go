package edit

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/changeward/changeward/pkg/manifest"
)

// sequence makes a list hold what it should: entries that stay keep their text
// and their place, those that move take their text along.
func (e *editor) sequence(at place, node *yaml.Node, have, want []any, path string) {
	parts := e.items(node)
	stays, moved := align(have, want)
	for i := range parts {
		parts[i].goes = true
	}
	var inserts []insert
	last := -1
	for j, value := range want {
		if i := stays[j]; i >= 0 {
			parts[i].goes, last = false, i
			e.edit(e.itemPlace(at, node, parts[i]), parts[i].value, have[i], value, manifest.Item(path, i))
			continue
		}
		in := insert{after: last, value: value}
		if i := moved[j]; i >= 0 {
			in.raw = e.carried(at, node, &parts[i], have[i], value, manifest.Item(path, i))
		}
		inserts = append(inserts, in)
	}
	e.reshape(at, node, parts, inserts)
}

// items are the entries of a sequence.
func (e *editor) items(node *yaml.Node) []part {
	parts := make([]part, len(node.Content))
	for i, item := range node.Content {
		p := part{value: item}
		if isBlockCollection(node) {
			p.start, p.end = e.dash(node, i), e.itemEnd(node, i)
		} else {
			p.start, p.end = e.pos(item), e.end(item)
		}
		p.from = p.start
		parts[i] = p
	}
	return parts
}

func (e *editor) itemPlace(at place, list *yaml.Node, p part) place {
	if !isBlockCollection(list) {
		return place{flow: true, after: p.start, column: at.column}
	}
	return place{after: p.start + 1, column: e.column(p.start)}
}

// carried is the text of an entry that moves, with the comments right above it,
// edited to be the value that it should have.
func (e *editor) carried(at place, list *yaml.Node, p *part, have, want any, path string) string {
	end := p.end
	if isBlockCollection(list) {
		end = e.lineEnd(end)
		if !e.shared(p.start) {
			p.from = e.head(p.start)
		}
	}
	outer := e.splices
	e.splices = nil
	e.edit(e.itemPlace(at, list, *p), p.value, have, want, path)
	for i := range e.splices {
		e.splices[i].start -= p.from
		e.splices[i].end -= p.from
	}
	raw, ok := spliced(e.text[p.from:end], e.splices)
	e.splices = outer
	if !ok {
		e.never()
	}
	if isBlockCollection(list) {
		return strings.Repeat(" ", e.column(p.from)) + string(raw)
	}
	return string(raw)
}

// head is where the comments right above the line of an offset begin, as far as
// they are indented like it.
func (e *editor) head(at int) int {
	column, from := e.column(at), at
	for line := e.lineOf(at) - 1; line >= 0; line-- {
		text := string(e.text[e.starts[line] : e.starts[line+1]-1])
		if !strings.HasPrefix(text, strings.Repeat(" ", column)+"#") {
			break
		}
		from = e.starts[line] + column
	}
	return from
}
