package manifest

import "go.yaml.in/yaml/v3"

// lookup is the node at a path of keys, merge keys and aliases followed; nil
// if it is not there.
func lookup(node *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		node = member(node, key, 0)
	}
	return target(node)
}

func target(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

func member(node *yaml.Node, key string, depth int) *yaml.Node {
	node = target(node)
	if node == nil || node.Kind != yaml.MappingNode || depth > 10 {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if k := target(node.Content[i]); k.Kind == yaml.ScalarNode && k.Value == key {
			return node.Content[i+1]
		}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if !isMerge(node.Content[i]) {
			continue
		}
		for _, merged := range sources(node.Content[i+1]) {
			if found := member(merged, key, depth+1); found != nil {
				return found
			}
		}
	}
	return nil
}

// isMerge says whether a key is the merge key <<.
func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && plain(key)
}

// sources are the mappings that the value of a merge key merges.
func sources(value *yaml.Node) []*yaml.Node {
	value = target(value)
	if value.Kind == yaml.SequenceNode {
		return value.Content
	}
	return []*yaml.Node{value}
}

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// plain says whether a scalar is neither quoted nor tagged.
func plain(node *yaml.Node) bool { return node.Style&(quoted|yaml.TaggedStyle) == 0 }

// lineAt is the line of the deepest node on a path of keys.
func lineAt(node *yaml.Node, keys ...string) int {
	line := node.Line
	for i := range keys {
		if found := lookup(node, keys[:i+1]...); found != nil {
			line = found.Line
		}
	}
	return line
}

// headOf is the head of an object of which only the nodes are known.
func headOf(node *yaml.Node) Object {
	value := func(keys ...string) string {
		if found := lookup(node, keys...); found != nil && found.Kind == yaml.ScalarNode {
			return found.Value
		}
		return ""
	}
	return Object{Content: map[string]any{"apiVersion": value("apiVersion"), "kind": value("kind"),
		"metadata": map[string]any{"namespace": value("metadata", "namespace"), "name": value("metadata", "name")}}}
}
