package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

const (
	maxLines  = 60   // of one object or value, unless Style.Full
	maxInline = 120  // bytes of a list or map on one line
	maxValue  = 2000 // bytes of one value, unless Style.Full
)

// inline is a value on one line: strings quoted, masks as (plan.MaskText), lists and
// maps as JSON, long ones cut with size and digest.
func (s Style) inline(v any) string {
	var text string
	switch v := v.(type) {
	case string:
		text = Quote(v)
	case state.Masked, *state.Masked:
		return plan.MaskText
	default:
		text = compact(v)
	}
	return s.cut(v, text)
}

// cut is the beginning of a long text, with size and digest of the value that
// it stands for.
func (s Style) cut(v any, text string) string {
	if s.Full || len(text) <= maxValue {
		return text
	}
	return strings.ToValidUTF8(text[:maxInline], "") + "… " + size(v, text)
}

func size(v any, text string) string {
	if s, ok := v.(string); ok {
		text = s
	}
	return fmt.Sprintf("(%s, %s)", bytesOf(len(text)), state.Digest([]byte(text))[:len("sha256:")+12])
}

// compact is a value as JSON on one line, escaped.
func compact(v any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(named(v)); err != nil {
		return "(" + Escape(err.Error()) + ")"
	}
	return Escape(strings.TrimRight(out.String(), "\n"))
}

// object is a whole object as YAML, not yet escaped but for line breaks that
// only YAML knows: it would fold the first into a space, and indent what stands
// behind the others.
func object(v any) string {
	data, err := yaml.Marshal(spelled(named(v), strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

// spelled is a value with another spelling of its strings and keys.
func spelled(v any, spelling *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return spelling.Replace(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[spelling.Replace(key)] = spelled(member, spelling)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, member := range v {
			out[i] = spelled(member, spelling)
		}
		return out
	}
	return v
}

// named replaces masks and marks by the words that people see.
func named(v any) any {
	if plan.IsAssigned(v) {
		return plan.AssignedText
	}
	switch v := v.(type) {
	case state.Masked, *state.Masked:
		return plan.MaskText
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[key] = named(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, member := range v {
			out[i] = named(member)
		}
		return out
	}
	return v
}

// large says whether a value is better shown as a block of lines.
func large(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(strings.TrimRight(v, "\n"), "\n")
	case map[string]any, []any:
		return len(compact(v)) > maxInline
	}
	return false
}

// text is a value as lines, not yet escaped.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return object(v)
}

func bytesOf(n int) string {
	switch {
	case n < 1000:
		return count(n, "byte", "bytes")
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1000/1000)
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
