package edit_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/reconcile/edit"
)

// mutation changes one path of an object, in ways that people and controllers
// do.
type mutation struct {
	*writer
	touched map[int]bool // lines that may differ
	added   int          // lines that may be new
	paths   []string     // changed ones
	shifted bool         // indexes are no longer those of the text
}

// touch allows the lines of a path to differ.
func (m *mutation) touch(path string) {
	span := m.spans[path]
	for line := span[0]; line <= span[1]; line++ {
		m.touched[line] = true
	}
	m.added += span[1] - span[0] + 1
}

// head allows the line of a key or dash to differ, as {} does that is left of
// all that was below it.
func (m *mutation) head(path string) {
	m.touched[m.spans[path][0]] = true
	m.added++
}

// linesOf is how many lines a new value may take.
func linesOf(value any) int {
	switch v := value.(type) {
	case map[string]any:
		n := 1
		for _, member := range v {
			n += linesOf(member)
		}
		return n
	case []any:
		n := 1
		for _, item := range v {
			n += linesOf(item)
		}
		return n
	case string:
		return 2 + strings.Count(v, "\n")
	default:
		return 1
	}
}

// change walks down to some place and changes it; path is that of value, whose
// pair or entry has a line.
func (m *mutation) change(value any, path string) any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 || m.chance(15) {
			return m.inMap(v, path)
		}
		keys := slices.Sorted(maps.Keys(v))
		key := keys[m.IntN(len(keys))]
		if key == "name" { // another name is another entry
			key = "v"
		}
		v[key] = m.change(v[key], path+"/"+key)
		return v
	case []any:
		if len(v) == 0 || m.chance(25) {
			return m.inList(v, path)
		}
		i := m.IntN(len(v))
		v[i] = m.change(v[i], fmt.Sprintf("%s/%d", path, i))
		return v
	default:
		m.touch(path)
		next := m.leaf()
		if m.chance(15) {
			next = m.value(2)
		}
		m.added += linesOf(next)
		m.paths = append(m.paths, "set "+path)
		return next
	}
}

func (m *mutation) inMap(v map[string]any, path string) any {
	m.head(path)
	if len(v) > 0 && m.chance(50) {
		keys := slices.Sorted(maps.Keys(v))
		key := keys[m.IntN(len(keys))]
		if key == "name" {
			key = "v"
		}
		m.touch(path + "/" + key)
		m.comeUp(path)
		delete(v, key)
		m.paths = append(m.paths, "drop "+path+"/"+key)
		return v
	}
	key, next := "new-key", m.value(2)
	m.added += linesOf(next)
	v[key] = next
	m.paths = append(m.paths, "add "+path+"/"+key)
	return v
}

// comeUp allows the second pair of an entry to come up to its dash.
func (m *mutation) comeUp(path string) {
	first := m.spans[path][0]
	for other, span := range m.spans {
		if rest, below := strings.CutPrefix(other, path+"/"); below && !strings.Contains(rest, "/") && span[0] > first {
			m.touched[span[0]] = true
		}
	}
	m.added += len(m.spans)
}

func (m *mutation) inList(v []any, path string) any {
	m.head(path)
	m.shifted = true
	for i := range v {
		if m.spans[fmt.Sprintf("%s/%d", path, i)][0] == m.spans[path][0] {
			m.touch(path) // it begins on the line of its key or dash
		}
	}
	at := m.IntN(len(v) + 1)
	if len(v) > 0 && m.chance(40) {
		at = min(at, len(v)-1)
		m.touch(fmt.Sprintf("%s/%d", path, at))
		m.paths = append(m.paths, fmt.Sprintf("drop %s/%d", path, at))
		return slices.Delete(v, at, at+1)
	}
	next := any(map[string]any{"name": "new", "v": m.value(1)})
	if m.chance(50) {
		next = "new " + m.word()
	}
	m.added += linesOf(next)
	m.paths = append(m.paths, fmt.Sprintf("add %s/%d", path, at))
	return slices.Insert(v, at, next)
}

// survives checks that all lines that were not touched are there, in order, and
// that not more are new than may be.
func (m *mutation) survives(t *testing.T, before, after []string, offset int) {
	t.Helper()
	at, kept := 0, 0
	for i, line := range before {
		if m.touched[i-offset] {
			continue
		}
		found := slices.Index(after[min(at, len(after)):], line)
		assert.Assert(t, found >= 0, "line %d is lost: %q\n%v\nbefore:\n%s\nafter:\n%s", i+1, line, m.paths, strings.Join(before, "\n"), strings.Join(after, "\n"))
		at, kept = at+found+1, kept+1
	}
	assert.Assert(t, len(after)-kept <= m.added, "%d new lines, %d are enough\n%v\nbefore:\n%s\nafter:\n%s",
		len(after)-kept, m.added, m.paths, strings.Join(before, "\n"), strings.Join(after, "\n"))
}

// generated is a file of one to three documents of which one is to be edited.
func generated(w *writer) (text string, object map[string]any, index, offset int) {
	var documents []string
	index = w.IntN(3)
	for i := range index + 1 + w.IntN(2) {
		other := newWriter(w.Rand)
		if i == index {
			other = w
		}
		o := other.manifest(fmt.Sprintf("thing-%d", i))
		other.mapping(o, "", "", 0)
		if i == index {
			object = o
			offset = strings.Count(strings.Join(append(documents, ""), "---\n"), "\n")
		}
		documents = append(documents, strings.Join(other.lines, "\n")+"\n")
	}
	return strings.Join(documents, "---\n"), object, index, offset
}

// sameValues is false where the final newline is part of a block scalar.
func sameValues(a, b string) bool {
	before, err := edit.Open("a", []byte(a))
	after, also := edit.Open("b", []byte(b))
	return err == nil && also == nil && diff.Equal(before.Values(), after.Values())
}

func TestFiveHundredManifestsInRandomStylesChangeInTheLinesThatMustAndInNoOther(t *testing.T) {
	for seed := range uint64(500) {
		w := newWriter(rand.New(rand.NewPCG(seed, 1)))
		source, object, index, offset := generated(w)
		form := source
		if trimmed := strings.TrimSuffix(source, "\n"); seed%3 == 1 && sameValues(source, trimmed) {
			form = trimmed
		}
		if seed%5 == 2 {
			form = strings.ReplaceAll(form, "\n", "\r\n")
		}
		if seed%7 == 3 {
			form = "\ufeff" + form
		}
		text, err := edit.Open("generated.yaml", []byte(form))
		assert.NilError(t, err, "seed %d\n%s", seed, source)
		assert.Assert(t, diff.Equal(text.Values()[index], object), "seed %d: the test writes what it means\n%s", seed, source)
		m := &mutation{writer: w, touched: map[int]bool{}}
		want := copied(object).(map[string]any)
		for n := 1 + w.IntN(3); n > 0 && !m.shifted; n-- {
			want["spec"] = m.change(want["spec"], "/spec")
		}
		got, err := text.Replace(index, want)
		assert.NilError(t, err, "seed %d: %v\n%s", seed, m.paths, source)
		again, err := edit.Open("generated.yaml", got)
		assert.NilError(t, err)
		assert.Assert(t, diff.Equal(again.Values()[index], any(want)), "seed %d\n%s\n→\n%s", seed, source, got)
		assert.Equal(t, strings.HasSuffix(string(got), "\n"), strings.HasSuffix(form, "\n"), "seed %d", seed)
		breaks := map[bool]string{true: "\r\n", false: "\n"}[seed%5 == 2]
		m.survives(t, strings.Split(form, breaks), strings.Split(string(got), breaks), offset)
	}
}
