package flux

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
)

// ParseID reads the id of an inventory entry: namespace_name_group_kind, where
// a colon in the name (roles have some) is written as two underscores. The
// error names an id of another form.
func ParseID(id string) (manifest.Key, error) {
	key := manifest.Key{}
	wrong := fmt.Errorf("inventory entry %q is not namespace_name_group_kind", id)
	namespace, rest, found := strings.Cut(id, "_")
	if !found {
		return key, wrong
	}
	name, kind, found := cutLast(rest)
	if !found {
		return key, wrong
	}
	name, group, found := cutLast(name)
	if !found {
		return key, wrong
	}
	name = strings.ReplaceAll(name, "__", ":")
	if name == "" || kind == "" || strings.Contains(name, "_") {
		return key, wrong
	}
	return manifest.Key{Group: group, Kind: kind, Namespace: namespace, Name: name}, nil
}

func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndexByte(text, '_')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// FormatID is the id of an object's inventory entry.
func FormatID(k manifest.Key) string {
	return strings.Join([]string{k.Namespace, strings.ReplaceAll(k.Name, ":", "__"), k.Group, k.Kind}, "_")
}
