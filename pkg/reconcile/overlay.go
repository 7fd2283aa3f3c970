package reconcile

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/reconcile/edit"
)

// overlay is a kustomization whose own parts may be edited.
type overlay struct {
	dir, file string // file is the kustomization
	value     map[string]any
	tree      *tree
	key       manifest.Key
	names     []string // the object's name, with and without what the overlay adds
	have      any      // the object as it is rendered
	want      any      // and as it should be
}

// overlay lists the ways to set a field in a kustomization, the nearest first:
// what it has of its own for just that, then its own manifests, then a patch.
func (b *bringer) overlay(s site, w Wanted, f Field, want any) []attempt {
	o, err := openOverlay(b.tree, s.path, w.Key)
	if err != nil {
		return []attempt{{file: s.path, edit: func(*tree) error { return err }}}
	}
	o.have, o.want = b.current(s, w.Key), want
	return slices.Concat(o.images(f), o.replicas(f), o.patches(f), o.generators(f), o.manifests(f), o.newPatches(f))
}

func openOverlay(t *tree, dir string, key manifest.Key) (*overlay, error) {
	o := &overlay{dir: dir, file: kustomizationFile(t, dir), tree: t, key: key, value: map[string]any{}}
	data, err := t.ReadFile(o.file)
	if err != nil {
		return nil, err
	}
	text, err := edit.Open(o.file, data)
	if err != nil {
		return nil, err
	}
	if values := text.Values(); len(values) > 0 {
		o.value, _ = values[0].(map[string]any)
	}
	prefix, _ := o.value["namePrefix"].(string)
	suffix, _ := o.value["nameSuffix"].(string)
	o.names = []string{key.Name}
	if bare := strings.TrimSuffix(strings.TrimPrefix(key.Name, prefix), suffix); bare != key.Name {
		o.names = append(o.names, bare)
	}
	return o, nil
}

// rewrite edits the kustomization itself.
func (o *overlay) rewrite(t *tree, change func(value map[string]any) error) error {
	return t.rewrite(o.key, o.file, func(text *edit.Text) ([]byte, error) {
		value := map[string]any{}
		if values := text.Values(); len(values) > 0 {
			value, _ = manifest.DeepCopy(values[0]).(map[string]any)
		}
		if err := change(value); err != nil {
			return nil, err
		}
		if len(text.Values()) == 0 {
			return text.Append(value)
		}
		return text.Replace(0, value)
	})
}

// entries are the entries of a list of the kustomization that are maps.
func (o *overlay) entries(name string) map[int]map[string]any {
	found := map[int]map[string]any{}
	list, _ := o.value[name].([]any)
	for i, item := range list {
		if entry, ok := item.(map[string]any); ok {
			found[i] = entry
		}
	}
	return found
}

// entry is an attempt that changes one entry of a list of the kustomization.
func (o *overlay) entry(list string, index int, how string, change func(entry map[string]any)) attempt {
	return attempt{file: o.file, how: how, edit: func(t *tree) error {
		return o.rewrite(t, func(value map[string]any) error {
			change(value[list].([]any)[index].(map[string]any))
			return nil
		})
	}}
}

// images sets the tag, digest or name of an image in the overlay's own entry.
func (o *overlay) images(f Field) []attempt {
	was, _ := diff.At(o.have, f.Path)
	old, isText := was.(string)
	image, alsoText := f.Value.(string)
	if !isText || !alsoText || f.Action != diff.Change || !strings.HasSuffix(f.Path, ".image") {
		return nil
	}
	oldName, _, _ := imageParts(old)
	name, tag, digest := imageParts(image)
	var found []attempt
	for i, entry := range o.entries("images") {
		from, _ := entry["name"].(string)
		shown := from
		if renamed, ok := entry["newName"].(string); ok {
			shown = renamed
		}
		if shown != oldName {
			continue
		}
		found = append(found, o.entry("images", i, "images: "+from, func(entry map[string]any) {
			if name != shown {
				entry["newName"] = name
			}
			assign(entry, "newTag", tag)
			assign(entry, "digest", digest)
		}))
	}
	return found
}

// assign sets a member, or drops it where it is empty.
func assign(m map[string]any, key, value string) {
	if value == "" {
		delete(m, key)
		return
	}
	m[key] = value
}

// imageParts are the name, tag and digest of an image.
func imageParts(image string) (name, tag, digest string) {
	name, digest, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name, tag = name[:i], name[i+1:]
	}
	return name, tag, digest
}

// replicas sets the count of the overlay's own entry.
func (o *overlay) replicas(f Field) []attempt {
	var found []attempt
	for i, entry := range o.entries("replicas") {
		name, _ := entry["name"].(string)
		if f.Path == "spec.replicas" && f.Action != diff.Remove && slices.Contains(o.names, name) {
			found = append(found, o.entry("replicas", i, "replicas: "+name, func(entry map[string]any) { entry["count"] = f.Value }))
		}
	}
	return found
}

// generators set the literal, or the file, that a key of a generated ConfigMap
// comes from.
func (o *overlay) generators(f Field) []attempt {
	steps, _ := diff.ParsePath(f.Path)
	text, isText := f.Value.(string)
	if o.key.Kind != "ConfigMap" || o.key.Group != "" || len(steps) != 2 || steps[0].Key != "data" || !isText {
		return nil
	}
	var found []attempt
	for i, entry := range o.entries("configMapGenerator") {
		name, _ := entry["name"].(string)
		if !slices.ContainsFunc(o.names, func(own string) bool { return own == name || strings.HasPrefix(own, name+"-") }) {
			continue
		}
		literals, _ := entry["literals"].([]any)
		for j, item := range literals {
			if literal, _ := item.(string); strings.HasPrefix(literal, steps[1].Key+"=") {
				found = append(found, o.entry("configMapGenerator", i, "configMapGenerator: "+name, func(entry map[string]any) {
					entry["literals"].([]any)[j] = steps[1].Key + "=" + text
				}))
			}
		}
		files, _ := entry["files"].([]any)
		for _, item := range files {
			if path := generatorFile(item, steps[1].Key); path != "" {
				found = append(found, o.generated(filepath.Join(o.dir, path), text))
			}
		}
	}
	return found
}

// generatorFile is the file that an entry of a generator takes a key from, ""
// if it is another one.
func generatorFile(item any, key string) string {
	text, _ := item.(string)
	name, path, named := strings.Cut(text, "=")
	if !named {
		name, path = filepath.Base(text), text
	}
	if name != key {
		return ""
	}
	return path
}

// generated puts text into a file that a generator reads whole.
func (o *overlay) generated(path, text string) attempt {
	return attempt{file: path, how: "the file of a configMapGenerator", edit: func(t *tree) error {
		data, err := t.ReadFile(path)
		if err != nil {
			return err
		}
		if refusal := closed(o.key, path, data); refusal != nil {
			return refusal
		}
		t.edits[resolved(path)] = []byte(text)
		return nil
	}}
}

// manifests sets a field in the overlay's own manifests: those that it names
// itself. What lies below a kustomization of its own is a base.
func (o *overlay) manifests(f Field) []attempt {
	var found []attempt
	for _, path := range o.resources() {
		if o.holds(path) {
			found = append(found, fileAttempt(path, o.key, f, o.names...))
		}
	}
	return found
}

// resources are the files that the kustomization names as resources.
func (o *overlay) resources() []string {
	var found []string
	list, _ := o.value["resources"].([]any)
	for _, item := range list {
		name, _ := item.(string)
		if path := filepath.Join(o.dir, name); name != "" && !strings.Contains(name, "://") && o.tree.Exists(path) && !o.tree.IsDir(path) {
			found = append(found, path)
		}
	}
	return found
}

// holds says whether a file holds the object.
func (o *overlay) holds(path string) bool {
	data, err := o.tree.ReadFile(path)
	if err != nil {
		return false
	}
	text, err := edit.Open(path, data)
	if err != nil {
		return false
	}
	_, _, ok := locate(text, o.key, o.names...)
	return ok
}

// pointer is a path as a JSON pointer into an object; false where the object
// does not have all of it but the last step.
func pointer(object any, path string) (string, bool) {
	steps, ok := diff.ParsePath(path)
	text := ""
	for _, step := range steps {
		if step.Selector == "" {
			members, _ := object.(map[string]any)
			object = members[step.Key]
			text += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step.Key)
			continue
		}
		list, _ := object.([]any)
		i, there := diff.Index(list, step.Selector)
		if !there {
			return "", false
		}
		object = list[i]
		text += "/" + strconv.Itoa(i)
	}
	return text, ok
}
