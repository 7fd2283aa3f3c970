package manifest

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// pair is one explicit entry of a mapping.
type pair struct {
	name       string // as kubectl converts it
	key, value *yaml.Node
	unsure     bool // another entry of this name was reported
}

func (w *walker) mapping(node *yaml.Node, value any, path string, depth int) {
	content, ok := value.(map[string]any)
	_, skip := value.(unknown)
	if !skip && !ok {
		w.differs(node, path)
		return
	}
	pairs, merged, fine := w.pairs(node, path, skip, depth)
	for _, p := range pairs {
		merged[p.name] = true
		child := Child(path, p.name)
		held, has := content[p.name]
		switch {
		case skip || p.unsure:
			w.value(p.value, unknown{}, child, depth+1)
		case !has:
			w.differs(p.key, child)
		default:
			w.value(p.value, held, child, depth+1)
		}
	}
	if !skip && fine && len(merged) != len(content) {
		w.differs(node, path)
	}
}

// pairs are the explicit entries of a mapping, and the keys that it merges;
// what is wrong among them is reported. Merges are not followed in a document
// that could not be read as a value: they may be endless.
func (w *walker) pairs(node *yaml.Node, path string, skip bool, depth int) (pairs []pair, merged map[string]bool, fine bool) {
	merged, fine = map[string]bool{}, true
	first := map[string]int{}
	merges := 0
	for i := 0; i+1 < len(node.Content); i += 2 {
		p := pair{key: target(node.Content[i]), value: node.Content[i+1]}
		if isMerge(p.key) {
			if merges++; merges > 1 {
				w.report(p.key.Line, Child(path, "<<"), ReasonDuplicateKey, "a second merge key in one mapping; list what is merged: <<: [*a, *b]")
			}
			w.merge(p.value, pairs, merged, path, skip, depth)
			continue
		}
		name, ok := w.key(p.key, path)
		if !ok {
			fine = false
			continue
		}
		p.name = name
		if at, twice := first[name]; twice {
			w.twice(pairs[at], p, path)
			pairs[at].unsure, p.unsure = true, true
		} else {
			first[name] = len(pairs)
		}
		pairs = append(pairs, p)
	}
	return pairs, merged, fine
}

func (w *walker) twice(first, second pair, path string) {
	message := fmt.Sprintf("this key stands in lines %d and %d", first.key.Line, second.key.Line)
	if first.key.Line == second.key.Line {
		message = "this key stands here twice"
	}
	if first.key.Value != second.key.Value {
		message += fmt.Sprintf(": YAML reads both %s and %s as %s; quote them", first.key.Value, second.key.Value, first.name)
	}
	w.report(second.key.Line, Child(path, second.name), ReasonDuplicateKey, message)
}

// merge checks what a merge key brings: an entry before it would win in one
// reader of YAML and lose in the other.
func (w *walker) merge(value *yaml.Node, before []pair, merged map[string]bool, path string, skip bool, depth int) {
	if value.Kind != yaml.AliasNode {
		for _, inline := range sources(value) {
			w.value(inline, unknown{}, path, depth+1)
		}
	}
	if skip {
		return
	}
	for _, source := range sources(value) {
		for name := range w.keys(target(source)) {
			merged[name] = true
		}
	}
	for i, p := range before {
		if merged[p.name] && !p.unsure {
			before[i].unsure = true
			w.report(p.key.Line, Child(path, p.name), ReasonAmbiguous, "stands before the merge key (<<) that sets it, too: tools disagree which one wins; put << first")
		}
	}
}

// keys are all keys that a mapping has, merged ones too.
func (w *walker) keys(node *yaml.Node) map[string]bool {
	if known, ok := w.merged[node]; ok {
		return known
	}
	keys := map[string]bool{}
	w.merged[node] = keys
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := target(node.Content[i]); !isMerge(key) {
			keys[w.converted(key)] = true
			continue
		}
		for _, source := range sources(node.Content[i+1]) {
			for name := range w.keys(target(source)) {
				keys[name] = true
			}
		}
	}
	return keys
}

// key is a key as kubectl converts it; what is no key in JSON is reported.
func (w *walker) key(key *yaml.Node, path string) (string, bool) {
	switch {
	case key.Kind != yaml.ScalarNode:
		w.report(key.Line, path, ReasonNotJSON, "has a key that is a mapping or a list")
	case key.Style&yaml.TaggedStyle != 0 && key.ShortTag() != "!!str":
		w.report(key.Line, path, ReasonNotJSON, "has a key with a YAML tag (!)")
	case plain(key) && slices.Contains([]string{"", "~", "null", "Null", "NULL"}, key.Value):
		w.report(key.Line, path, ReasonNotJSON, "has null as a key; quote it if it is a string")
	default:
		return w.converted(key), true
	}
	return "", false
}

// converted is the string that YAML 1.1 makes of a key.
func (w *walker) converted(key *yaml.Node) string {
	text := key.Value
	switch {
	case !plain(key) || text == "":
		return text
	case slices.Contains([]string{"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"}, text):
		return "true"
	case slices.Contains([]string{"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"}, text):
		return "false"
	case text[0] == '+' || text[0] == '-' || text[0] == '.' || text[0] >= '0' && text[0] <= '9':
		return w.number(text)
	default:
		return text
	}
}

// number is what kubectl makes of a key that may be a number.
func (w *walker) number(text string) string {
	if known, ok := w.numbers[text]; ok {
		return known
	}
	name := text
	var content map[string]any
	if raw, err := kyaml.YAMLToJSON([]byte(text + ": 0")); err == nil && json.Unmarshal(raw, &content) == nil && len(content) == 1 {
		for name = range content {
		}
	}
	w.numbers[text] = name
	return name
}
