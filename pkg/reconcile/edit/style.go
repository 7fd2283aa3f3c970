package edit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// style is how a document lays out its collections.
type style struct {
	step int    // spaces by which a mapping is indented below its key
	list int    // spaces by which a list is indented below its key
	gap  string // between a dash and its entry
	json bool   // the document is JSON
	// quoted writes strings of several lines in quotes, not as block scalars.
	quoted bool
}

func defaultStyle() style { return style{step: 2, gap: " "} }

// styleOf reads the style of a document off the first collection that shows it.
func (e *editor) styleOf(doc document) style {
	s := defaultStyle()
	s.json = json.Valid(e.text[doc.start:doc.end])
	var step, list, gap bool
	var visit func(node *yaml.Node, column int)
	visit = func(node *yaml.Node, column int) {
		if node.Kind == yaml.AliasNode || node.Style&yaml.FlowStyle != 0 || len(node.Content) == 0 {
			return
		}
		if node.Kind == yaml.SequenceNode {
			first := e.firstDash(node)
			if !list && column >= 0 && !e.shared(first) {
				s.list, list = e.column(first)-column, true
			}
			if start := e.pos(node.Content[0]); !gap && !empty(node.Content[0]) && start < e.lineEnd(first) {
				s.gap, gap = strings.Repeat(" ", start-first-1), true
			}
			for _, item := range node.Content {
				visit(item, -1)
			}
			return
		}
		own := e.column(e.pos(node.Content[0]))
		if !step && column >= 0 && own > column {
			s.step, step = own-column, true
		}
		for i := 1; i < len(node.Content); i += 2 {
			visit(node.Content[i], own)
		}
	}
	visit(doc.root, -1)
	return s
}

// blockLines are the lines of a map or list that is not empty, at a column.
func (s style) blockLines(value any, column int) []string {
	pad := strings.Repeat(" ", column)
	var lines []string
	switch v := value.(type) {
	case map[string]any:
		for _, key := range orderedKeys(v) {
			lines = append(lines, s.pairLines(key, v[key], column)...)
		}
	case []any:
		for _, item := range v {
			lines = append(lines, s.itemLines(item, pad)...)
		}
	}
	return lines
}

// pairLines are the lines of one pair of a block mapping.
func (s style) pairLines(key string, value any, column int) []string {
	head := strings.Repeat(" ", column) + s.stringText(key, 0, false) + ":"
	switch v := value.(type) {
	case map[string]any:
		if len(v) > 0 {
			return append([]string{head}, s.blockLines(v, column+s.step)...)
		}
	case []any:
		if len(v) > 0 {
			return append([]string{head}, s.blockLines(v, column+s.list)...)
		}
	case string:
		if lines, ok := s.newBlock(v, column+s.step); ok {
			return append([]string{head + " " + lines[0]}, lines[1:]...)
		}
	}
	return []string{head + " " + s.scalarText(value, 0, false)}
}

// itemLines are the lines of one entry of a block sequence.
func (s style) itemLines(item any, pad string) []string {
	inner := len(pad) + 1 + len(s.gap)
	if text, ok := item.(string); ok {
		if lines, ok := s.newBlock(text, len(pad)+s.step); ok {
			return append([]string{pad + "-" + s.gap + lines[0]}, lines[1:]...)
		}
	}
	if !filled(item) {
		return []string{pad + "-" + s.gap + s.scalarText(item, 0, false)}
	}
	lines := s.blockLines(item, inner)
	lines[0] = pad + "-" + s.gap + lines[0][inner:]
	return lines
}

// flowText is a value on one line.
func (s style) flowText(value any, colon, comma string) string {
	var parts []string
	switch v := value.(type) {
	case map[string]any:
		for _, key := range orderedKeys(v) {
			parts = append(parts, s.stringText(key, 0, true)+colon+s.flowText(v[key], colon, comma))
		}
		return "{" + strings.Join(parts, comma) + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, s.flowText(item, colon, comma))
		}
		return "[" + strings.Join(parts, comma) + "]"
	default:
		return s.scalarText(value, 0, true)
	}
}

// filled says whether a value is a map or list with something in it.
func filled(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	default:
		return false
	}
}

// orderedKeys puts first what people look for first.
func orderedKeys(m map[string]any) []string {
	keys := slices.Sorted(maps.Keys(m))
	first := []string{"apiVersion", "kind", "metadata", "name", "namespace"}
	rank := func(key string) int {
		if i := slices.Index(first, key); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
	return keys
}
