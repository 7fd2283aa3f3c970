package diff

import (
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/manifest"
)

// entry is one entry of a list with keys, or one member of a set.
type entry struct {
	selector string // as in a path
	key      any    // as in an order: the key's value, or a map of several
	value    any
}

// entries compares two lists by their keys, or as sets. It answers false, and
// finds nothing, where entries cannot be told apart.
func (w *walk) entries(path string, atom schema.Atom, live, merged, desired any) bool {
	from, told := w.index(atom, live)
	to, also := w.index(atom, merged)
	if !told || !also {
		return false
	}
	own, _ := w.index(atom, desired)
	after, mine := bySelector(to), bySelector(own)
	for _, old := range slices.SortedFunc(slices.Values(from), orderBySelector) {
		now, stays := after[old.selector]
		if !stays {
			w.remove(path+old.selector, old.value)
			continue
		}
		w.compare(path+old.selector, w.schema.element(atom), old.value, now.value, mine[old.selector].value)
	}
	before := bySelector(from)
	for _, now := range to {
		if _, old := before[now.selector]; !old {
			w.add(path+now.selector, now.value)
		}
	}
	w.emptied(path, live, merged, len(from), len(to))
	w.order(path, from, to, own)
	return true
}

// order records that the sequence of entries changed. What counts first is the
// manifest's own entries: those that stay, in their old sequence, against all
// of them in the new one, unless the added ones just follow. So an entry put
// in front of others is a change of order, and what other managers add or move
// is none. If the manifest's own keep their order, all entries that stay count.
func (w *walk) order(path string, from, to, own []entry) {
	mine, before, after := bySelector(own), bySelector(from), bySelector(to)
	inBoth := func(e entry) bool {
		_, was := before[e.selector]
		_, is := after[e.selector]
		return was && is
	}
	isMine := func(e entry) bool { _, ok := mine[e.selector]; return ok }
	isAdded := func(e entry) bool { _, was := before[e.selector]; return !was }

	stayed := keep(keep(from, inBoth), isMine)
	now := keep(to, isMine)
	followed := append(slices.Clone(stayed), keep(now, isAdded)...)
	if !sameSequence(followed, now) {
		w.reordered(path, stayed, now)
		return
	}
	all, allNow := keep(from, inBoth), keep(to, inBoth)
	if !sameSequence(all, allNow) {
		w.reordered(path, all, allNow)
	}
}

func (w *walk) reordered(path string, old, now []entry) {
	w.found = append(w.found, Transition{Path: path, Action: Order, Old: keysOf(old), New: keysOf(now)})
}

// index reads a list by its keys. It answers false where two entries share
// their keys, or one has none.
func (w *walk) index(atom schema.Atom, list any) ([]entry, bool) {
	values, _ := list.([]any)
	out := make([]entry, 0, len(values))
	seen := make(map[string]bool, len(values))
	for _, value := range values {
		e, ok := w.entryOf(atom, value)
		if !ok || seen[e.selector] {
			return nil, false
		}
		seen[e.selector] = true
		out = append(out, e)
	}
	return out, true
}

func (w *walk) entryOf(atom schema.Atom, value any) (entry, bool) {
	if len(atom.List.Keys) == 0 {
		text := jsonText(value)
		return entry{selector: "[=" + text + "]", key: value, value: value}, value != nil && !container(value)
	}
	members, ok := value.(map[string]any)
	if !ok {
		return entry{}, false
	}
	var parts []string
	keys := map[string]any{}
	for _, name := range atom.List.Keys {
		key, there := w.keyOf(atom, members, name)
		if !there {
			continue // as the server does: an entry without it is another entry
		}
		if container(key) {
			return entry{}, false
		}
		keys[name] = key
		parts = append(parts, manifest.Child("", name)+"="+jsonText(key))
	}
	e := entry{selector: "[" + strings.Join(parts, ",") + "]", key: keys, value: value}
	if len(atom.List.Keys) == 1 {
		e.key = keys[atom.List.Keys[0]]
	}
	return e, len(parts) > 0
}

// keyOf is a key's value in an entry, or its default: live objects have the
// defaults, manifests need not.
func (w *walk) keyOf(atom schema.Atom, members map[string]any, name string) (any, bool) {
	if value, there := members[name]; there {
		return value, true
	}
	element := w.schema.element(atom)
	if element.Map == nil {
		return nil, false
	}
	field, _ := element.FindField(name)
	return field.Default, field.Default != nil
}

func bySelector(entries []entry) map[string]entry {
	out := make(map[string]entry, len(entries))
	for _, e := range entries {
		out[e.selector] = e
	}
	return out
}

func orderBySelector(a, b entry) int { return strings.Compare(a.selector, b.selector) }

func keep(entries []entry, want func(entry) bool) []entry {
	var out []entry
	for _, e := range entries {
		if want(e) {
			out = append(out, e)
		}
	}
	return out
}

func sameSequence(a, b []entry) bool {
	return slices.EqualFunc(a, b, func(x, y entry) bool { return x.selector == y.selector })
}

func keysOf(entries []entry) []any {
	out := make([]any, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.key)
	}
	return out
}
