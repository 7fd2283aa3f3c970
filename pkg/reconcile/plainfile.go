package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/reconcile/edit"
)

// errNoObject says that a file does not hold the object that is looked for.
var errNoObject = errors.New("does not hold the object")

// located is where an object stands in a text: in a document, or among the
// items of one that is a list.
type located struct {
	document, item int // item is -1 for the document itself
}

// locate finds an object in a text. Names are those it may have there.
func locate(text *edit.Text, key manifest.Key, names ...string) (located, map[string]any, bool) {
	for i, value := range text.Values() {
		if content, ok := identified(value, key, names); ok {
			return located{i, -1}, content, true
		}
		list, _ := value.(map[string]any)
		items, _ := list["items"].([]any)
		for j, item := range items {
			if content, ok := identified(item, key, names); ok {
				return located{i, j}, content, true
			}
		}
	}
	return located{}, nil, false
}

func identified(value any, key manifest.Key, names []string) (map[string]any, bool) {
	content, ok := value.(map[string]any)
	object := manifest.Object{Content: content}
	if !ok || object.Kind() != key.Kind || object.Group() != key.Group {
		return nil, false
	}
	namespace := object.Namespace()
	fits := namespace == "" || key.Namespace == "" || namespace == key.Namespace
	return content, fits && slices.Contains(append(names, key.Name), object.Name())
}

// replace makes a located object another one.
func (l located) replace(text *edit.Text, want any) ([]byte, error) {
	if l.item < 0 {
		return text.Replace(l.document, want)
	}
	list := manifest.DeepCopy(text.Values()[l.document]).(map[string]any)
	list["items"].([]any)[l.item] = want
	return text.Replace(l.document, list)
}

// remove takes a located object out; nil where the file is empty then.
func (l located) remove(text *edit.Text) ([]byte, error) {
	if l.item < 0 {
		return text.Remove(l.document)
	}
	list := manifest.DeepCopy(text.Values()[l.document]).(map[string]any)
	items := list["items"].([]any)
	if len(items) == 1 {
		return text.Remove(l.document)
	}
	list["items"] = slices.Delete(items, l.item, l.item+1)
	return text.Replace(l.document, list)
}

// fileAttempt sets a field in the file that defines the object.
func fileAttempt(path string, key manifest.Key, f Field, names ...string) attempt {
	return attempt{file: path, how: "the manifest", edit: func(t *tree) error {
		return t.rewrite(key, path, func(text *edit.Text) ([]byte, error) {
			at, content, ok := locate(text, key, names...)
			if !ok {
				return nil, fmt.Errorf("%s: %w", path, errNoObject)
			}
			want, err := with(content, f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			return at.replace(text, want)
		})
	}}
}
