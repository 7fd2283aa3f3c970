package diff

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/changeward/changeward/state"
)

// Equal says whether two decoded JSON values have the same canonical form,
// which is the form that is hashed: 1 and 1.0 are equal as numbers that Go
// holds, and a map differs from an absent one. Masked values are equal when
// the values behind them were.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && equalMaps(x, y)
	case []any:
		y, ok := b.([]any)
		return ok && equalLists(x, y)
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case nil:
		return b == nil
	case state.Masked:
		y, ok := b.(state.Masked)
		return ok && x.Tag == y.Tag
	default:
		return equalNumbers(a, b)
	}
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, x := range a {
		y, ok := b[key]
		if !ok || !Equal(x, y) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalNumbers(a, b any) bool {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return x == y
		}
	}
	x, ok := numberText(a)
	y, also := numberText(b)
	return ok && also && bytes.Equal(x, y)
}

// numberText is the number as canonical JSON writes it.
func numberText(v any) ([]byte, bool) {
	switch n := v.(type) {
	case int64:
		return strconv.AppendInt(nil, n, 10), true
	case json.Number:
		return []byte(n), true
	case float64, float32, int, int32, int16, int8, uint, uint64, uint32, uint16, uint8:
		text, err := json.Marshal(n)
		return text, err == nil
	default:
		return nil, false
	}
}
