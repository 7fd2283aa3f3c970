package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
)

// New is the text of an object that has none yet.
func New(object map[string]any) []byte {
	return []byte(strings.Join(defaultStyle().blockLines(object, 0), "\n") + "\n")
}

// Append is the file with one object more, as a document of its own at its end.
func (t *Text) Append(object map[string]any) ([]byte, error) {
	text := string(New(object))
	if len(t.docs) > 0 {
		text = "---\n" + text
	}
	if len(t.text) > 0 && !bytes.HasSuffix(t.text, []byte("\n")) {
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	out, err := t.apply([]splice{{len(t.text), len(t.text), text}})
	if err != nil {
		return nil, err
	}
	return out, t.others(out, append(t.Values(), object))
}

// Remove is the file without a document: nil where it held no other. The
// comments of a document go with it.
func (t *Text) Remove(index int) ([]byte, error) {
	if len(t.docs) == 1 {
		return nil, nil
	}
	doc := t.docs[index]
	gone := splice{start: doc.start, end: doc.end}
	if index == 0 && !bytes.HasPrefix(t.text[doc.start:], []byte("---")) {
		// The separator behind it goes, too.
		next := t.text[t.docs[1].start:]
		if line := bytes.IndexByte(next, '\n'); bytes.HasPrefix(next, []byte("---\n")) && doc.end == t.docs[1].start {
			gone.end += line + 1
		}
	}
	out, err := t.apply([]splice{gone})
	if err != nil {
		return nil, err
	}
	return out, t.others(out, slices.Delete(t.Values(), index, index+1))
}

// others checks that a file holds just these values.
func (t *Text) others(out []byte, values []any) error {
	after, err := Open(t.name, out)
	if err != nil || !diff.Equal(append([]any{}, after.Values()...), append([]any{}, values...)) {
		return t.refuse(0, "cannot get or lose a document in place")
	}
	return nil
}
