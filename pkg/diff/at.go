package diff

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/changeward/changeward/state"
)

// At is the value at a path of an object, as Objects writes paths. An entry of
// a list is the one whose keys have the values of its selector; failing that, a
// key that an entry lacks fits any, as in a manifest that relies on a default.
func At(object any, path string) (value any, there bool) {
	steps, ok := ParsePath(path)
	for _, step := range steps {
		if step.Selector != "" {
			object, ok = entryAt(object, step.Selector)
		} else {
			members, _ := object.(map[string]any)
			object, ok = members[step.Key]
		}
		if !ok {
			return nil, false
		}
	}
	return object, ok
}

// Without copies an object but for the member at a path, as Objects writes
// paths; no other path of the copy changes. It shares with the object what is
// not on the way there. An entry of a list, and what is not there, stays.
func Without(object map[string]any, path string) map[string]any {
	steps, _ := ParsePath(path)
	if len(steps) == 0 || steps[len(steps)-1].Selector != "" {
		return object
	}
	out, _ := without(object, steps).(map[string]any)
	return out
}

func without(value any, steps []Step) any {
	if steps[0].Selector != "" {
		list, _ := value.([]any)
		i, found := indexOf(list, steps[0].Selector)
		if !found {
			return value
		}
		list = slices.Clone(list)
		list[i] = without(list[i], steps[1:])
		return list
	}
	members, _ := value.(map[string]any)
	member, there := members[steps[0].Key]
	if !there {
		return value
	}
	members = maps.Clone(members)
	if len(steps) == 1 {
		delete(members, steps[0].Key)
	} else {
		members[steps[0].Key] = without(member, steps[1:])
	}
	return members
}

func entryAt(list any, selector string) (any, bool) {
	entries, _ := list.([]any)
	i, found := indexOf(entries, selector)
	if !found {
		return nil, false
	}
	return entries[i], true
}

// Index is where the entry of a list stands that a selector of a path names;
// false if there is none.
func Index(list []any, selector string) (int, bool) { return indexOf(list, selector) }

func indexOf(entries []any, selector string) (int, bool) {
	inner := strings.TrimSuffix(strings.TrimPrefix(selector, "["), "]")
	if index, err := strconv.Atoi(inner); err == nil {
		return index, index >= 0 && index < len(entries)
	}
	for _, exact := range []bool{true, false} {
		for i, entry := range entries {
			if selected(entry, inner, exact) {
				return i, true
			}
		}
	}
	return 0, false
}

// selected says whether an entry fits a selector: ="v" of a set, or pairs such
// as containerPort=80,protocol="TCP".
func selected(entry any, pairs string, exact bool) bool {
	if value, isMember := strings.CutPrefix(pairs, "="); isMember {
		return jsonText(entry) == value
	}
	members, ok := entry.(map[string]any)
	fits := ok
	for fits && pairs != "" {
		key, rest, found := strings.Cut(pairs, "=")
		end := valueEnd(rest)
		own, has := members[key]
		fits = found && !strings.HasPrefix(key, "[") && (!has && !exact || has && jsonText(own) == rest[:end])
		pairs = strings.TrimPrefix(rest[end:], ",")
	}
	return fits
}

// valueEnd is where a JSON scalar ends in a list of pairs.
func valueEnd(text string) int {
	for end := 1; end <= len(text); end++ {
		var value any
		if (end == len(text) || text[end] == ',') && state.DecodeStrict([]byte(text[:end]), &value) == nil {
			return end
		}
	}
	return len(text)
}
