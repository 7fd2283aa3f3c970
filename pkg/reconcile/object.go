package reconcile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/reconcile/edit"
)

// fileName is how the file of an object is called, without its ending.
func fileName(key manifest.Key) string {
	return strings.ToLower(key.Kind) + "-" + strings.NewReplacer(":", "-", "/", "-").Replace(key.Name)
}

// create makes the directory define an object that it does not have.
func (b *bringer) create(w Wanted) {
	for _, s := range b.sites {
		if have := b.current(s, w.Key); have != nil {
			b.created(w, have)
			return
		}
	}
	if isSecret(w.Key) {
		b.refuse(&Refusal{Key: w.Key, Reason: ReasonSecretValue, Message: "is a Secret, whose values are never written to Git",
			Hint: "add it where Secrets come from: SOPS, an external secrets store, or a sealed Secret"})
		return
	}
	s, err := b.home()
	if err != nil {
		b.refuse(&Refusal{Key: w.Key, Reason: ReasonNoSource, Message: err.Error(), Hint: "name the directory that should define it with --k8s-dir"})
		return
	}
	if refusal := b.sharedBase(s, w); refusal != nil {
		b.refuse(refusal)
		return
	}
	b.object(s, w.Key, b.creation(s, w), w.Object)
}

// created says whether an object that Git has is the one that was created.
func (b *bringer) created(w Wanted, have map[string]any) {
	if fields := differences(have, w.Object); len(fields) > 0 {
		b.refuse(&Refusal{Key: w.Key, Field: fields[0].Path, Reason: ReasonDiffers, Message: "Git has an object of this name, and it is another one", Hint: byHand()})
		return
	}
	b.result.Already = append(b.result.Already, Edit{Key: w.Key})
}

// home is where new objects go: the kustomization of the directory, or the
// directory of plain manifests itself.
func (b *bringer) home() (site, error) {
	switch {
	case len(b.scan.roots) == 0:
		return site{path: b.scan.dir}, nil
	case len(b.scan.roots) == 1 && len(b.scan.plain) == 0:
		return site{path: b.scan.roots[0], kustomization: true}, nil
	default:
		return site{}, fmt.Errorf("%s holds more than one thing that is applied, so where a new object belongs is unknown", b.scan.dir)
	}
}

// creation writes an object into a file of its own.
func (b *bringer) creation(s site, w Wanted) attempt {
	dir := s.path
	o := &overlay{dir: dir, tree: b.tree}
	name := o.freeName(fileName(w.Key))
	path := filepath.Join(dir, name)
	return attempt{file: path, how: "a new file", edit: func(t *tree) error {
		t.edits[resolved(path)] = edit.New(w.Object)
		if !s.kustomization {
			return nil
		}
		o, err := openOverlay(t, dir, w.Key)
		if err != nil {
			return err
		}
		return o.rewrite(t, func(value map[string]any) error { return listed(value, "resources", name) })
	}}
}

// object tries an attempt that concerns an object as a whole.
func (b *bringer) object(s site, key manifest.Key, a attempt, wanted any) {
	proof := s
	if !s.kustomization {
		proof = site{path: a.file}
	}
	if _, known := b.rendered[proof]; !known {
		b.sites = append(b.sites, proof)
	}
	err := b.try(proof, key, a, wanted)
	var refusal *Refusal
	switch {
	case err == nil:
		b.result.Edits = append(b.result.Edits, Edit{Key: key, File: a.file, How: a.how})
	case errors.As(err, &refusal):
		b.refuse(refusal)
	default:
		b.refuse(b.unprovable(key, "", []error{err}))
	}
}

// remove makes the directory define an object no more.
func (b *bringer) remove(w Wanted) {
	s, _, refusal := b.find(w)
	if refusal != nil && refusal.Reason == ReasonNoSource {
		b.result.Already = append(b.result.Already, Edit{Key: w.Key})
		return
	}
	if refusal == nil {
		refusal = b.sharedBase(s, w)
	}
	if refusal != nil {
		b.refuse(refusal)
		return
	}
	a := removal(s.path, w.Key)
	if s.kustomization {
		o, err := openOverlay(b.tree, s.path, w.Key)
		if err != nil {
			b.refuse(b.unprovable(w.Key, "", []error{err}))
			return
		}
		o.have = b.current(s, w.Key)
		b.removeFrom(s, o)
		return
	}
	b.object(s, w.Key, a, nil)
}

// removal takes an object out of its file, and the file away when it held no
// other.
func removal(path string, key manifest.Key, names ...string) attempt {
	return attempt{file: path, how: "the manifest, which is gone", edit: func(t *tree) error {
		return t.rewrite(key, path, func(text *edit.Text) ([]byte, error) {
			at, _, ok := locate(text, key, names...)
			if !ok {
				return nil, fmt.Errorf("%s: %w", path, errNoObject)
			}
			return at.remove(text)
		})
	}}
}

// removeFrom takes an object out of an overlay: its own manifest, or, where it
// comes from a base, by a patch.
func (b *bringer) removeFrom(s site, o *overlay) {
	for _, path := range o.resources() {
		if !o.holds(path) {
			continue
		}
		a := removal(path, o.key, o.names...)
		taken := a.edit
		a.edit = func(t *tree) error {
			if err := taken(t); err != nil || t.Exists(path) {
				return err
			}
			return o.rewrite(t, func(value map[string]any) error {
				items, _ := value["resources"].([]any)
				value["resources"] = slices.DeleteFunc(items, func(item any) bool {
					name, ok := item.(string)
					return ok && filepath.Join(o.dir, name) == path
				})
				return nil
			})
		}
		b.object(s, o.key, a, nil)
		return
	}
	var failed []error
	for _, head := range o.patchHeads() {
		a := o.newPatch(head, Field{Path: manifest.Child("", "$patch"), Action: diff.Change, Value: "delete"})
		err := b.try(s, o.key, a, nil)
		if err == nil {
			b.result.Edits = append(b.result.Edits, Edit{Key: o.key, File: a.file, How: "a new patch of the overlay, which deletes it"})
			return
		}
		failed = append(failed, err)
	}
	b.refuse(b.unprovable(o.key, "", failed))
}
