package reconcile

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// bringer brings one directory in line.
type bringer struct {
	tree     *tree
	scan     *scan
	sites    []site
	rendered map[site][]manifest.Object
	unread   map[site]error // why sites do not render
	result   Result
}

// Bring finds out which edits of a directory make it define the objects as
// wanted. Nothing is written before Result.Write. An error is one of the
// directory as a whole.
func Bring(dir string, wanted []Wanted) (*Result, error) {
	b := &bringer{tree: newTree(), rendered: map[site][]manifest.Object{}, unread: map[site]error{}}
	var err error
	if b.scan, err = scanDir(b.tree, dir); err != nil {
		return nil, err
	}
	if err := errors.Join(b.scan.problems...); err != nil {
		return nil, err
	}
	b.result.Dir = b.scan.dir
	for _, path := range b.scan.plain {
		b.sites = append(b.sites, site{path: path})
	}
	for _, path := range b.scan.roots {
		b.sites = append(b.sites, site{path: path, kustomization: true})
	}
	for _, s := range b.sites {
		objects, err := s.render(b.tree)
		if b.rendered[s] = objects; err != nil {
			b.unread[s] = err
		}
	}
	for _, w := range wanted {
		b.bring(w)
	}
	b.result.Files, err = b.tree.files()
	return &b.result, err
}

// refuse notes a refusal. Its paths are those within the directory, which may
// be a temporary checkout.
func (b *bringer) refuse(r *Refusal) {
	for _, text := range []*string{&r.Message, &r.Hint} {
		*text = strings.ReplaceAll(*text, b.scan.dir+string(filepath.Separator), "")
		*text = strings.ReplaceAll(*text, b.scan.dir, "the directory")
	}
	b.result.Refused = append(b.result.Refused, r)
}

// short is a path as seen from the directory.
func (b *bringer) short(path string) string {
	if rest, err := filepath.Rel(b.scan.dir, path); err == nil && filepath.IsLocal(rest) {
		return rest
	}
	return path
}

// bring brings one object in line.
func (b *bringer) bring(w Wanted) {
	switch w.Operation {
	case plan.Create:
		b.create(w)
	case plan.Delete:
		b.remove(w)
	case plan.Update, plan.Replace:
		b.update(w)
	}
}

// update brings the fields of an object in line, one after the other: each may
// have another source.
func (b *bringer) update(w Wanted) {
	s, object, refusal := b.find(w)
	if refusal == nil {
		refusal = b.sharedBase(s, w)
	}
	if refusal != nil {
		b.refuse(refusal)
		return
	}
	if w.Operation == plan.Replace {
		w.Fields = differences(object.Content, w.Object)
	}
	for _, f := range w.Fields {
		switch {
		case isSecretValue(w, f):
			b.refuse(&Refusal{Key: w.Key, Field: f.Path, Reason: ReasonSecretValue, Message: "is a value of a Secret, which is never written to Git",
				Hint: "set it where the Secret comes from: SOPS, an external secrets store, or a sealed Secret"})
		case f.holds(b.current(s, w.Key)):
			b.result.Already = append(b.result.Already, Edit{Key: w.Key, Field: f.Path})
		default:
			b.field(s, w, f)
		}
	}
}

// differences are the fields in which an object is not as it should be.
func differences(have, want map[string]any) []Field {
	var fields []Field
	for _, t := range diff.Objects(have, want, want, nil) {
		fields = append(fields, Field{Path: t.Path, Action: t.Action, Value: t.New})
	}
	return fields
}

// current is an object as its site renders it by now.
func (b *bringer) current(s site, key manifest.Key) map[string]any {
	for _, object := range b.rendered[s] {
		if matches(object, key) {
			return object.Content
		}
	}
	return nil
}

// sharedBase refuses a directory that others build on: what it sets, they get.
func (b *bringer) sharedBase(s site, w Wanted) *Refusal {
	if !s.kustomization {
		return nil
	}
	others := sharers(b.tree, s.path)
	if len(others) == 0 {
		return nil
	}
	for i, other := range others {
		others[i], _ = filepath.Rel(s.path, other)
	}
	return &Refusal{Key: w.Key, Reason: ReasonSharedBase, Message: s.path + " is a base that others build on: " + strings.Join(others, ", "),
		Hint: "name the overlay that is applied to this cluster with --k8s-dir"}
}

// attempt is one way to bring a field in line.
type attempt struct {
	file, how string
	edit      func(t *tree) error
}

// field tries the sources that may set a field, the nearest first, and keeps
// the first after which just that field has moved.
func (b *bringer) field(s site, w Wanted, f Field) {
	wanted, err := with(b.current(s, w.Key), f)
	if err != nil {
		b.refuse(&Refusal{Key: w.Key, Field: f.Path, Reason: ReasonNotInPlace, Message: "the manifest has another shape there than the cluster", Hint: byHand()})
		return
	}
	var attempts []attempt
	if s.kustomization {
		attempts = b.overlay(s, w, f, wanted)
	} else {
		attempts = []attempt{fileAttempt(s.path, w.Key, f)}
	}
	var failed []error
	for _, a := range attempts {
		err := b.try(s, w.Key, a, wanted)
		if err == nil {
			b.result.Edits = append(b.result.Edits, Edit{Key: w.Key, Field: f.Path, File: a.file, How: a.how})
			return
		}
		var refusal *Refusal
		if errors.As(err, &refusal) {
			refusal.Field = f.Path
			b.refuse(refusal)
			return
		}
		failed = append(failed, err)
	}
	b.refuse(b.unprovable(w.Key, f.Path, failed))
}

// try edits a copy of the tree, and keeps it if that proves right.
func (b *bringer) try(s site, key manifest.Key, a attempt, wanted any) error {
	if !inside(b.scan.dir, a.file) {
		return &Refusal{Key: key, Reason: ReasonOutside, Message: a.file + " lies outside " + b.scan.dir, Hint: "name a directory that holds it with --k8s-dir"}
	}
	trial := b.tree.clone()
	if err := a.edit(trial); err != nil {
		return err
	}
	after, err := s.proven(b.rendered[s], trial, key, wanted)
	if err != nil {
		return err
	}
	b.tree, b.rendered[s] = trial, after
	return nil
}

func (b *bringer) unprovable(key manifest.Key, path string, failed []error) *Refusal {
	r := &Refusal{Key: key, Field: path, Reason: ReasonNotInPlace, Message: "no edit in place was found that sets it", Hint: byHand()}
	if len(failed) > 0 {
		r.Message = failed[0].Error() // of the nearest source: the others are ways around it
	}
	return r
}

func byHand() string {
	return "change the manifest by hand, and run reconcile again: it then finds nothing to do"
}
