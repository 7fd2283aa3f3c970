package dryrun

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/changeward/changeward/pkg/manifest"
)

// parsePath reads a path as the server's error texts have it,
//
//	.spec.template.spec.containers[name="c"].env[name="LEVEL"].value
//
// and finds the value there. The text alone is ambiguous, since a key may hold
// dots and brackets: the object decides. What the object does not have is read
// up to the next dot or bracket, and has no value.
func parsePath(text string, object any) (fieldpath.Path, any) {
	path, found := fieldpath.Path{}, object
	for text != "" {
		var element fieldpath.PathElement
		switch text[0] {
		case '[':
			element, found, text = readSelector(text, found)
		default:
			element, found, text = readKey(strings.TrimPrefix(text, "."), found)
		}
		path = append(path, element)
	}
	return path, found
}

// readKey takes the longest key of the object that the text starts with.
func readKey(text string, object any) (fieldpath.PathElement, any, string) {
	members, _ := object.(map[string]any)
	name := text
	if end := strings.IndexAny(text, ".["); end >= 0 {
		name = text[:end]
	}
	known := false
	for key := range members {
		rest, starts := strings.CutPrefix(text, key)
		ends := rest == "" || rest[0] == '.' || rest[0] == '['
		if starts && ends && (!known || len(key) > len(name)) {
			name, known = key, true
		}
	}
	return fieldpath.FieldNameElement(name), members[name], text[len(name):]
}

// readSelector reads [name="c"], [="v"] or [0], and finds the entry.
func readSelector(text string, object any) (fieldpath.PathElement, any, string) {
	entries, _ := object.([]any)
	inner, rest := text[1:], "" // cut off in the middle
	if end := manifest.Closing(text); end > 0 {
		inner, rest = text[1:end], text[end+1:]
	}
	if index, err := strconv.Atoi(inner); err == nil {
		if index >= 0 && index < len(entries) {
			return fieldpath.IndexElement(index), entries[index], rest
		}
		return fieldpath.IndexElement(index), nil, rest
	}
	if member, isSet := strings.CutPrefix(inner, "="); isSet {
		v := readValue(member)
		return fieldpath.ValueElement(value.NewValueInterface(v)), v, rest
	}
	fields := map[string]any{}
	keys := value.FieldList{}
	for _, field := range splitOutsideQuotes(inner) {
		name, v, _ := strings.Cut(field, "=")
		if _, twice := fields[name]; twice {
			continue
		}
		fields[name] = readValue(v)
		keys = append(keys, value.Field{Name: name, Value: value.NewValueInterface(fields[name])})
	}
	return fieldpath.PathElement{Key: &keys}, entryWith(entries, fields), rest
}

// entryWith finds the list entry with these keys; one that it lacks is a
// default of the server's.
func entryWith(entries []any, fields map[string]any) any {
	i := slices.IndexFunc(entries, func(entry any) bool {
		members, isMap := entry.(map[string]any)
		for name, v := range fields {
			if own, has := members[name]; has && canonicalText(own) != canonicalText(v) {
				return false
			}
		}
		return isMap
	})
	if i < 0 {
		return nil
	}
	return entries[i]
}

func splitOutsideQuotes(text string) []string {
	var parts []string
	quoted, start := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && text[i] == ',':
			parts, start = append(parts, text[start:i]), i+1
		}
	}
	return append(parts, text[start:])
}

// readValue reads a key's value as the server writes it: Go's quoting for
// strings, JSON for all else.
func readValue(text string) any {
	if s, err := strconv.Unquote(text); err == nil {
		return s
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return text
}
