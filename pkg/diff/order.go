package diff

import (
	"maps"
	"slices"
)

// Positions are where in a list the entries stand that a sequence names, as an
// Order transition has it: -1 for one that is not there. A key is a member of a
// set, the value of an entry's only key, or those of several.
func Positions(list, sequence []any) []int {
	name := KeyName(list, sequence)
	at := make([]int, len(sequence))
	for i, key := range sequence {
		at[i] = slices.IndexFunc(list, func(entry any) bool { return hasKey(entry, key, name) })
	}
	return at
}

// hasKey says whether an entry has a key of a sequence: the value of the member
// name, or the values of several, of which one may be left to its default.
func hasKey(entry, key any, name string) bool {
	members, ok := entry.(map[string]any)
	if !ok {
		return Equal(entry, key)
	}
	if keys, several := key.(map[string]any); several {
		for name, value := range keys {
			if held, has := members[name]; has && !Equal(held, value) {
				return false
			}
		}
		return true
	}
	return Equal(members[name], key)
}

// KeyName is the member whose values a sequence of single keys lists: the one
// that most entries have among them.
func KeyName(list, sequence []any) string {
	counts := map[string]int{}
	best := ""
	for _, entry := range list {
		members, _ := entry.(map[string]any)
		for name, value := range members {
			if slices.ContainsFunc(sequence, func(key any) bool { return Equal(key, value) }) {
				counts[name]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if best == "" || counts[name] > counts[best] {
			best = name
		}
	}
	return best
}
