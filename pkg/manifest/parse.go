package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxBytes is the largest text that Parse reads.
const MaxBytes = 64 << 20

// Parse reads all objects of a text: YAML documents and JSON objects, in any
// mixture, lists unfolded. Values are those that kubectl would send (YAML 1.1
// as sigs.k8s.io/yaml reads it). Whatever is not returned as an object is
// named by a Problem, unless it was empty; one broken document never hides
// another. file names the text in Source and Problem.
func Parse(file string, data []byte) ([]Object, []Problem) {
	p := &parser{file: file}
	if len(data) > MaxBytes {
		p.report(0, ReasonTooLarge, fmt.Sprintf("larger than %d MiB", MaxBytes>>20))
		return nil, p.problems
	}
	text, ok := decode(data)
	if !ok {
		p.report(invalidLine(data), ReasonEncoding, "neither UTF-8 nor UTF-16 with a byte-order mark")
		return nil, p.problems
	}
	number := 0
	for _, c := range split(text) {
		docs, bad := documents(c)
		for _, doc := range docs {
			number++
			p.document(fmt.Sprintf("document %d", number), doc)
		}
		if bad != nil {
			number++
			p.report(bad.line, ReasonSyntax, fmt.Sprintf("document %d: %s", number, bad.message))
		}
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Source.Line - b.Source.Line })
	return p.objects, p.problems
}

type parser struct {
	file     string
	objects  []Object
	problems []Problem
}

// report adds a problem at a line.
func (p *parser) report(line int, reason, message string) {
	p.problems = append(p.problems, Problem{Source: Source{p.file, line}, Reason: reason, Message: message})
}

// refuse adds the problems of one object, which may be known by its head only.
func (p *parser) refuse(object Object, problems []Problem) {
	for _, problem := range problems {
		problem.Source.File, problem.Key = p.file, object.Key()
		if !IsSecret(object.Content) {
			problem.Object = &object
		}
		p.problems = append(p.problems, problem)
	}
}

func (p *parser) document(where string, doc document) {
	switch {
	case doc.unread != nil:
		problems := walk(doc.node, unknown{})
		if len(problems) == 0 {
			problems = []Problem{{Source: Source{Line: doc.unread.line}, Reason: ReasonNotJSON, Message: doc.unread.message}}
		}
		p.refuse(headOf(doc.node), problems)
	case doc.value != nil:
		p.entry(where, doc.node, doc.value, Object{})
	}
}

// entry reads a document or an entry of a list. where names it for people;
// like has the type of an entry that has none.
func (p *parser) entry(where string, node *yaml.Node, value any, like Object) {
	line := node.Line
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	content, ok := value.(map[string]any)
	if !ok {
		p.report(line, ReasonNotObject, fmt.Sprintf("%s: %s, not an object", where, typeName(value)))
		return
	}
	object := Object{Content: content, Source: Source{p.file, line}}
	if isList(content) {
		p.list(where, node, object)
		return
	}
	problems := walk(node, content)
	if like.Kind() != "" && content["kind"] == nil && content["apiVersion"] == nil {
		content["kind"], content["apiVersion"] = like.Kind(), like.APIVersion()
	}
	problems = append(problems, check(node, object, where)...)
	if len(problems) > 0 {
		p.refuse(object, problems)
		return
	}
	p.objects = append(p.objects, object)
}

// invalidLine is the line of the first byte that is no UTF-8.
func invalidLine(data []byte) int {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if !utf8.Valid(text) {
			break
		}
	}
	return line
}

// typeName is the JSON type of a value, as people say it.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	default:
		return "a number"
	}
}
