package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// scalarText writes a scalar, or an empty map or list, in the style of the one
// that it stands for: like is that style, 0 for plain.
func (s style) scalarText(want any, like yaml.Style, flow bool) string {
	switch v := want.(type) {
	case string:
		return s.stringText(v, like, flow)
	case map[string]any:
		return "{}"
	case []any:
		return "[]"
	default:
		text, err := json.Marshal(v)
		if err != nil { // decoded JSON always has a form
			return "null"
		}
		return string(text)
	}
}

func (s style) stringText(text string, like yaml.Style, flow bool) string {
	switch {
	case s.json || like&yaml.DoubleQuotedStyle != 0:
		return double(text)
	case like&yaml.SingleQuotedStyle != 0 && printable(text) && !strings.Contains(text, "\n"):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case plainSafe(text, flow):
		return text
	default:
		return double(text)
	}
}

// double is a string in double quotes. Every JSON string is one of YAML, too.
func double(text string) string {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil { // a string always has a form
		return `""`
	}
	var out strings.Builder
	for _, r := range strings.TrimSuffix(buffer.String(), "\n") {
		if r >= 0x7f && (!unicode.IsPrint(r) || r == 0xfeff) && r <= 0xffff {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// printable says whether a string can stand as it is, line breaks aside.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) })
}

// plainSafe says whether every reader of YAML, 1.1 or 1.2, takes a plain text
// for this very string.
func plainSafe(text string, flow bool) bool {
	if text == "" || strings.TrimSpace(text) != text || strings.ContainsAny(text, "\n\t") || !printable(text) || typed(text) {
		return false
	}
	if strings.ContainsAny(text[:1], "=<~!&*%@`|>\"'#,[]{}") || strings.HasSuffix(text, ":") ||
		flow && strings.ContainsAny(text, ",[]{}") || strings.Contains(text, "{{") {
		return false
	}
	source := "k: " + text
	if flow {
		source = "{k: " + text + ", l: 0}"
	}
	var theirs, ours map[string]any
	raw, err := kyaml.YAMLToJSON([]byte(source))
	if err != nil || json.Unmarshal(raw, &theirs) != nil || yaml.Unmarshal([]byte(source), &ours) != nil {
		return false
	}
	return theirs["k"] == text && ours["k"] == text
}

// typed says whether some reader takes a plain text for a boolean, null, number
// or time.
func typed(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~":
		return true
	}
	number := regexp.MustCompile(`^[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|` +
		`[0-9][0-9_]*\.?[0-9_]*([eE][-+]?[0-9]+)?|\.[0-9_]+([eE][-+]?[0-9]+)?|\.(inf|Inf|INF|nan|NaN|NAN))$`)
	date := regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?$`)
	return number.MatchString(text) || date.MatchString(text)
}
