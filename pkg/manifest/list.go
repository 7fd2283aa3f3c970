package manifest

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isList says whether kubectl reads an object as a list: it has items. The
// kind List is one even without.
func isList(content map[string]any) bool {
	kind := text(content, "kind")
	items, has := content["items"]
	_, entries := items.([]any)
	return kind == "List" || has && kind != "" && (entries || strings.HasSuffix(kind, "List"))
}

// list unfolds a List, or a typed one such as ConfigMapList, whose entries may
// lack apiVersion and kind. items: null is an empty list.
func (p *parser) list(where string, node *yaml.Node, list Object) {
	problems := walkBut(node, list.Content, "items")
	items, has := list.Content["items"]
	entries, ok := items.([]any)
	switch {
	case !has:
		problems = append(problems, bad(node, ReasonBadList, where+": a list without items"))
	case !ok && items != nil:
		problems = append(problems, wrongType(node, items, "a list", "items"))
	case !strings.HasSuffix(list.Kind(), "List"):
		problems = append(problems, bad(node, ReasonBadList, "kubectl reads an object with items as a list, but its kind does not end in List", "items"))
	case list.Name() != "":
		problems = append(problems, bad(node, ReasonBadList, "a list has no name: kubectl would apply its items and nothing else", "metadata", "name"))
	}
	if len(problems) > 0 {
		p.refuse(list, problems)
		return
	}
	like := Object{Content: map[string]any{"apiVersion": list.APIVersion(), "kind": strings.TrimSuffix(list.Kind(), "List")}}
	for i, entry := range entries {
		p.entry(fmt.Sprintf("%s, items[%d]", where, i), itemNode(node, i), entry, like)
	}
}

// itemNode is the node of entry i of a list; the list's own where it is
// unclear.
func itemNode(list *yaml.Node, i int) *yaml.Node {
	items := lookup(list, "items")
	if items == nil || items.Kind != yaml.SequenceNode || i >= len(items.Content) {
		return list
	}
	return items.Content[i]
}
