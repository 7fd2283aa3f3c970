package edit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reshape takes parts out of a collection and puts new ones in.
func (e *editor) reshape(at place, node *yaml.Node, parts []part, inserts []insert) {
	goes := func(p part) bool { return p.goes }
	switch {
	case len(inserts) == 0 && !slices.ContainsFunc(parts, goes):
	case !isBlockCollection(node):
		e.reshapeFlow(node, parts, inserts)
	case len(inserts) == 0 && !slices.ContainsFunc(parts, func(p part) bool { return !p.goes }):
		e.emptied(at, node, parts)
	default:
		e.insertLines(at, parts, inserts)
		e.removeLines(parts, len(inserts) > 0)
	}
}

// emptied leaves {} or [] of a block collection.
func (e *editor) emptied(at place, node *yaml.Node, parts []part) {
	token := map[yaml.Kind]string{yaml.MappingNode: "{}", yaml.SequenceNode: "[]"}[node.Kind]
	first := parts[0]
	if e.shared(first.start) {
		e.put(first.start, first.end, token)
		parts = parts[1:]
	} else if start := e.body(node); start != e.firstOf(node) {
		e.put(start, start, " "+token) // behind its anchor
	} else if at.after < 0 {
		e.never()
	} else {
		e.put(at.after, at.after, " "+token)
	}
	for _, p := range parts {
		e.removeLine(p)
	}
}

// removeLine removes the lines of a part, and the line break before them.
func (e *editor) removeLine(p part) {
	start, end := e.lineStart(p.from), e.lineEnd(p.end)
	if start == 0 {
		e.put(0, min(end+1, len(e.text)), "")
		return
	}
	e.put(start-1, end, "")
}

// removeLines removes the parts that go. The first may stand behind a dash: then
// the next one that stays comes up to it, unless a comment stands between.
func (e *editor) removeLines(parts []part, replaced bool) {
	if first := parts[0]; first.goes && e.shared(first.start) {
		next := slices.IndexFunc(parts, func(p part) bool { return !p.goes })
		switch {
		case next < 0 && replaced: // insertLines has put something there
		case next > 0 && !e.commented(parts[:next+1]):
			e.put(first.start, parts[next].start, "")
			parts = parts[next:]
		default:
			e.put(len(strings.TrimRight(string(e.text[:first.start]), " ")), first.end, "")
		}
		if first.goes && parts[0].goes {
			parts = parts[1:]
		}
	}
	for _, p := range parts {
		if p.goes {
			e.removeLine(p)
		}
	}
}

// commented says whether a comment stands between parts.
func (e *editor) commented(parts []part) bool {
	for i := range parts[1:] {
		if strings.Contains(string(e.text[parts[i].end:parts[i+1].start]), "#") {
			return true
		}
	}
	return false
}

// insertLines puts new parts into a block collection.
func (e *editor) insertLines(at place, parts []part, inserts []insert) {
	first := parts[0]
	column := e.column(first.start)
	var head []string
	for _, in := range inserts {
		if in.after < 0 {
			head = append(head, e.style.insertLines(in, column)...)
			continue
		}
		end := e.lineEnd(parts[in.after].end)
		e.put(end, end, below(e.style.insertLines(in, column)))
	}
	stays := slices.ContainsFunc(parts, func(p part) bool { return !p.goes })
	switch {
	case len(head) == 0:
	case e.shared(first.start) && stays:
		e.put(first.start, first.start, strings.Join(head, "\n")[column:]+"\n"+strings.Repeat(" ", column))
	case e.shared(first.start):
		e.put(first.start, first.end, strings.Join(head, "\n")[column:])
	case at.after >= 0:
		e.put(e.lineEnd(at.after), e.lineEnd(at.after), below(head))
	case e.lineStart(first.start) > 0:
		start := e.lineStart(first.start) - 1
		e.put(start, start, below(head))
	default:
		e.put(0, 0, strings.Join(head, "\n")+"\n")
	}
}

// insertLines are the lines of a new part of a block collection.
func (s style) insertLines(in insert, column int) []string {
	switch {
	case in.raw != "":
		return strings.Split(in.raw, "\n")
	case in.pair:
		return s.pairLines(in.key, in.value, column)
	default:
		return s.itemLines(in.value, strings.Repeat(" ", column))
	}
}
