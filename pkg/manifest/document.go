package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	kjson "k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"
)

// document is one decoded document: the value as kubectl would send it, and
// the nodes that tell lines, duplicate keys and merges.
type document struct {
	node  *yaml.Node // nil for an empty document
	value any
	// unread: the nodes could be read, the value could not.
	unread *fault
}

// fault is a text that could not be read, at a line of the file.
type fault struct {
	line    int
	message string
}

// documents reads a chunk: JSON objects back to back, or one YAML document.
// Where the first objects are good JSON and what follows is nothing, they are
// returned beside the fault.
func documents(c chunk) ([]document, *fault) {
	docs, failed := jsonDocuments(c)
	if failed == nil {
		return docs, nil
	}
	doc, bad := yamlDocument(c)
	switch {
	case bad == nil:
		return []document{doc}, nil
	case len(docs) > 0:
		return docs, failed
	default:
		return nil, bad
	}
}

// yamlDocument reads one YAML document twice: with yaml/v3 for the nodes, and
// with kubectl's own reader for the value.
func yamlDocument(c chunk) (document, *fault) {
	decoder := yaml.NewDecoder(bytes.NewReader(c.text))
	var root, more yaml.Node
	err := decoder.Decode(&root)
	if errors.Is(err, io.EOF) {
		return document{}, nil
	}
	if err == nil {
		if err = decoder.Decode(&more); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			return document{}, &fault{c.line - 1 + more.Line, "a second document without --- before it"}
		}
	}
	if err != nil {
		return document{}, syntaxFault(c, err)
	}
	if len(root.Content) == 0 {
		return document{}, nil
	}
	doc := document{node: root.Content[0]}
	shift(doc.node, c.line-1)
	doc.value, err = yamlValue(c.text)
	if err != nil {
		doc.unread = valueFault(c, doc.node, err)
	}
	return doc, nil
}

// shift makes the lines of a chunk's nodes those of the file.
func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, child := range node.Content {
		shift(child, lines)
	}
}

func yamlValue(text []byte) (any, error) {
	raw, err := kyaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var value any
	err = kjson.Unmarshal(raw, &value)
	return value, err
}

// syntaxFault prefers kubectl's error, whose line is the better one.
func syntaxFault(c chunk, err error) *fault {
	if _, theirs := kyaml.YAMLToJSON(c.text); theirs != nil && structural(theirs) {
		err = theirs
	}
	return located(c, 1, err)
}

// valueFault is the fault of a document whose structure is fine, but whose
// values kubectl cannot read; other errors than structural ones may repeat
// values.
func valueFault(c chunk, node *yaml.Node, err error) *fault {
	if !structural(err) {
		return &fault{node.Line, "has no JSON form"}
	}
	return located(c, node.Line-c.line+1, err)
}

// structural says whether an error speaks of the text's structure only.
func structural(err error) bool {
	message := err.Error()
	return strings.HasPrefix(message, "yaml: ") && !strings.Contains(message, "cannot decode") &&
		!strings.Contains(message, "invalid map key")
}

// located takes the line out of a reader's error; line is where it is else.
func located(c chunk, line int, err error) *fault {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if match := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(message); match != nil {
		line, _ = strconv.Atoi(match[1])
		message = message[len(match[0]):]
		if strings.HasPrefix(message, "did not find expected") {
			line++ // the parser, unlike the scanner, counts from 0
		}
	}
	if match := regexp.MustCompile(`anchor '(.*)' `).FindStringSubmatch(message); match != nil {
		for _, sign := range []string{"*", "&"} { // no line is told: the first place
			if before, _, found := strings.Cut(string(c.text), sign+match[1]); found {
				line = 1 + strings.Count(before, "\n")
			}
		}
	}
	last := bytes.Count(bytes.TrimRight(c.text, "\n"), []byte("\n")) + 1
	return &fault{c.line - 1 + min(line, last), safe(message)}
}

// safe drops from an error what may be a value: a password may well start with
// a * or an &.
func safe(message string) string {
	if strings.Contains(message, "unknown anchor") {
		return "an alias (*) without its anchor (&); quote a value that starts with *"
	}
	if strings.Contains(message, "contains itself") {
		return "an anchor that contains itself"
	}
	return message
}

// jsonDocuments reads JSON values back to back up to the end of the chunk.
func jsonDocuments(c chunk) ([]document, *fault) {
	text, at := c.text, jsonStart(c.text)
	if at < 0 {
		return nil, &fault{c.line, "no JSON"}
	}
	var docs []document
	line := c.line + bytes.Count(text[:at], []byte("\n"))
	for {
		decoder := json.NewDecoder(bytes.NewReader(text[at:]))
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return docs, &fault{line, "no JSON object; nothing from here on was read"}
		}
		doc := document{node: jsonNode(raw, line)}
		if err := kjson.Unmarshal(raw, &doc.value); err != nil {
			doc.unread = &fault{line, "has no JSON form"}
		}
		docs = append(docs, doc)
		next := at + int(decoder.InputOffset())
		next += len(text[next:]) - len(bytes.TrimLeft(text[next:], " \t\n"))
		line += bytes.Count(text[at:next], []byte("\n"))
		at = next
		if at == len(text) || text[at] != '{' && text[at] != '[' && preamble(text[at:]) {
			return docs, nil
		}
	}
}

// jsonStart is where the JSON of a chunk starts, behind --- and comments; -1
// if there is none.
func jsonStart(text []byte) int {
	at := 0
	if marked(text) {
		at = len("---")
	}
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\n':
			at++
		case '#':
			end := bytes.IndexByte(text[at:], '\n')
			if end < 0 {
				return -1
			}
			at += end
		case '{', '[':
			return at
		default:
			return -1
		}
	}
	return -1
}
