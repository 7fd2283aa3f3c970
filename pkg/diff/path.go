package diff

import (
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
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
		if len(steps) > 0 && rest[0] != '[' {
			after, dot := strings.CutPrefix(rest, ".")
			if !dot || after == "" || after[0] == '[' {
				return nil, false
			}
			rest = after
		}
		step, n := readStep(rest)
		if n == 0 {
			return nil, false
		}
		steps, rest = append(steps, step), rest[n:]
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
	end := manifest.Closing(text)
	if end < 2 {
		return Step{}, 0
	}
	var key string
	err := state.DecodeStrict([]byte(text[1:end]), &key)
	switch written := text[:end+1]; {
	case err != nil && text[1] == '"' && !strings.Contains(text[:end], `"=`):
		return Step{}, 0
	case err != nil:
		return Step{Selector: written}, end + 1
	case manifest.Child("", key) != written:
		return Step{}, 0 // a bare key needs no brackets
	default:
		return Step{Key: key}, end + 1
	}
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
