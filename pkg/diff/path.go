package diff

import (
	"strings"

	"github.com/changeward/changeward/state"
)

// Step is one step of a path: a map key, or a list entry's selector as it is
// written, brackets included: [name="c"], [="v"], [0].
type Step struct {
	Key      string
	Selector string // "" for a map key
}

// ParsePath reads the path of a transition. It answers false for text that is
// no path.
func ParsePath(path string) ([]Step, bool) {
	var steps []Step
	for rest := path; rest != ""; {
		step, n := readStep(rest)
		if n == 0 {
			return nil, false
		}
		steps = append(steps, step)
		rest = rest[n:]
		if after, dot := strings.CutPrefix(rest, "."); dot {
			if after == "" || after[0] == '[' || after[0] == '.' {
				return nil, false
			}
			rest = after
		}
	}
	return steps, len(steps) > 0
}

// readStep reads one step and says how many bytes it takes; 0 if there is
// none.
func readStep(text string) (Step, int) {
	if text[0] != '[' {
		n := 0
		for n < len(text) && bareByte(text[n]) {
			n++
		}
		return Step{Key: text[:n]}, n
	}
	end := closing(text)
	if end < 0 {
		return Step{}, 0
	}
	inner := text[1:end]
	if key, ok := unquote(inner); ok {
		return Step{Key: key}, end + 1
	}
	return Step{Selector: text[:end+1]}, end + 1
}

// closing finds the bracket that ends a selector, past brackets in JSON
// strings; -1 if there is none.
func closing(text string) int {
	quoted := false
	for i := 1; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && text[i] == ']':
			return i
		}
	}
	return -1
}

func unquote(text string) (string, bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", false
	}
	var key string
	err := state.DecodeStrict([]byte(text), &key)
	return key, err == nil
}

func bareByte(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// jsonText is a decoded JSON value as text, in its one canonical form.
func jsonText(value any) string {
	text, err := state.Canonical(value)
	if err != nil { // decoded JSON always has a form
		return "null"
	}
	return string(text)
}
