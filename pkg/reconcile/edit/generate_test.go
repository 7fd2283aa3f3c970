package edit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
)

// writer writes a value as YAML in a style of its own, independently of the
// code under test, and notes on which lines each path stands.
type writer struct {
	*rand.Rand
	step, list int
	lines      []string
	spans      map[string][2]int // path → first and last line, from 0; of a pair or an entry with its key or dash
}

func newWriter(r *rand.Rand) *writer {
	return &writer{Rand: r, step: 2 + 2*r.IntN(2), list: 2 * r.IntN(2), spans: map[string][2]int{}}
}

func (w *writer) chance(percent int) bool { return w.IntN(100) < percent }

// word is a string of one of many kinds.
func (w *writer) word() string {
	words := []string{"web", "registry.example/app:1", "500m", "on", "0644", "", "1.5", "true", "null", " lead", "it's", "say \"hi\"", "a: b", "a #b",
		"--flag=x", "é→ü", "tab\there", "12:30", "[x]", "{y}", "*star", "&and", "!bang", "%p", "@at", "`tick", "no", "~", "- dash", "x,y", "ends:", "\u0007bell", "\U0001F600", "a\\b", "#hash"}
	return words[w.IntN(len(words))]
}

func (w *writer) text() string {
	lines := []string{}
	for range 2 + w.IntN(4) {
		lines = append(lines, []string{"key = value", "  indented", "", "plain words here", "# no comment", "tail"}[w.IntN(6)])
	}
	lines[0] = "first"
	return strings.Join(lines, "\n") + strings.Repeat("\n", w.IntN(2))
}

func (w *writer) leaf() any {
	switch w.IntN(8) {
	case 0:
		return int64(w.IntN(1000) - 100)
	case 1:
		return w.chance(50)
	case 2:
		return 0.25 * float64(1+w.IntN(9))
	case 3:
		return w.text()
	case 4:
		return nil
	default:
		return w.word()
	}
}

// value is a random value of at most some depth.
func (w *writer) value(depth int) any {
	switch k := w.IntN(6); {
	case depth > 0 && k < 2:
		out := map[string]any{}
		for range w.IntN(4) {
			out[w.key()] = w.value(depth - 1)
		}
		return out
	case depth > 0 && k == 2:
		out := []any{}
		for i := range w.IntN(4) {
			if w.chance(50) {
				out = append(out, map[string]any{"name": fmt.Sprintf("e%d", i), "v": w.value(depth - 2)})
			} else {
				out = append(out, w.value(depth-1))
			}
		}
		return out
	default:
		return w.leaf()
	}
}

func (w *writer) key() string {
	return []string{"replicas", "image", "args", "env", "labels", "app.kubernetes.io/name", "on", "y", "8080", "config.yaml", "a b", "template", "it's", "limits"}[w.IntN(14)]
}

// manifest is a random object.
func (w *writer) manifest(name string) map[string]any {
	spec := map[string]any{"v": w.value(3)}
	for range 2 + w.IntN(4) {
		spec[w.key()] = w.value(4)
	}
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": name}, "spec": spec}
}

func (w *writer) line(text string) { w.lines = append(w.lines, text) }

func (w *writer) noise(column int) {
	switch w.IntN(12) {
	case 0:
		w.line(strings.Repeat(" ", column) + "# comment: [not] {data}")
	case 1:
		if n := len(w.lines); n > 0 && w.lines[n-1] != "" { // behind |+ it would be content
			w.line("")
		}
	}
}

// mapping writes pairs at a column; the first goes behind head, if there is one.
func (w *writer) mapping(m map[string]any, path, head string, column int) {
	keys := []string{}
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	w.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for i, key := range keys {
		start := head
		if i > 0 || head == "" {
			w.noise(column)
			start = strings.Repeat(" ", column)
		}
		first := len(w.lines)
		w.below(m[key], path+"/"+key, start+w.quoted(key, false)+":", column, w.list)
		w.spans[path+"/"+key] = [2]int{first, len(w.lines) - 1}
	}
}

func (w *writer) sequence(list []any, path, head string, column int) {
	for i, item := range list {
		start := head
		if i > 0 || head == "" {
			w.noise(column)
			start = strings.Repeat(" ", column)
		}
		here := fmt.Sprintf("%s/%d", path, i)
		first := len(w.lines)
		m, isMap := item.(map[string]any)
		inner, isList := item.([]any)
		switch {
		case isMap && len(m) > 0 && w.chance(70):
			w.mapping(m, here, start+"- ", column+2)
		case isList && len(inner) > 0 && w.chance(50):
			w.sequence(inner, here, start+"- ", column+2)
		default:
			w.below(item, here, start+"-", column, w.step)
		}
		w.spans[here] = [2]int{first, len(w.lines) - 1}
	}
}

// below writes a value behind a key or dash, or below it.
func (w *writer) below(value any, path, head string, column, list int) {
	comment := ""
	if w.chance(15) {
		comment = " # why"
	}
	m, isMap := value.(map[string]any)
	items, isList := value.([]any)
	switch {
	case isMap && len(m) > 0 && w.chance(75):
		w.line(head + comment)
		w.mapping(m, path, "", column+w.step)
	case isList && len(items) > 0 && w.chance(75):
		w.line(head + comment)
		w.sequence(items, path, "", column+list)
	case isMap || isList:
		w.line(head + " " + w.flow(value, path) + comment)
		w.flowSpans(value, path, len(w.lines)-1)
	default:
		w.scalar(value, head, comment, column)
	}
}

func (w *writer) flowSpans(value any, path string, line int) {
	w.spans[path] = [2]int{line, line}
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			w.flowSpans(member, path+"/"+key, line)
		}
	case []any:
		for i, item := range v {
			w.flowSpans(item, fmt.Sprintf("%s/%d", path, i), line)
		}
	}
}

func (w *writer) flow(value any, path string) string {
	pad := []string{"", " "}[w.IntN(2)]
	var parts []string
	switch v := value.(type) {
	case map[string]any:
		keys := []string{}
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			parts = append(parts, w.quoted(key, true)+": "+w.flow(v[key], path))
		}
		return "{" + pad + strings.Join(parts, ", ") + pad + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, w.flow(item, path))
		}
		return "[" + pad + strings.Join(parts, ", ") + pad + "]"
	case string:
		return w.quoted(v, true)
	case nil:
		return "null"
	default:
		return fmt.Sprint(v)
	}
}

// scalar writes a leaf; texts of several lines in one of the forms for them.
func (w *writer) scalar(value any, head, comment string, column int) {
	text, isText := value.(string)
	switch {
	case isText && strings.Contains(text, "\n") && w.chance(80):
		chomping := map[bool]string{true: "", false: "-"}[strings.HasSuffix(text, "\n")]
		if strings.HasSuffix(text, "\n\n") {
			chomping = "+"
		}
		w.line(head + " |" + chomping + comment)
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			if line != "" {
				line = strings.Repeat(" ", column+w.step) + line
			}
			w.line(line)
		}
	case isText:
		w.line(head + " " + w.quoted(text, false) + comment)
	case value == nil && w.chance(50):
		w.line(head + comment)
	case value == nil:
		w.line(head + " null" + comment)
	default:
		w.line(head + " " + fmt.Sprint(value) + comment)
	}
}

// quoted writes a string in one of the styles that hold it.
func (w *writer) quoted(text string, flow bool) string {
	plain := text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '.' && r != '/' && r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) && !slices.Contains([]string{"on", "y", "no", "true", "null"}, text) && text[0] != '-'
	single := !strings.ContainsAny(text, "\n\t\u0007")
	switch {
	case plain && w.chance(70):
		return text
	case single && w.chance(50):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	default:
		return fmt.Sprintf("\"%s\"", strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n", "\t", "\\t", "\u0007", "\\a").Replace(text))
	}
}
