package manifest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MaxDepth is how deep an object may be nested.
const MaxDepth = 200

// unknown stands for a value that is not compared with its node.
type unknown struct{}

// walk finds what a decoded value no longer shows: duplicate keys, keys that
// two readers of YAML would override differently, digits lost, tags. It also
// checks that nodes and value, which two parsers made, say the same. Aliases
// are not followed: what they stand for is walked at its anchor.
func walk(node *yaml.Node, value any) []Problem { return walkBut(node, value, "") }

// walkBut is walk without the part at a path.
func walkBut(node *yaml.Node, value any, skip string) []Problem {
	w := &walker{merged: map[*yaml.Node]map[string]bool{}, numbers: map[string]string{}, skip: skip}
	w.value(node, value, "", 0)
	return w.problems
}

type walker struct {
	problems []Problem
	merged   map[*yaml.Node]map[string]bool // keys that a mapping has, merged ones too
	numbers  map[string]string              // keys written as numbers → as read
	skip     string                         // path that is not walked
}

func (w *walker) report(line int, path, reason, message string) {
	w.problems = append(w.problems, Problem{Source: Source{Line: line}, Path: path, Reason: reason, Message: message})
}

func (w *walker) differs(node *yaml.Node, path string) {
	w.report(node.Line, path, ReasonAmbiguous, "kubectl would read this differently from other tools; write it in a plainer way")
}

func (w *walker) value(node *yaml.Node, value any, path string, depth int) {
	switch {
	case path != "" && path == w.skip || node.Kind == yaml.AliasNode:
	case depth > MaxDepth:
		w.report(node.Line, path, ReasonTooDeep, fmt.Sprintf("nested deeper than %d", MaxDepth))
	case node.Style&yaml.TaggedStyle != 0 && !known(node.ShortTag()):
		w.report(node.Line, path, ReasonNotJSON, "has a YAML tag (!) that has no meaning in JSON; quote a value that starts with !")
	case node.Kind == yaml.MappingNode:
		w.mapping(node, value, path, depth)
	case node.Kind == yaml.SequenceNode:
		w.sequence(node, value, path, depth)
	default:
		w.scalar(node, value, path)
	}
}

func known(tag string) bool {
	return strings.Contains(" !!str !!int !!float !!bool !!null !!map !!seq ", " "+tag+" ")
}

func (w *walker) sequence(node *yaml.Node, value any, path string, depth int) {
	list, ok := value.([]any)
	_, skip := value.(unknown)
	if !skip && (!ok || len(list) != len(node.Content)) {
		w.differs(node, path)
		return
	}
	for i, item := range node.Content {
		if skip {
			w.value(item, unknown{}, Item(path, i), depth+1)
			continue
		}
		w.value(item, list[i], Item(path, i), depth+1)
	}
}

func (w *walker) scalar(node *yaml.Node, value any, path string) {
	isPlain := plain(node)
	switch v := value.(type) {
	case unknown:
		if isPlain && endless(node.Value) {
			w.report(node.Line, path, ReasonNotJSON, "is not a finite number")
		}
		if isPlain && beyond(node.Value) {
			w.lossy(node, path)
		}
	case string:
		if v != node.Value {
			w.differs(node, path)
		}
	case float64:
		if isPlain && beyond(node.Value) {
			w.lossy(node, path)
		}
	case map[string]any, []any:
		w.differs(node, path)
	default:
		if node.Style&quoted != 0 && node.Style&yaml.TaggedStyle == 0 {
			w.differs(node, path)
		}
	}
}

// endless says whether a plain scalar is an infinite number or none at all.
func endless(text string) bool {
	text = strings.ToLower(strings.TrimLeft(text, "+-"))
	return text == ".inf" || text == ".nan"
}

// beyond says whether a plain scalar is an integer beyond 64 bits.
func beyond(text string) bool {
	_, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
	return errors.Is(err, strconv.ErrRange)
}

func (w *walker) lossy(node *yaml.Node, path string) {
	w.report(node.Line, path, ReasonNumber, "is an integer beyond 64 bits and would lose digits; quote it if it is a string")
}
