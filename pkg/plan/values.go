package plan

import (
	"encoding/json"
	"strconv"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

// Shown is a value as output has it: every masked value, at any depth, is
// {"masked": true}.
func Shown(value any) any {
	switch v := value.(type) {
	case state.Masked:
		return map[string]any{"masked": true}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[key] = Shown(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, entry := range v {
			out[i] = Shown(entry)
		}
		return out
	default:
		return value
	}
}

// thawed gives decoded values the Go types that observations have: int64 and
// float64 where they hold the number exactly, state.Masked for the values of
// Secrets. The canonical form stays the same.
func thawed(b Body) Body {
	secret := b.Group == "" && b.Kind == "Secret"
	for i, t := range b.Transitions {
		b.Transitions[i].Old, b.Transitions[i].New = thaw(t.Old), thaw(t.New)
		if secret {
			steps, _ := diff.ParsePath(t.Path)
			b.Transitions[i].Old = unmask(keys(steps), b.Transitions[i].Old)
			b.Transitions[i].New = unmask(keys(steps), b.Transitions[i].New)
		}
	}
	for i, a := range b.Admission {
		b.Admission[i].Value = thaw(a.Value)
		if secret {
			steps, _ := diff.ParsePath(a.Path)
			b.Admission[i].Value = unmask(keys(steps), b.Admission[i].Value)
		}
	}
	b.Object = thaw(b.Object)
	if b.Delete != nil {
		b.Delete.Fields = thaw(b.Delete.Fields)
	}
	if secret {
		b.Object = unmask(nil, b.Object)
		if b.Delete != nil {
			b.Delete.Fields = unmask(nil, b.Delete.Fields)
		}
	}
	return b
}

func thaw(value any) any {
	switch v := value.(type) {
	case json.Number:
		return number(v)
	case map[string]any:
		for key, member := range v {
			v[key] = thaw(member)
		}
	case []any:
		for i, entry := range v {
			v[i] = thaw(entry)
		}
	}
	return value
}

func number(n json.Number) any {
	if i, err := n.Int64(); err == nil && strconv.FormatInt(i, 10) == n.String() {
		return i
	}
	if f, err := n.Float64(); err == nil && diff.Equal(f, n) {
		return f
	}
	return n
}

// unmask turns the hashed form of masked values back. They stand where a
// Secret has strings of its own, as members of data, annotations and labels, or
// for data as a whole; elsewhere a map of that form is what it looks like.
func unmask(path []string, value any) any {
	members, ok := value.(map[string]any)
	if !ok {
		return value
	}
	if maskable(path) {
		if masked, ok := maskOf(members); ok {
			return masked
		}
	}
	for key, member := range members {
		members[key] = unmask(append(path[:len(path):len(path)], key), member)
	}
	return members
}

func maskable(path []string) bool {
	switch len(path) {
	case 1, 2:
		return path[0] == "data"
	case 3:
		return path[0] == "metadata" && (path[1] == "annotations" || path[1] == "labels")
	default:
		return false
	}
}

func maskOf(members map[string]any) (state.Masked, bool) {
	if len(members) != 1 {
		return state.Masked{}, false
	}
	if tag, ok := members["hmac"].(string); ok {
		return state.Masked{Tag: tag}, true
	}
	return state.Masked{Unbound: true}, members["mark"] == "unbound"
}

// keys is a path without its selectors.
func keys(steps []diff.Step) []string {
	var out []string
	for _, step := range steps {
		if step.Selector == "" {
			out = append(out, step.Key)
		}
	}
	return out
}
