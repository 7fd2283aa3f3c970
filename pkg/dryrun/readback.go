package dryrun

import (
	"encoding/json"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// readBack is what the server reads of a server-side apply, nil where that is
// what was sent, or nothing that can be read: the server says so then. It reads
// the JSON of every client as YAML, which folds U+0085 (next line) into a space
// or a line feed: that is what will be stored.
func readBack(content map[string]any) (out map[string]any) {
	if !anyString(content, func(s string) bool { return strings.ContainsRune(s, '\u0085') }) {
		return nil
	}
	sent, err := json.Marshal(content)
	if err != nil {
		return nil
	}
	read, err := yaml.YAMLToJSONStrict(sent)
	if err != nil || kjson.Unmarshal(read, &out) != nil {
		return nil
	}
	return out
}

// anyString says whether a string in a value is of a kind.
func anyString(value any, is func(string) bool) bool {
	switch v := value.(type) {
	case string:
		return is(v)
	case map[string]any:
		for _, member := range v {
			if anyString(member, is) {
				return true
			}
		}
	case []any:
		for _, member := range v {
			if anyString(member, is) {
				return true
			}
		}
	}
	return false
}
