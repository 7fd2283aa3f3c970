package plan

import (
	"slices"
	"strconv"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// Back is the way back from a plan that was applied.
type Back struct {
	Restore  []Body  // updates, whose fields are put back (Reverted)
	Recreate []Prior // what was deleted, as it was
	Remove   []Body  // what was created
	// Lost is what does not come back, each with its reason.
	Lost []string

	priors map[manifest.Key]Prior
}

// WayBack works out what leads back from a plan to its recorded before-state.
func WayBack(p *Plan, before []byte) (Back, error) {
	back := Back{priors: map[manifest.Key]Prior{}}
	priors, err := readPriors(before)
	if err != nil {
		return back, err
	}
	for _, prior := range priors {
		prior.Object = thaw(prior.Object)
		back.priors[prior.key()] = prior
	}
	for _, c := range p.Changes {
		back.add(c)
	}
	return back, nil
}

func (p Prior) key() manifest.Key {
	return manifest.Key{Group: p.Group, Kind: p.Kind, Namespace: p.Namespace, Name: p.Name}
}

func (b *Back) add(c Change) {
	key := c.Body.Key()
	prior, known := b.priors[key]
	lose := func(why string) { b.Lost = append(b.Lost, key.String()+": "+why) }
	switch c.Body.Operation {
	case Hook:
		lose("what the hook did is not undone")
	case Create:
		b.Remove = append(b.Remove, c.Body)
		if why := lostByDelete(c.Body); why != "" {
			lose("it is deleted again: " + why)
		}
	case Update:
		if c.Why != "" {
			lose(c.Why)
		}
		b.Restore = append(b.Restore, c.Body)
	case Delete:
		switch {
		case !c.Reversible:
			lose("it is not made again: " + c.Why)
		case !known:
			lose("it is not made again: how it was is not recorded")
		default:
			b.Recreate = append(b.Recreate, prior)
		}
	case Replace:
		lose("it stays as it is: " + c.Why)
	}
}

// Reverted is a live object with every field that an update changed as it was
// before, but for values that are not kept. Nothing else in it differs; live is
// not changed.
func (b *Back) Reverted(body Body, live map[string]any) map[string]any {
	var out any = manifest.DeepCopy(live)
	prior := b.priors[body.Key()].Object
	var again []diff.Transition // list entries that come back, in their old sequence
	for _, t := range body.Transitions {
		steps, ok := diff.ParsePath(t.Path)
		switch {
		case !ok || hasMasked(t.Old) || t.Action == diff.Order:
		case t.Action == diff.Add:
			out = edit{remove: true}.at(out, steps)
		case t.Action == diff.Remove && steps[len(steps)-1].Selector != "":
			again = append(again, t)
		default:
			out = edit{value: t.Old}.at(out, steps)
		}
	}
	slices.SortStableFunc(again, func(x, y diff.Transition) int { return indexIn(prior, x) - indexIn(prior, y) })
	for _, t := range again {
		steps, _ := diff.ParsePath(t.Path)
		out = edit{value: t.Old, index: indexIn(prior, t)}.at(out, steps)
	}
	for _, t := range body.Transitions {
		if steps, ok := diff.ParsePath(t.Path); ok && t.Action == diff.Order {
			out = edit{order: t.Old}.at(out, steps)
		}
	}
	object, _ := out.(map[string]any)
	return object
}

// indexIn is where in its list an entry stood before.
func indexIn(prior any, t diff.Transition) int {
	steps, _ := diff.ParsePath(t.Path)
	list, _ := diff.At(prior, t.Path[:len(t.Path)-len(steps[len(steps)-1].Selector)])
	entries, _ := list.([]any)
	return max(0, slices.IndexFunc(entries, func(e any) bool { return diff.Equal(e, t.Old) }))
}

// edit is one change to a decoded value: a value put or taken away, or a list
// put into an order.
type edit struct {
	value  any
	remove bool
	order  any
	index  int // where a list entry goes that is not there
}

// at makes the edit at a path, and returns what becomes of the node.
func (e edit) at(node any, steps []diff.Step) any {
	switch {
	case len(steps) == 0 && e.order != nil:
		return reordered(node, e.order)
	case len(steps) == 0:
		return manifest.DeepCopy(e.value)
	case steps[0].Selector != "":
		return e.entry(node, steps)
	}
	members, ok := node.(map[string]any)
	if !ok && e.remove {
		return node
	}
	if !ok {
		members = map[string]any{}
	}
	if key := steps[0].Key; e.remove && len(steps) == 1 {
		delete(members, key)
	} else if _, has := members[key]; has || !e.remove && e.order == nil {
		members[key] = e.at(members[key], steps[1:])
	}
	return members
}

func (e edit) entry(node any, steps []diff.Step) any {
	entries, _ := node.([]any)
	at := entryIndex(entries, steps[0].Selector)
	switch last := len(steps) == 1; {
	case at >= 0 && e.remove && last:
		return slices.Delete(entries, at, at+1)
	case at >= 0:
		entries[at] = e.at(entries[at], steps[1:])
	case last && !e.remove && e.order == nil:
		return slices.Insert(entries, min(e.index, len(entries)), manifest.DeepCopy(e.value))
	}
	return node
}

func entryIndex(entries []any, selector string) int {
	if index, err := strconv.Atoi(selector[1 : len(selector)-1]); err == nil {
		if index < len(entries) {
			return index
		}
		return -1
	}
	found, there := diff.At(map[string]any{"l": entries}, "l"+selector)
	if !there {
		return -1
	}
	return slices.IndexFunc(entries, func(e any) bool { return diff.Equal(e, found) })
}

// reordered puts the entries that an order names into that sequence, in the
// places that they have among the others.
func reordered(node, order any) any {
	entries, _ := node.([]any)
	keys, _ := order.([]any)
	at := slices.DeleteFunc(diff.Positions(entries, keys), func(i int) bool { return i < 0 })
	places, out := slices.Sorted(slices.Values(at)), slices.Clone(entries)
	for i, from := range at {
		out[places[i]] = entries[from]
	}
	return out
}
