package edit

import (
	"slices"

	"github.com/changeward/changeward/pkg/diff"
)

// align says which entry of have each entry of want is: stays holds those that
// keep their sequence, moved the others; -1 where there is none.
func align(have, want []any) (stays, moved []int) {
	stays, moved = filledWith(-1, len(want)), filledWith(-1, len(want))
	used := make([]bool, len(have))
	for _, pair := range longest(have, want) {
		stays[pair[1]], used[pair[0]] = pair[0], true
	}
	for j := range want {
		for i := range have {
			if stays[j] < 0 && moved[j] < 0 && !used[i] && likeness(have[i], want[j]) > 0 {
				moved[j], used[i] = i, true
			}
		}
	}
	inPlace(have, want, used, stays, moved)
	return stays, moved
}

// inPlace pairs what is left over at the same place between entries that stay:
// an entry without a name that became another one.
func inPlace(have, want []any, used []bool, stays, moved []int) {
	i := 0
	for j := range want {
		if stays[j] >= 0 {
			i = stays[j] + 1
			continue
		}
		if moved[j] < 0 && i < len(have) && !used[i] && alike(have[i], want[j]) {
			stays[j], used[i] = i, true
			i++
		}
	}
}

// longest is the alignment of most likeness, as pairs of indexes.
func longest(have, want []any) [][2]int {
	var head, tail [][2]int
	start, endHave, endWant := 0, len(have), len(want)
	for start < endHave && start < endWant && diff.Equal(have[start], want[start]) {
		head = append(head, [2]int{start, start})
		start++
	}
	for endHave > start && endWant > start && diff.Equal(have[endHave-1], want[endWant-1]) {
		endHave, endWant = endHave-1, endWant-1
		tail = append(tail, [2]int{endHave, endWant})
	}
	slices.Reverse(tail)
	for _, pair := range between(have[start:endHave], want[start:endWant]) {
		head = append(head, [2]int{start + pair[0], start + pair[1]})
	}
	return append(head, tail...)
}

// between is the alignment of what differs at both ends.
func between(have, want []any) (pairs [][2]int) {
	best := make([][]int, len(have)+1)
	for i := range best {
		best[i] = make([]int, len(want)+1)
	}
	for i := len(have) - 1; i >= 0; i-- {
		for j := len(want) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if like := likeness(have[i], want[j]); like > 0 {
				best[i][j] = max(best[i][j], like+best[i+1][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(have) && j < len(want); {
		like := likeness(have[i], want[j])
		switch {
		case like > 0 && best[i][j] == like+best[i+1][j+1]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// likeness is 0 for two entries that are not the same one.
func likeness(a, b any) int {
	if diff.Equal(a, b) {
		return 4
	}
	x, ok := a.(map[string]any)
	y, also := b.(map[string]any)
	if !ok || !also {
		return 0
	}
	for _, key := range keysOfEntries() {
		mine, has := x[key]
		other, hasToo := y[key]
		if has || hasToo {
			if has && hasToo && diff.Equal(mine, other) {
				return 3
			}
			return 0
		}
	}
	for key, mine := range x {
		if other, has := y[key]; has && diff.Equal(mine, other) {
			return 1
		}
	}
	return 0
}

// alike says whether two entries are of one kind, and neither has a name.
func alike(a, b any) bool {
	_, isMap := a.(map[string]any)
	_, alsoMap := b.(map[string]any)
	_, isList := a.([]any)
	_, alsoList := b.([]any)
	return isMap == alsoMap && isList == alsoList && !named(a) && !named(b)
}

// named says whether an entry has a key by which it is known.
func named(value any) bool {
	members, _ := value.(map[string]any)
	return slices.ContainsFunc(keysOfEntries(), func(key string) bool { _, has := members[key]; return has })
}

// keysOfEntries are the members by which entries of Kubernetes lists are known,
// the most telling first. They only decide how small an edit is, never what it
// means.
func keysOfEntries() []string {
	return []string{"mountPath", "name", "key", "containerPort", "port", "ip", "devicePath", "topologyKey", "type", "uid", "path"}
}

func filledWith(value, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = value
	}
	return out
}
