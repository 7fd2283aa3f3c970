package reconcile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/reconcile/edit"
)

// patchText is where a patch of a kustomization is written: in a file, or
// inline in the kustomization.
type patchText struct {
	file  string // "" for one that is inline
	list  string
	index int
	key   string // member that holds an inline one; "" where the entry itself does
	text  string
}

// patchTexts are all patches of the kustomization, as they are written.
func (o *overlay) patchTexts() []patchText {
	var found []patchText
	for _, list := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
		items, _ := o.value[list].([]any)
		for i, item := range items {
			p := patchText{list: list, index: i}
			path := ""
			switch entry := item.(type) {
			case string:
				if path = entry; strings.Contains(entry, "\n") {
					path, p.text = "", entry
				}
			case map[string]any:
				path, _ = entry["path"].(string)
				p.text, _ = entry["patch"].(string)
				p.key = "patch"
			}
			if path != "" {
				p.file = filepath.Join(o.dir, path)
				data, err := o.tree.ReadFile(p.file)
				if err != nil {
					continue
				}
				p.text = string(data)
			}
			found = append(found, p)
		}
	}
	return found
}

// attempt edits a patch by one of its documents.
func (o *overlay) patchAttempt(p patchText, document int, change func(value any) (any, error)) attempt {
	a := attempt{file: p.file, how: "the overlay's own patch"}
	replace := func(text *edit.Text) ([]byte, error) {
		want, err := change(manifest.DeepCopy(text.Values()[document]))
		if err != nil {
			return nil, err
		}
		return text.Replace(document, want)
	}
	if p.file != "" {
		a.edit = func(t *tree) error { return t.rewrite(o.key, p.file, replace) }
		return a
	}
	a.file = o.file
	a.edit = func(t *tree) error {
		text, err := edit.Open(o.file, []byte(p.text))
		if err != nil {
			return err
		}
		inner, err := replace(text)
		if err != nil {
			return err
		}
		return o.rewrite(t, func(value map[string]any) error {
			items := value[p.list].([]any)
			if p.key == "" {
				items[p.index] = string(inner)
			} else {
				items[p.index].(map[string]any)[p.key] = string(inner)
			}
			return nil
		})
	}
	return a
}

// patches sets a field in a patch of the overlay that sets it already.
func (o *overlay) patches(f Field) []attempt {
	var found []attempt
	for _, p := range o.patchTexts() {
		text, err := edit.Open(o.file, []byte(p.text))
		if err != nil {
			continue
		}
		for i, value := range text.Values() {
			switch v := value.(type) {
			case map[string]any:
				for _, form := range []Field{f, f.whole(o.want, false), f.whole(o.want, true)} {
					if _, sets := diff.At(v, form.Path); sets && (form.Path != f.Path || f.Action != diff.Order) {
						found = append(found, o.patchAttempt(p, i, func(value any) (any, error) { return with(value, form) }))
						break
					}
				}
			case []any:
				found = append(found, o.operations(p, i, v, f)...)
			}
		}
	}
	return found
}

// operations sets a field in the operations of a JSON patch that set it, or
// what holds it.
func (o *overlay) operations(p patchText, document int, list []any, f Field) []attempt {
	at, ok := pointer(o.have, f.Path)
	if !ok || f.Action == diff.Order {
		return nil
	}
	var found []attempt
	for i, item := range list {
		op, _ := item.(map[string]any)
		path, _ := op["path"].(string)
		if name, _ := op["op"].(string); name != "add" && name != "replace" {
			continue
		}
		switch {
		case path == at && f.Action == diff.Remove:
			found = append(found, o.patchAttempt(p, document, func(value any) (any, error) {
				return slices.Delete(value.([]any), i, i+1), nil
			}))
		case path == at:
			found = append(found, o.patchAttempt(p, document, func(value any) (any, error) {
				value.([]any)[i].(map[string]any)["value"] = manifest.DeepCopy(f.Value)
				return value, nil
			}))
		case strings.HasPrefix(at, path+"/"):
			found = append(found, o.patchAttempt(p, document, func(value any) (any, error) {
				op := value.([]any)[i].(map[string]any)
				steps, _ := diff.ParsePath(f.Path)
				inner, err := withSteps(op["value"], steps[strings.Count(path, "/"):], f)
				op["value"] = inner
				return value, err
			}))
		}
	}
	return found
}

// patchForms are a field as strategic merge patches may say it: by itself, by
// the list that is replaced as a whole, and for kinds whose lists have no keys.
func (o *overlay) patchForms(f Field) []Field {
	value, _ := diff.At(o.want, f.Path)
	forms := []Field{f.whole(o.want, false), f.whole(o.want, true)}
	if f.Action == diff.Order {
		forms = []Field{{Path: f.Path, Action: diff.Change, Value: keysOnly(value, f.Value)}, {Path: f.Path, Action: diff.Change, Value: value}}
	} else if forms[0].Path == forms[1].Path {
		forms = forms[:1]
	}
	return forms
}

// keysOnly is a list of nothing but the keys of its entries, in a sequence.
func keysOnly(value, sequence any) any {
	list, _ := value.([]any)
	keys, _ := sequence.([]any)
	name := diff.KeyName(list, keys)
	var out []any
	for _, key := range keys {
		if _, several := key.(map[string]any); !several {
			key = map[string]any{name: key}
		}
		out = append(out, key)
	}
	return out
}

// merged is a strategic merge patch that sets a field, too.
func merged(patch any, f Field) (any, error) {
	if f.Action != diff.Remove {
		return with(patch, f)
	}
	steps, _ := diff.ParsePath(f.Path)
	last := steps[len(steps)-1]
	if last.Selector == "" {
		return with(patch, Field{Path: f.Path, Action: diff.Change})
	}
	entry, ok := keysOf(last.Selector)
	if !ok {
		return nil, errNoPlace
	}
	entry["$patch"] = "delete"
	return with(patch, Field{Path: f.Path, Action: diff.Change, Value: entry})
}

// newPatches adds a field to a patch that the overlay has for the object, or
// gives it one.
func (o *overlay) newPatches(f Field) []attempt {
	var found []attempt
	for _, form := range o.patchForms(f) {
		for _, p := range o.patchTexts() {
			text, err := edit.Open(o.file, []byte(p.text))
			if err != nil {
				continue
			}
			if at, _, ok := locate(text, o.key, o.names...); ok && at.item < 0 {
				found = append(found, o.patchAttempt(p, at.document, func(value any) (any, error) { return merged(value, form) }))
			}
		}
		for _, head := range o.patchHeads() {
			found = append(found, o.newPatch(head, form))
		}
	}
	return found
}

// patchHeads are what may begin a patch of the object: its name, and its
// namespace where it needs one.
func (o *overlay) patchHeads() []map[string]any {
	content, _ := o.have.(map[string]any)
	var heads []map[string]any
	for _, name := range o.names {
		for _, namespace := range []string{"", o.key.Namespace} {
			metadata := map[string]any{"name": name}
			if namespace != "" {
				metadata["namespace"] = namespace
			}
			heads = append(heads, map[string]any{"apiVersion": content["apiVersion"], "kind": content["kind"], "metadata": metadata})
		}
	}
	return heads
}

// newPatch is a patch in a file of its own.
func (o *overlay) newPatch(head map[string]any, f Field) attempt {
	name := o.freeName("patch-" + fileName(o.key))
	path := filepath.Join(o.dir, name)
	return attempt{file: path, how: "a new patch of the overlay", edit: func(t *tree) error {
		patch, err := merged(head, f)
		if err != nil {
			return err
		}
		t.edits[resolved(path)] = edit.New(patch.(map[string]any))
		return o.rewrite(t, func(value map[string]any) error {
			return listed(value, "patches", map[string]any{"path": name})
		})
	}}
}

// listed adds an entry to a list of a kustomization.
func listed(value map[string]any, list string, entry any) error {
	items, ok := value[list].([]any)
	if !ok && value[list] != nil {
		return fmt.Errorf("%s is no list", list)
	}
	value[list] = append(items, entry)
	return nil
}

// freeName is a name of a file that is not there yet.
func (o *overlay) freeName(base string) string {
	for n := 1; ; n++ {
		name := base + ".yaml"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.yaml", base, n)
		}
		if !o.tree.Exists(filepath.Join(o.dir, name)) {
			return name
		}
	}
}
