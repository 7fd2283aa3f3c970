package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

// Sight is a live object at one moment, masked, and who wrote its fields; the
// zero value is an object that is not there.
type Sight struct {
	Object  map[string]any
	Holders map[string]Holder
}

// Difference is one way in which a live object is not as a change would have
// left it. Path is "" where it is about the object as a whole, and Why says so.
type Difference struct {
	Path       string
	Want, Have any // nil: not there
	Why        string
	Holder     Holder // who wrote the field last; zero where nobody is known
	// Before says that it is as it was before the change.
	Before bool
}

// Differences compares a live object with the after-state of a change: each
// field that the change touches, nothing else. Hooks leave nothing to compare.
func Differences(b Body, live Sight) []Difference {
	uid, _ := metadata(live.Object, "uid").(string)
	switch b.Operation {
	case Delete:
		if live.Object != nil && uid == b.LiveUID {
			return []Difference{{Why: "it is still there", Before: true}}
		}
		return nil
	case Create, Replace:
		switch {
		case live.Object == nil:
			return []Difference{{Why: "it is not there", Before: b.Operation == Create}}
		case b.Operation == Replace && uid == b.LiveUID:
			return []Difference{{Why: "it is still the object from before", Before: true}}
		}
		c := comparison{live: live}
		desired, _ := b.Object.(map[string]any)
		c.object(desired)
		return c.found
	case Update:
		if live.Object == nil {
			return []Difference{{Why: "it is not there"}}
		}
		c := comparison{live: live}
		if uid != b.LiveUID {
			c.found = append(c.found, Difference{Why: "it was deleted and made anew"})
		}
		for _, t := range b.Transitions {
			c.transition(t)
		}
		return c.found
	}
	return nil
}

type comparison struct {
	live  Sight
	found []Difference
}

func (c *comparison) differ(path string, want, have any, before bool) {
	c.found = append(c.found, Difference{Path: path, Want: want, Have: have, Holder: c.live.holder(path), Before: before})
}

// transition compares one field of an update.
func (c *comparison) transition(t diff.Transition) {
	have, there := diff.At(c.live.Object, t.Path)
	switch t.Action {
	case diff.Remove:
		if there {
			c.differ(t.Path, nil, have, diff.Equal(have, t.Old))
		}
	case diff.Order:
		if was, is := sequence(have, t.Old), sequence(have, t.New); !is {
			c.differ(t.Path, t.New, nil, was)
		}
	default:
		if isMark(t.New) || holds(have, t.New) && (there || t.New == nil) {
			return
		}
		c.differ(t.Path, t.New, have, !there && t.Action == diff.Add || there && t.Action == diff.Change && diff.Equal(have, t.Old))
	}
}

// sequence says that the entries of a list which an order names stand in it.
func sequence(list, order any) bool {
	entries, _ := list.([]any)
	keys, _ := order.([]any)
	at := slices.DeleteFunc(diff.Positions(entries, keys), func(i int) bool { return i < 0 })
	return slices.IsSorted(at)
}

// object compares what a manifest says: fields that it does not name are
// nobody's business.
func (c *comparison) object(desired map[string]any) {
	for _, key := range sortedMembers(desired) {
		switch want := desired[key]; {
		case key == "stringData":
		case key == "metadata":
			members, _ := want.(map[string]any)
			for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
				if member, said := members[name]; said {
					c.member(manifest.Child(key, name), member)
				}
			}
		default:
			c.member(key, want)
		}
	}
}

// member compares a value, member by member where it is a mapping.
func (c *comparison) member(path string, want any) {
	have, there := diff.At(c.live.Object, path)
	if members, ok := want.(map[string]any); ok && there && !isMark(want) {
		for _, key := range sortedMembers(members) {
			c.member(manifest.Child(path, key), members[key])
		}
		return
	}
	if !holds(have, want) {
		c.differ(path, want, have, false)
	}
}

func sortedMembers(m map[string]any) []string {
	set := map[string]bool{}
	for key := range m {
		set[key] = true
	}
	return sortedKeys(set)
}

// holds says that a live value has all that is wanted. What the server writes in
// another way is the same: quantities, and what is empty and not kept.
func holds(have, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return have == nil && empty(want)
		}
		for key, member := range w {
			if !holds(h[key], member) {
				return false
			}
		}
		return true
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return have == nil && len(w) == 0
		}
		for i := range w {
			if !holds(h[i], w[i]) {
				return false
			}
		}
		return true
	}
	return diff.Equal(have, want) || have == nil && empty(want) || sameQuantity(have, want)
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case map[string]any:
		for _, member := range v {
			if !empty(member) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}

func sameQuantity(a, b any) bool {
	_, masked := a.(state.Masked)
	x, err := resource.ParseQuantity(jsonText(a))
	y, err2 := resource.ParseQuantity(jsonText(b))
	return !masked && err == nil && err2 == nil && x.Cmp(y) == 0
}

// jsonText is a scalar as a quantity may be written: a text or a number.
func jsonText(value any) string { return strings.Trim(jsonOf(value), `"`) }

// holder is who wrote a field last, or what it is part of, or one of its parts.
func (s Sight) holder(path string) Holder {
	best, length := Holder{}, -1
	for at, holder := range s.Holders {
		if under(path, at) && len(at) > length {
			best, length = holder, len(at)
		}
	}
	if length >= 0 {
		return best
	}
	for at, holder := range s.Holders {
		if under(at, path) && holder.Time.After(best.Time) {
			best = holder
		}
	}
	return best
}
