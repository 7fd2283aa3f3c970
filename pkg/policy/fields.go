package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// fieldsOf is change.fields: the transitions of an update, and below each
// whose value is a map or a list the values in it; for other operations every
// value of the object, as added or removed. So a rule about a field holds for
// an object that arrives whole, too. List entries of the latter are counted
// from 0, since no schema says what identifies them.
func fieldsOf(b plan.Body) []map[string]any {
	out := []map[string]any{}
	for _, t := range b.Transitions {
		out = append(out, withLeaves(t.Path, t.Old, t.New)...)
	}
	if b.Object != nil {
		out = append(out, leaves("", nil, b.Object)...)
	}
	if b.Delete != nil && b.Delete.Fields != nil {
		out = append(out, leaves("", b.Delete.Fields, nil)...)
	}
	for _, added := range b.Admission {
		if added.Mark != "" {
			out = append(out, entry(added.Path, nil, map[string]any{"mark": added.Mark}))
			continue
		}
		out = append(out, withLeaves(added.Path, nil, added.Value)...)
	}
	return out
}

func withLeaves(path string, before, after any) []map[string]any {
	out := []map[string]any{entry(path, before, after)}
	if composite(before) || composite(after) {
		out = append(out, leaves(path, before, after)...)
	}
	return out
}

func entry(path string, before, after any) map[string]any {
	return map[string]any{"path": path, "old": plain(before), "new": plain(after)}
}

// leaves are the values below a path that differ. Values are compared before
// they are masked.
func leaves(path string, before, after any) []map[string]any {
	old, now := map[string]any{}, map[string]any{}
	collect(path, before, old)
	collect(path, after, now)
	all := maps.Clone(old)
	maps.Copy(all, now)
	var out []map[string]any
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if a, b := old[p], now[p]; !reflect.DeepEqual(a, b) {
			out = append(out, entry(p, a, b))
		}
	}
	return out
}

func collect(path string, value any, into map[string]any) {
	if !composite(value) {
		if value != nil {
			into[path] = value
		}
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			collect(path+segment(path, key), member, into)
		}
	case []any:
		for i, member := range v {
			collect(fmt.Sprintf("%s[%d]", path, i), member, into)
		}
	}
}

func composite(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	default:
		return false
	}
}

// segment writes a map key as the paths of pkg/diff do.
func segment(parent, key string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if key == "" || strings.Trim(key, bare) != "" {
		var quoted bytes.Buffer
		encoder := json.NewEncoder(&quoted)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(key); err != nil { // strings always have a form
			panic(err)
		}
		return "[" + strings.TrimSpace(quoted.String()) + "]"
	}
	if parent == "" {
		return key
	}
	return "." + key
}

// mask is what expressions see of a masked value. It is a type of its own, so
// that an object which looks alike is not taken for one.
type mask map[string]bool

// plain turns a value into what CEL takes: maps, lists, strings, bools, int64,
// float64 and nil. A masked value becomes {"masked": true}.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[key] = plain(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, member := range v {
			out[i] = plain(member)
		}
		return out
	case state.Masked:
		return mask{"masked": true}
	case nil, string, bool, int64, float64:
		return v
	case int:
		return int64(v)
	case json.Number:
		return number(v)
	default:
		return fmt.Sprint(v)
	}
}

func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, _ := n.Float64()
	return f
}
