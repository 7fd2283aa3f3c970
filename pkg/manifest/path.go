package manifest

import (
	"strconv"
	"strings"

	"github.com/changeward/changeward/state"
)

// Child is the path of member key of the value at parent ("" for the object
// itself): data.feature, metadata.annotations["example.com/keep"]. Paths are
// hashed, so this form is fixed: keys of [A-Za-z0-9_-]+ are bare and joined by
// dots, all others stand in brackets as a canonical JSON string.
func Child(parent, key string) string {
	switch {
	case !bare(key):
		return parent + "[" + quote(key) + "]"
	case parent == "":
		return key
	default:
		return parent + "." + key
	}
}

// Item is the path of the entry at index (from 0) of the list at parent.
func Item(parent string, index int) string {
	return parent + "[" + strconv.Itoa(index) + "]"
}

// Closing is the index of the bracket that closes the one at which a text
// begins, past brackets in quoted strings; -1 if there is none.
func Closing(text string) int {
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

func bare(key string) bool {
	return key != "" && strings.Trim(key, "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

// quote is the canonical JSON string of a text; keys come from decoded JSON and
// are valid UTF-8, raw values of Secrets need not be.
func quote(key string) string {
	quoted, err := state.Canonical(strings.ToValidUTF8(key, "\ufffd"))
	if err != nil { // valid UTF-8 always has a form
		panic(err)
	}
	return string(quoted)
}
