package edit

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	kjson "k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/manifest"
)

// Refusal says why a text cannot be edited in place.
type Refusal struct {
	File    string
	Line    int    // from 1; 0 where it is the file as a whole
	Path    string // field path, "" where there is none
	Message string
}

// Error names file, line, path and cause.
func (r *Refusal) Error() string {
	parts := []string{manifest.Source{File: r.File, Line: r.Line}.String()}
	if r.Path != "" {
		parts = append(parts, r.Path)
	}
	return strings.Join(append(parts, r.Message), ": ")
}

// Text is a file of documents.
type Text struct {
	name string
	data []byte // as given
	text []byte // without byte-order mark, and with \n line breaks
	docs []document
}

// document is one document of a text. Nodes have the lines of the file.
type document struct {
	start, end int // in text
	root       *yaml.Node
	value      any
}

const byteOrderMark = "\ufeff"

// Open reads a text. name is for its refusals.
func Open(name string, data []byte) (*Text, error) {
	t := &Text{name: name, data: data, text: bytes.TrimPrefix(data, []byte(byteOrderMark))}
	t.text = bytes.ReplaceAll(t.text, []byte("\r\n"), []byte("\n"))
	if err := t.readable(); err != nil {
		return nil, err
	}
	starts := lineStarts(t.text)
	for _, chunk := range manifest.Chunks(t.text) {
		doc := document{start: starts[chunk.Line-1]}
		doc.end = doc.start + len(chunk.Text)
		if err := t.read(&doc, chunk); err != nil {
			return nil, err
		}
		if doc.root != nil {
			t.docs = append(t.docs, doc)
		}
	}
	return t, nil
}

func (t *Text) refuse(line int, message string) error {
	return &Refusal{File: t.name, Line: line, Message: message}
}

// readable refuses what YAML's readers count lines of differently.
func (t *Text) readable() error {
	if !utf8.Valid(t.text) {
		return t.refuse(0, "is no UTF-8")
	}
	if i := bytes.IndexAny(t.text, "\r\u0085\u2028\u2029"); i >= 0 {
		return t.refuse(1+bytes.Count(t.text[:i], []byte("\n")), "holds a line break other than \\n and \\r\\n, which tools count differently")
	}
	return nil
}

// read decodes one document, as kubectl would and as nodes.
func (t *Text) read(doc *document, chunk manifest.Chunk) error {
	decoder := yaml.NewDecoder(bytes.NewReader(chunk.Text))
	var root, more yaml.Node
	err := decoder.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && len(root.Content) == 0 {
		return nil
	}
	if err == nil {
		if err = decoder.Decode(&more); err == nil {
			return t.refuse(chunk.Line, "two documents without --- between them")
		}
	}
	if !errors.Is(err, io.EOF) {
		return t.unread(chunk)
	}
	raw, err := kyaml.YAMLToJSON(chunk.Text)
	if err != nil || kjson.Unmarshal(raw, &doc.value) != nil {
		return t.unread(chunk)
	}
	doc.root = root.Content[0]
	shift(doc.root, chunk.Line-1)
	return nil
}

// unread says what a text is that is no YAML. The reader's own error may repeat
// values.
func (t *Text) unread(chunk manifest.Chunk) error {
	if i := bytes.Index(chunk.Text, []byte("{{")); i >= 0 {
		return t.refuse(chunk.Line+bytes.Count(chunk.Text[:i], []byte("\n")), "is a template ({{), not a manifest")
	}
	return t.refuse(chunk.Line, "is neither YAML nor JSON that can be read")
}

func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, child := range node.Content {
		shift(child, lines)
	}
}

// Values are the values of the documents that hold any, in their order.
func (t *Text) Values() []any {
	var values []any
	for _, doc := range t.docs {
		values = append(values, doc.value)
	}
	return values
}

// Line is the line, from 1, on which the value of a document begins.
func (t *Text) Line(index int) int { return t.docs[index].root.Line }

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, b := range text {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// splice puts text in place of [start, end) of a text with \n line breaks.
type splice struct {
	start, end int
	text       string
}

// spliced is text after its splices: by where they start, those that only
// insert before those that also take away, else in their own order. ok is false
// where two of them meet.
func spliced(text []byte, splices []splice) (out []byte, ok bool) {
	ordered := slices.Clone(splices)
	slices.SortStableFunc(ordered, func(a, b splice) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return min(a.end-a.start, 1) - min(b.end-b.start, 1)
	})
	at := 0
	for _, s := range ordered {
		if s.start < at || s.end < s.start {
			return nil, false
		}
		out = append(out, text[at:s.start]...)
		out = append(out, s.text...)
		at = s.end
	}
	return append(out, text[at:]...), true
}

// apply makes the new file: the splices are of the text with \n line breaks,
// and are put into the bytes as they were given.
func (t *Text) apply(splices []splice) ([]byte, error) {
	crlf := bytes.Count(t.data, []byte("\r\n"))*2 > bytes.Count(t.data, []byte("\n"))
	mapped := make([]splice, len(splices))
	for i, s := range splices {
		if s.start < 0 {
			return nil, t.refuse(0, "cannot be edited in place")
		}
		mapped[i] = splice{t.offset(s.start), t.offset(s.end), s.text}
		if crlf {
			mapped[i].text = strings.ReplaceAll(s.text, "\n", "\r\n")
		}
	}
	out, ok := spliced(t.data, mapped)
	if !ok {
		return nil, t.refuse(0, "cannot be edited in place: two edits meet")
	}
	return out, nil
}

// offset is where an offset of text lies in data: before the \r of a line that
// it ends.
func (t *Text) offset(at int) int {
	own := len(t.data) - len(bytes.TrimPrefix(t.data, []byte(byteOrderMark)))
	for i := 0; i < at; i++ {
		if t.data[own] == '\r' && t.text[i] == '\n' {
			own++
		}
		own++
	}
	return own
}
