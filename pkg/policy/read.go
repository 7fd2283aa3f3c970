package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/changeward/changeward/pkg/diff"
)

// reader walks a YAML tree by hand, since a decoder stops at its first
// problem, or names it by Go types: here each has its line and path.
type reader struct{ problems Problems }

// field is one value of the tree and where it stands.
type field struct {
	node *yaml.Node
	path string
}

// keys says how to read the members of a mapping.
type keys map[string]func(field)

func (r *reader) add(f field, format string, args ...any) {
	line := 0
	if f.node != nil {
		line = f.node.Line
	}
	r.problems = append(r.problems, Problem{Line: line, Path: f.path, Message: fmt.Sprintf(format, args...)})
}

// document reads the one document of a file; false when there is nothing to
// go on with.
func (r *reader) document(source []byte) (field, bool) {
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	var root, second yaml.Node
	if err := decoder.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		r.add(field{}, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
		return field{}, false
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		r.add(field{}, "more than one YAML document")
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		r.add(field{}, "not a YAML document")
		return field{}, false
	}
	return field{node: root.Content[0]}, true
}

// header checks apiVersion and kind of a file and reads its other members.
func (r *reader) header(root field, kind string, members keys) {
	seen := map[string]bool{}
	fixed := func(key, want string) func(field) {
		return func(f field) {
			seen[key] = true
			if got := r.text(f); got != want {
				r.add(f, "want %s", want)
			}
		}
	}
	members["apiVersion"] = fixed("apiVersion", APIVersion)
	members["kind"] = fixed("kind", kind)
	r.mapping(root, members)
	for _, key := range []string{"apiVersion", "kind"} {
		if !seen[key] {
			r.add(field{node: root.node, path: key}, "missing")
		}
	}
}

// mapping reads a mapping; unknown and duplicate keys are problems.
func (r *reader) mapping(f field, members keys) {
	if f.node.Kind != yaml.MappingNode {
		r.add(f, "want a mapping, got %s", describe(f.node))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		key, value := f.node.Content[i], f.node.Content[i+1]
		at := field{node: key, path: join(f.path, key.Value)}
		read, known := members[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !known:
			r.add(at, "unknown key")
		case seen[key.Value] > 0:
			r.add(at, "duplicate key, first at line %d", seen[key.Value])
		case value.Kind == yaml.AliasNode:
			r.add(at, "aliases are not supported")
		default:
			read(field{node: value, path: at.path})
		}
		seen[key.Value] = key.Line
	}
}

// list reads each entry of a list.
func (r *reader) list(f field, read func(field)) {
	if f.node.Kind != yaml.SequenceNode {
		r.add(f, "want a list, got %s", describe(f.node))
		return
	}
	for i, node := range f.node.Content {
		at := field{node: node, path: fmt.Sprintf("%s[%d]", f.path, i)}
		if node.Kind == yaml.AliasNode {
			r.add(at, "aliases are not supported")
			continue
		}
		read(at)
	}
}

func (r *reader) scalar(f field, tag, want string) (string, bool) {
	if f.node.Kind != yaml.ScalarNode || f.node.ShortTag() != tag {
		r.add(f, "want %s, got %s", want, describe(f.node))
		return "", false
	}
	return f.node.Value, true
}

// text reads a string that is not empty.
func (r *reader) text(f field) string {
	value, ok := r.scalar(f, "!!str", "a string")
	if ok && strings.TrimSpace(value) == "" {
		r.add(f, "must not be empty")
	}
	return value
}

func (r *reader) texts(f field) []string {
	var out []string
	r.list(f, func(entry field) { out = append(out, r.text(entry)) })
	return out
}

// paths reads field paths as plans write them.
func (r *reader) paths(f field) []string {
	var out []string
	r.list(f, func(entry field) {
		path := r.text(entry)
		if _, ok := diff.ParsePath(path); !ok && path != "" {
			r.add(entry, "not a field path as plans write them, such as metadata.annotations[\"example.com/stamp\"]")
		}
		out = append(out, path)
	})
	return out
}

func (r *reader) boolean(f field) bool {
	value, _ := r.scalar(f, "!!bool", "true or false")
	return strings.EqualFold(value, "true")
}

func (r *reader) integer(f field, least int) int {
	var value int
	if _, ok := r.scalar(f, "!!int", "a whole number"); !ok {
		return least
	}
	if err := f.node.Decode(&value); err != nil || value < least {
		r.add(f, "want a whole number, at least %d", least)
		return least
	}
	return value
}

// word reads one of some words.
func (r *reader) word(f field, words ...string) string {
	value, ok := r.scalar(f, "!!str", "one of "+strings.Join(words, ", "))
	if !ok {
		return ""
	}
	for _, word := range words {
		if value == word {
			return value
		}
	}
	r.add(f, "want one of %s, got %q", strings.Join(words, ", "), value)
	return ""
}

// duration reads a Go duration above zero, as 72h.
func (r *reader) duration(f field) time.Duration {
	value, ok := r.scalar(f, "!!str", "a duration such as 72h")
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		r.add(f, "want a duration above zero, such as 72h or 90m, got %q", value)
	}
	return d
}

// instant reads an RFC 3339 time, quoted or not.
func (r *reader) instant(f field) time.Time {
	t, err := time.Parse(time.RFC3339, f.node.Value)
	if f.node.Kind != yaml.ScalarNode || err != nil {
		r.add(f, "want a time such as 2026-12-20T00:00:00Z, got %s", describe(f.node))
	}
	return t.UTC()
}

func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if node.ShortTag() == "!!null" {
			return "nothing"
		}
		return fmt.Sprintf("%q", node.Value)
	default:
		return "an alias"
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// require adds a problem for a missing member, unless one says more already.
func (r *reader) require(parent field, key string, given bool) {
	at := join(parent.path, key)
	if given {
		return
	}
	for _, problem := range r.problems {
		if rest, under := strings.CutPrefix(problem.Path, at); under && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return
		}
	}
	r.add(field{node: parent.node, path: at}, "missing")
}
