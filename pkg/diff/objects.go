package diff

import (
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/manifest"
)

// Objects lists the fields in which MERGED differs from LIVE, none if and only
// if they are Equal. Desired is the manifest; it only decides whose order of
// list entries counts first, and may be nil.
//
//   - Maps and structs are always walked down to their leaves, so that whether
//     a parent existed never changes the path of a leaf. An empty map or list
//     is a leaf; filling it is only the adding of what it then holds.
//   - List kinds come from the schema. Entries of a list with keys and members
//     of a set are addressed by them; one that comes or goes is one transition
//     with the whole entry, and an order that changed is one transition at the
//     list's path (see order).
//   - An atomic list, and every list without a schema, is walked by index while
//     its length stays, and changes whole when it does not. A list whose
//     entries cannot be told apart (a key twice, which live objects do hold, or
//     no key at all) changes whole, too.
//   - No path has two transitions: a list that becomes null is one change.
//   - The sequence is that of the walk: map keys by their bytes; in a list
//     first the entries of LIVE by selector, then the added ones in MERGED's
//     order, then the order. It is stable, and it is hashed.
func Objects(live, merged, desired map[string]any, s *Schema) []Transition {
	if desired == nil {
		desired = merged
	}
	w := walk{schema: s}
	w.maps("", s.root(), live, merged, desired)
	return w.found
}

// absent stands for a member that is not there; nil is JSON's null.
type absent struct{}

type walk struct {
	schema *Schema
	found  []Transition
}

func (w *walk) add(path string, value any) {
	w.found = append(w.found, Transition{Path: path, Action: Add, New: value})
}

func (w *walk) remove(path string, value any) {
	w.found = append(w.found, Transition{Path: path, Action: Remove, Old: value})
}

func (w *walk) change(path string, old, now any) {
	w.found = append(w.found, Transition{Path: path, Action: Change, Old: old, New: now})
}

// compare finds the transitions of one value, either side of which may be
// absent.
func (w *walk) compare(path string, atom schema.Atom, live, merged, desired any) {
	if same(live, merged) {
		return
	}
	switch {
	case both[map[string]any](live, merged):
		w.maps(path, atom, live, merged, desired)
	case both[[]any](live, merged):
		w.lists(path, atom, live, merged, desired)
	case live == absent{}:
		w.add(path, merged)
	case merged == absent{}:
		w.remove(path, live)
	case container(live) || container(merged):
		start := len(w.found)
		w.compare(path, atom, live, absent{}, desired)
		w.compare(path, atom, absent{}, merged, desired)
		if both := w.found[start:]; len(both) == 2 && both[0].Path == path && both[1].Path == path {
			w.found = w.found[:start]
			w.change(path, live, merged) // one path never has two transitions: they are looked up by it
		}
	default:
		w.change(path, live, merged)
	}
}

func (w *walk) maps(path string, atom schema.Atom, live, merged, desired any) {
	from, _ := live.(map[string]any)
	to, _ := merged.(map[string]any)
	own, _ := desired.(map[string]any)
	keys := slices.Sorted(maps.Keys(from))
	for key := range to {
		if _, there := from[key]; !there {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		w.compare(manifest.Child(path, key), w.schema.member(atom, key), at(from, key), at(to, key), at(own, key))
	}
	w.emptied(path, live, merged, len(from), len(to))
}

// emptied records an empty map or list that is there on one side only: it is
// the leaf itself.
func (w *walk) emptied(path string, live, merged any, before, after int) {
	wasThere, isThere := live != any(absent{}), merged != any(absent{})
	switch {
	case path == "": // the object itself is always there
	case isThere && after == 0 && (!wasThere || before > 0):
		w.add(path, merged)
	case wasThere && before == 0 && !isThere:
		w.remove(path, live)
	}
}

func (w *walk) lists(path string, atom schema.Atom, live, merged, desired any) {
	if associative(atom) && w.entries(path, atom, live, merged, desired) {
		return
	}
	from, wasThere := live.([]any)
	to, isThere := merged.([]any)
	switch {
	case !wasThere:
		w.add(path, merged)
	case !isThere:
		w.remove(path, live)
	case associative(atom) || len(from) != len(to):
		w.change(path, live, merged)
	default:
		own, _ := desired.([]any)
		for i := range from {
			var mine any = absent{}
			if len(own) == len(from) {
				mine = own[i]
			}
			w.compare(manifest.Item(path, i), w.schema.element(atom), from[i], to[i], mine)
		}
	}
}

// same is Equal for values that may be absent.
func same(a, b any) bool {
	if a == any(absent{}) || b == any(absent{}) {
		return a == b
	}
	return Equal(a, b)
}

// both says that each side is a T or absent.
func both[T any](a, b any) bool {
	_, left := a.(T)
	_, right := b.(T)
	return left && (right || b == any(absent{})) || right && a == any(absent{})
}

func container(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	default:
		return false
	}
}

func at(m map[string]any, key string) any {
	if value, there := m[key]; there {
		return value
	}
	return absent{}
}
