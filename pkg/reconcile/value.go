package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

// errNoPlace says that a value has no place for a field.
var errNoPlace = errors.New("has no place for the field")

// with is a copy of a value in which a field is as wanted.
func with(value any, f Field) (any, error) {
	steps, ok := diff.ParsePath(f.Path)
	if !ok {
		return nil, fmt.Errorf("%q is no path", f.Path)
	}
	return withSteps(manifest.DeepCopy(value), steps, f)
}

// withSteps may change value.
func withSteps(value any, steps []diff.Step, f Field) (any, error) {
	switch {
	case len(steps) == 0 && f.Action == diff.Order:
		return ordered(value, f.Value)
	case len(steps) == 0:
		return manifest.DeepCopy(f.Value), nil
	case steps[0].Selector != "":
		return withEntry(value, steps, f)
	}
	members, ok := value.(map[string]any)
	if value == nil {
		members, ok = map[string]any{}, true
	}
	if !ok {
		return nil, errNoPlace
	}
	key := steps[0].Key
	held, has := members[key]
	if f.Action == diff.Remove && (!has || len(steps) == 1) {
		delete(members, key)
		return value, nil
	}
	inner, err := withSteps(held, steps[1:], f)
	if err != nil {
		return nil, err
	}
	members[key] = inner
	return members, nil
}

// withEntry is a list with a field of one of its entries as wanted.
func withEntry(value any, steps []diff.Step, f Field) (any, error) {
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, errNoPlace
	}
	selector := steps[0].Selector
	at, there := diff.Index(list, selector)
	if !there {
		switch keys, ok := keysOf(selector); {
		case f.Action == diff.Remove:
			return value, nil
		case len(steps) == 1 && !strings.HasPrefix(selector, "[="):
			return append(list, manifest.DeepCopy(f.Value)), nil
		case len(steps) == 1:
			return append(list, f.Value), nil
		case !ok:
			return nil, errNoPlace
		default:
			list, at = append(list, keys), len(list)
		}
	}
	if f.Action == diff.Remove && len(steps) == 1 {
		return slices.Delete(list, at, at+1), nil
	}
	inner, err := withSteps(list[at], steps[1:], f)
	if err != nil {
		return nil, err
	}
	list[at] = inner
	return list, nil
}

// keysOf is an entry of only the keys that a selector names; false for one that
// names none.
func keysOf(selector string) (map[string]any, bool) {
	keys := map[string]any{}
	for rest := selector[1 : len(selector)-1]; rest != ""; {
		name, after, found := strings.Cut(rest, "=")
		if !found || name == "" || name[0] == '[' {
			return nil, false
		}
		end := len(after)
		for i := range after {
			var value any
			if after[i] == ',' && state.DecodeStrict([]byte(after[:i]), &value) == nil {
				end = i
				break
			}
		}
		var value any
		if state.DecodeStrict([]byte(after[:end]), &value) != nil {
			return nil, false
		}
		if number, isNumber := value.(json.Number); isNumber {
			value, _ = number.Int64()
		}
		keys[name] = value
		rest = strings.TrimPrefix(after[end:], ",")
	}
	return keys, len(keys) > 0
}

// ordered sorts a list by a sequence of keys; entries that it does not name
// stay behind those that stood before them.
func ordered(value, sequence any) (any, error) {
	list, ok := value.([]any)
	keys, isList := sequence.([]any)
	if !ok || !isList {
		return nil, errNoPlace
	}
	named := map[int]int{} // the rank of each entry that the sequence names
	for rank, at := range diff.Positions(list, keys) {
		named[at] = rank
	}
	ranks, last := make([]int, len(list)), -1
	index := make([]int, len(list))
	for i := range list {
		if rank, has := named[i]; has {
			last = rank
		}
		ranks[i], index[i] = last, i
	}
	slices.SortStableFunc(index, func(a, b int) int { return ranks[a] - ranks[b] })
	out := make([]any, len(list))
	for i, at := range index {
		out[i] = list[at]
	}
	return out, nil
}

// holds says whether an object has a field as wanted.
func (f Field) holds(object any) bool {
	value, there := diff.At(object, f.Path)
	switch f.Action {
	case diff.Remove:
		return !there
	case diff.Order:
		sorted, err := ordered(value, f.Value)
		return err == nil && diff.Equal(sorted, value)
	default:
		return there && diff.Equal(value, f.Value)
	}
}

// whole is the field as the list that holds it, from an object that has it as
// wanted: for what replaces lists, and knows no entries. all cuts at lists with
// keys, too.
func (f Field) whole(wanted any, all bool) Field {
	steps, _ := diff.ParsePath(f.Path)
	path := ""
	for _, step := range steps {
		_, err := strconv.Atoi(strings.Trim(step.Selector, "[]"))
		if step.Selector != "" && (all || err == nil) {
			value, _ := diff.At(wanted, path)
			return Field{Path: path, Action: diff.Change, Value: value}
		}
		path = stepped(path, step)
	}
	return f
}

func stepped(path string, step diff.Step) string {
	if step.Selector != "" {
		return path + step.Selector
	}
	return manifest.Child(path, step.Key)
}
