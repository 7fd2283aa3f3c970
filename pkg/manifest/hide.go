package manifest

import "fmt"

// AnyEntry stands in a path for every entry of a list.
const AnyEntry = "*"

// Hide is an object in which the fields are masked that Hidden names for a
// key: a copy, or the object itself where there are none. The key is that of the
// object as it is desired; the object may be any state of it.
func (m Masker) Hide(key Key, content map[string]any) map[string]any {
	paths := m.Hidden[key]
	if len(paths) == 0 || content == nil {
		return content
	}
	out := DeepCopy(content)
	place := Object{Content: map[string]any{"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name}}}
	for _, path := range paths {
		out = m.hide(place, out, path, "")
	}
	object, _ := out.(map[string]any)
	return object
}

// hide masks what a path leads to from a node, in place, and returns it.
func (m Masker) hide(place Object, node any, path []string, name string) any {
	if len(path) == 0 {
		if node == nil {
			return nil
		}
		return m.mask(place, name, fmt.Append(nil, node))
	}
	switch node := node.(type) {
	case map[string]any:
		if member, there := node[path[0]]; there {
			node[path[0]] = m.hide(place, member, path[1:], Child(name, path[0]))
		}
	case []any:
		if path[0] == AnyEntry {
			for i := range node {
				node[i] = m.hide(place, node[i], path[1:], name+"[]")
			}
		}
	}
	return node
}
