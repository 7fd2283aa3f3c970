package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// jsonNode makes of a JSON value (known to be one) the nodes that the YAML
// reader makes of YAML, so that one walk checks both. line is that of its
// first byte.
func jsonNode(raw []byte, line int) *yaml.Node {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	reader := &jsonReader{decoder: decoder, raw: raw, line: line}
	return reader.node(reader.next())
}

type jsonReader struct {
	decoder *json.Decoder
	raw     []byte
	read    int // bytes whose lines are counted
	line    int
}

// next is the next token; no token spans lines.
func (r *jsonReader) next() json.Token {
	token, _ := r.decoder.Token() // the value was checked as a whole
	end := int(r.decoder.InputOffset())
	r.line += bytes.Count(r.raw[r.read:end], []byte("\n"))
	r.read = end
	return token
}

func (r *jsonReader) node(token json.Token) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line}
	switch v := token.(type) {
	case json.Delim:
		node.Kind = yaml.MappingNode
		if v == '[' {
			node.Kind = yaml.SequenceNode
		}
		for r.decoder.More() {
			node.Content = append(node.Content, r.node(r.next()))
		}
		r.next()
	case string:
		node.Value, node.Style = v, yaml.DoubleQuotedStyle
	case nil:
		node.Value = "null"
	default:
		node.Value = fmt.Sprint(v)
	}
	return node
}
