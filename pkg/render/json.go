package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// APIVersion of every document.
const APIVersion = "changeward.dev/v1alpha1"

// JSON writes one document, indented, with a line feed behind it. HTML is not
// escaped; characters that could deceive a reader are, as JSON allows, so the
// values a parser sees are exact.
func JSON(w io.Writer, document any) error {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err := w.Write(visibleJSON(raw.Bytes()))
	return err
}

// visibleJSON replaces hostile characters, which can only stand inside of
// strings, by their JSON escapes.
func visibleJSON(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == '\n' || !hostile(r) && (r != '#' || !opensCommand(string(data[i:min(len(data), i+64)]))):
			out = append(out, data[i:i+size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}
