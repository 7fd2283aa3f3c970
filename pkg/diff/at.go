package diff

import (
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

func entryAt(list any, selector string) (any, bool) {
	entries, _ := list.([]any)
	inner := strings.TrimSuffix(strings.TrimPrefix(selector, "["), "]")
	if index, err := strconv.Atoi(inner); err == nil {
		if index < 0 || index >= len(entries) {
			return nil, false
		}
		return entries[index], true
	}
	for _, exact := range []bool{true, false} {
		for _, entry := range entries {
			if selected(entry, inner, exact) {
				return entry, true
			}
		}
	}
	return nil, false
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
