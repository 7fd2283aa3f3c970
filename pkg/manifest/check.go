package manifest

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// bad is a problem at a path of keys of an object.
func bad(node *yaml.Node, reason, message string, keys ...string) Problem {
	path := ""
	for _, key := range keys {
		path = Child(path, key)
	}
	return Problem{Source: Source{Line: lineAt(node, keys...)}, Path: path, Reason: reason, Message: message}
}

func wrongType(node *yaml.Node, value any, want string, keys ...string) Problem {
	return bad(node, ReasonWrongType, "is "+typeName(value)+", must be "+want, keys...)
}

// check finds what no applier could apply, or could read otherwise than we do.
// where names the document.
func check(node *yaml.Node, object Object, where string) []Problem {
	problems := checkType(node, object.Content, where)
	if len(problems) > 0 {
		return problems
	}
	if problems = checkMetadata(node, object.Content); len(problems) == 0 {
		problems = checkName(node, object)
	}
	if IsSecret(object.Content) {
		problems = append(problems, checkSecret(node, object.Content)...)
	}
	if object.APIVersion() == "v1" && object.Kind() == "ConfigMap" {
		problems = append(problems, checkStrings(node, object.Content, []string{"data"})...)
		problems = append(problems, checkStrings(node, object.Content, []string{"binaryData"})...)
	}
	return problems
}

func checkType(node *yaml.Node, content map[string]any, where string) []Problem {
	var problems []Problem
	var missing []string
	for _, key := range []string{"apiVersion", "kind"} {
		value := content[key]
		if s, ok := value.(string); value != nil && !ok {
			problems = append(problems, wrongType(node, value, "a string", key))
		} else if s == "" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		problems = append(problems, bad(node, ReasonNoKind, where+": no "+strings.Join(missing, "/")))
	}
	if strings.Count(text(content, "apiVersion"), "/") > 1 {
		problems = append(problems, bad(node, ReasonWrongType, "must be group/version", "apiVersion"))
	}
	return problems
}

// checkMetadata refuses annotations and labels that are no strings: one of
// them makes the usual readers return none at all, so that a hook or a guard
// would be overlooked.
func checkMetadata(node *yaml.Node, content map[string]any) []Problem {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok && content["metadata"] != nil {
		return []Problem{wrongType(node, content["metadata"], "a mapping", "metadata")}
	}
	var problems []Problem
	for _, key := range []string{"name", "generateName", "namespace"} {
		if _, ok := metadata[key].(string); !ok && metadata[key] != nil {
			problems = append(problems, wrongType(node, metadata[key], "a string", "metadata", key))
		}
	}
	for _, field := range []string{"annotations", "labels"} {
		problems = append(problems, checkStrings(node, content, []string{"metadata", field})...)
		members, _ := metadata[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if members[key] == nil {
				problems = append(problems, wrongType(node, nil, "a string", "metadata", field, key))
			}
		}
	}
	return problems
}

func checkName(node *yaml.Node, object Object) []Problem {
	if object.Name() != "" {
		return nil
	}
	if object.GenerateName() == "" {
		return []Problem{bad(node, ReasonNoName, "has no name", "metadata")}
	}
	if _, _, isHook := Hook(object); isHook {
		return nil
	}
	return []Problem{bad(node, ReasonGenerateName, "generateName cannot be applied: apply needs a name", "metadata", "generateName")}
}

// checkStrings refuses a mapping with values that are no strings. null passes:
// the server reads it as empty, or refuses it.
func checkStrings(node *yaml.Node, content map[string]any, keys []string) []Problem {
	var at any = content
	for _, key := range keys {
		parent, _ := at.(map[string]any)
		at = parent[key]
	}
	members, ok := at.(map[string]any)
	if !ok && at != nil {
		return []Problem{wrongType(node, at, "a mapping", keys...)}
	}
	var problems []Problem
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if _, ok := members[key].(string); !ok && members[key] != nil {
			problems = append(problems, wrongType(node, members[key], "a string", slices.Concat(keys, []string{key})...))
		}
	}
	return problems
}

// checkSecret refuses what the server would refuse with a text that repeats
// the value, and values that a tool has masked: those are valid base64 and
// would become the new password.
func checkSecret(node *yaml.Node, content map[string]any) []Problem {
	var problems []Problem
	for _, field := range []string{"data", "stringData"} {
		problems = append(problems, checkStrings(node, content, []string{field})...)
		members, _ := content[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			value, isString := members[key].(string)
			switch {
			case !isString:
			case isMask(value), field == "data" && isMask(decoded(value)):
				problems = append(problems, bad(node, ReasonMasked, "value is masked", field, key))
			case field == "data" && !isBase64(value):
				problems = append(problems, bad(node, ReasonNotBase64, "value is not base64", field, key))
			}
		}
	}
	return problems
}

// isMask says whether a value is what Argo CD (++++++++ and longer), Flux and
// kubectl (*****, ***, "*** (before)") show in place of a Secret's value, or
// what flux build puts where SOPS encrypts, encoded if it is data.
func isMask(value string) bool {
	value = strings.TrimSpace(value)
	for _, suffix := range []string{" (before)", " (after)"} {
		value = strings.TrimSuffix(value, suffix)
	}
	return len(value) >= 8 && strings.Trim(value, "+") == "" || len(value) >= 3 && strings.Trim(value, "*") == "" ||
		value == "**SOPS**" || value == `{"mask":"**SOPS**"}`
}

// decoded is a value without its base64, "" where it has none.
func decoded(value string) string {
	text, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return ""
	}
	return string(text)
}

func isBase64(value string) bool {
	_, err := base64.StdEncoding.DecodeString(value)
	return err == nil
}
