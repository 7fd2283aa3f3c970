package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// facts are what the risks of one change are judged by.
type facts struct {
	subject
	set  []leaf // values that will be there and were not
	gone []leaf // values that were there and will not be
}

// leaf is one value of an object, at the place it has.
type leaf struct {
	path     string // as in a transition
	plain    string // keys only, joined by dots: spec.containers.image
	value    any
	before   any  // the value at the same path, for a change
	assigned bool // set by admission, not by the manifest
}

func factsOf(s subject) facts {
	f := facts{subject: s}
	f.set = flatten("", "", s.Body.Object)
	for _, a := range s.Body.Admission {
		value := a.Value
		if a.Mark == MarkDiffers {
			value = Differs()
		}
		for _, l := range flatten(a.Path, plainOf(a.Path), value) {
			l.assigned = true
			f.set = append(f.set, l)
		}
	}
	for _, t := range s.Body.Transitions {
		if t.Action == diff.Order {
			continue
		}
		plain := plainOf(t.Path)
		if isMark(t.New) {
			f.set = append(f.set, leaf{path: t.Path, plain: plain, value: t.New})
			continue
		}
		old, now := flatten(t.Path, plain, t.Old), flatten(t.Path, plain, t.New)
		f.set = append(f.set, without(now, old)...)
		f.gone = append(f.gone, without(old, now)...)
	}
	return f
}

// without leaves out the values that other has at the same keys: in a list
// that changed whole, most entries are as they were. A single value that
// changed keeps the one before.
func without(leaves, other []leaf) []leaf {
	there := map[string]bool{}
	for _, l := range other {
		there[l.plain+"="+jsonOf(l.value)] = true
	}
	var out []leaf
	for _, l := range leaves {
		if there[l.plain+"="+jsonOf(l.value)] {
			continue
		}
		if len(leaves) == 1 && len(other) == 1 && other[0].path == l.path {
			l.before = other[0].value
		}
		out = append(out, l)
	}
	return out
}

// flatten lists the leaves of a value in a fixed order; none for nil.
func flatten(path, plain string, value any) []leaf {
	if isMark(value) {
		return []leaf{{path: path, plain: plain, value: value}}
	}
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		var out []leaf
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := manifest.Child(path, key)
			bare := child
			if plain != path {
				bare = manifest.Child(plain, key)
			}
			out = append(out, flatten(child, bare, v[key])...)
		}
		return out
	case []any:
		var out []leaf
		for i, entry := range v {
			out = append(out, flatten(entryPath(path, i, entry), plain, entry)...)
		}
		return out
	default:
		return []leaf{{path: path, plain: plain, value: v}}
	}
}

// entryPath names an entry as people do: by name where it has one.
func entryPath(path string, i int, entry any) string {
	members, _ := entry.(map[string]any)
	if name, ok := members["name"].(string); ok {
		return fmt.Sprintf("%s[name=%s]", path, jsonOf(name))
	}
	return manifest.Item(path, i)
}

func plainOf(path string) string {
	steps, _ := diff.ParsePath(path)
	plain := ""
	for _, key := range keys(steps) {
		plain = manifest.Child(plain, key)
	}
	return plain
}

// is says whether the change is about this kind; group "" is the core group.
func (f facts) is(group string, kinds ...string) bool {
	return f.Body.Group == group && slices.Contains(kinds, f.Body.Kind)
}

// touched lists the paths below a field, or the field itself, that change.
func (f facts) touched(prefix string) []string {
	var out []string
	for _, t := range f.Body.Transitions {
		if under(plainOf(t.Path), prefix) {
			out = append(out, t.Path)
		}
	}
	return out
}

func under(plain, prefix string) bool {
	rest, ok := strings.CutPrefix(plain, prefix)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// ends says whether a path without selectors ends with these keys.
func ends(plain, suffix string) bool {
	rest, ok := strings.CutSuffix(plain, suffix)
	return ok && (rest == "" || rest[len(rest)-1] == '.')
}

// named is a risk whose detail is where and what.
func named(name string, l leaf) Risk {
	return Risk{Name: name, Detail: l.path + " = " + jsonOf(Shown(l.value))}
}
