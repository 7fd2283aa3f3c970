package edit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// part is a pair of a mapping or an entry of a sequence, as it is written.
type part struct {
	key, value *yaml.Node // key is nil in a sequence
	name       string
	start, end int
	from       int // where what belongs to it begins: comments above an entry that moves
	goes       bool
}

// insert is a pair or an entry that a collection gets: a value, or the text of
// one that moves.
type insert struct {
	after int // index of the part that it follows; -1: it is the first
	key   string
	pair  bool
	value any
	raw   string
}

// parts are the explicit pairs of a mapping, and the line of its merge key, 0
// if it has none. It answers false for keys that cannot be told apart.
func (e *editor) parts(node *yaml.Node, path string) (parts []part, merge int, ok bool) {
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		p := part{key: node.Content[i], value: node.Content[i+1]}
		p.start, p.end = e.pos(p.key), e.pairEnd(p.key, p.value)
		p.from = p.start
		switch {
		case p.key.Kind != yaml.ScalarNode || p.key.Anchor != "" || p.key.Style&yaml.TaggedStyle != 0 || strings.HasPrefix(string(e.text[p.start:]), "? "):
			e.doubt(p.key.Line, path, "has a key that is no plain text")
			return nil, 0, false
		case p.key.Value == "<<" && p.key.Style == 0:
			merge = p.key.Line
		default:
			p.name = keyName(p.key)
			if line, twice := seen[p.name]; twice {
				e.doubt(p.key.Line, manifest.Child(path, p.name), fmt.Sprintf("this key stands in line %d, too", line))
				return nil, 0, false
			}
			seen[p.name] = p.key.Line
		}
		parts = append(parts, p)
	}
	return parts, merge, true
}

// keyName is a key as kubectl reads it.
func keyName(key *yaml.Node) string {
	if key.Style != 0 || !typed(key.Value) {
		return key.Value
	}
	var content map[string]any
	raw, err := kyaml.YAMLToJSON([]byte(key.Value + ": 0"))
	if err == nil && json.Unmarshal(raw, &content) == nil {
		for name := range content {
			return name
		}
	}
	return key.Value
}

// mapping makes a mapping hold what it should.
func (e *editor) mapping(at place, node *yaml.Node, have, want map[string]any, path string) {
	parts, merge, ok := e.parts(node, path)
	if !ok {
		e.never()
		return
	}
	written, last := map[string]bool{}, -1
	for i := range parts {
		p := &parts[i]
		_, stays := want[p.name]
		if p.goes = !stays && !p.merges(); !p.goes {
			last = i
		}
		if written[p.name] = true; !p.goes && !p.merges() {
			e.edit(e.pairPlace(node, *p), p.value, have[p.name], want[p.name], manifest.Child(path, p.name))
		}
	}
	e.merged(merge, written, have, want, path)
	var inserts []insert
	for _, key := range orderedKeys(want) {
		if _, had := have[key]; !had {
			inserts = append(inserts, insert{after: last, key: key, pair: true, value: want[key]})
		}
	}
	e.reshape(at, node, parts, inserts)
}

// merged doubts what should become of keys that a merge key brings.
func (e *editor) merged(line int, written map[string]bool, have, want map[string]any, path string) {
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if value, stays := want[key]; !written[key] && (!stays || !diff.Equal(value, have[key])) {
			e.doubt(line, manifest.Child(path, key), "comes from a merge key (<<), whose anchor other places use, too")
		}
	}
}

func (p part) merges() bool { return p.key != nil && p.key.Value == "<<" && p.key.Style == 0 }

// never makes sure that no text comes of this edit: the doubt says why.
func (e *editor) never() { e.put(-1, -1, "") }

func (e *editor) pairPlace(mapping *yaml.Node, p part) place {
	after, _ := e.colon(p.key)
	return place{flow: !isBlockCollection(mapping), after: after, column: e.column(p.start), pair: true}
}
