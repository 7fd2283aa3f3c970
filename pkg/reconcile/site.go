package reconcile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/manifest/files"
)

// site is one thing that is applied as a whole: a plain file, or a
// kustomization.
type site struct {
	path          string // of the file, or the directory
	kustomization bool
}

// render is what a site defines. Objects of a kustomization that names none of
// their namespaces keep them empty, as plain ones do.
func (s site) render(t *tree) ([]manifest.Object, error) {
	var objects []manifest.Object
	var problems []manifest.Problem
	if s.kustomization {
		objects, problems = files.Build(t, s.path)
	} else {
		data, err := t.ReadFile(s.path)
		if err != nil && t.Exists(s.path) {
			return nil, err
		}
		objects, problems = manifest.Parse(s.path, data)
	}
	var failed []error
	for _, problem := range problems {
		failed = append(failed, problem)
	}
	return objects, errors.Join(failed...)
}

// matches says whether an object is the one of a key. An object without
// namespace is applied into one that its file does not tell.
func matches(object manifest.Object, key manifest.Key) bool {
	own := object.Key()
	if own.Namespace == "" {
		own.Namespace = key.Namespace
	}
	return own == key
}

// proven says that a site renders as it did, but for one object that is as
// wanted: nil if that one should be gone, and before none if it should be new.
func (s site) proven(before []manifest.Object, t *tree, key manifest.Key, wanted any) ([]manifest.Object, error) {
	after, err := s.render(t)
	if err != nil {
		return nil, fmt.Errorf("does not render any more: %w", err)
	}
	found := false
	rest := map[manifest.Key]manifest.Object{}
	for _, object := range after {
		if !matches(object, key) {
			rest[object.Key()] = object
			continue
		}
		if found = true; wanted == nil || !diff.Equal(object.Content, wanted) {
			return nil, fmt.Errorf("%s would not become what the cluster has", key)
		}
	}
	if !found && wanted != nil {
		return nil, renamed(rest, key)
	}
	for _, object := range before {
		if matches(object, key) {
			continue
		}
		now, there := rest[object.Key()]
		if !there || !diff.Equal(object.Content, now.Content) {
			return nil, fmt.Errorf("%s would change, too", object.Key())
		}
		delete(rest, object.Key())
	}
	for other := range rest {
		return nil, fmt.Errorf("%s would be new", other)
	}
	return after, nil
}

// renamed says what became of an object that an edit made another one.
func renamed(rest map[manifest.Key]manifest.Object, key manifest.Key) error {
	base := key.Name[:max(0, strings.LastIndex(key.Name, "-"))]
	for other := range rest {
		if other.Kind == key.Kind && other.Name != key.Name && base != "" && strings.HasPrefix(other.Name, base+"-") {
			return fmt.Errorf("%s would become %s: its name is made from its content", key, other.Name)
		}
	}
	return fmt.Errorf("%s would not be there", key)
}

// find is the site that defines an object, and what that renders. A refusal
// says why there is no such one.
func (b *bringer) find(w Wanted) (site, manifest.Object, *Refusal) {
	var sites []site
	var found []manifest.Object
	var places []string
	for _, s := range b.sites {
		for _, object := range b.rendered[s] {
			if matches(object, w.Key) {
				sites, found = append(sites, s), append(found, object)
				places = append(places, b.short(object.Source.String()))
			}
		}
	}
	switch {
	case len(sites) == 1 && b.unread[sites[0]] != nil:
		return site{}, manifest.Object{}, &Refusal{Key: w.Key, Reason: ReasonUnreadable, Message: "not all of it can be read: " + b.unread[sites[0]].Error(), Hint: "repair that first"}
	case len(sites) == 1:
		return sites[0], found[0], nil
	case len(sites) > 1:
		return site{}, manifest.Object{}, &Refusal{Key: w.Key, Reason: ReasonTwoSources, Message: "is defined more than once: " + strings.Join(places, ", "),
			Hint: "name the directory that is applied to this cluster, such as an overlay, with --k8s-dir; one object must have one definition"}
	default:
		return site{}, manifest.Object{}, b.unfound(w)
	}
}

// unfound says why nothing defines an object, as far as that is known.
func (b *bringer) unfound(w Wanted) *Refusal {
	r := &Refusal{Key: w.Key, Reason: ReasonNoSource, Message: "nothing in " + b.scan.dir + " defines it",
		Hint: "name the directory that defines it with --k8s-dir"}
	switch {
	case b.mentioned(b.scan.outside, w.Key) != "":
		r.Reason, r.Message = ReasonOutside, b.short(b.mentioned(b.scan.outside, w.Key))+" is a link that leads out of the directory, which is not followed"
		r.Hint = "name the directory that the file really lies in with --k8s-dir"
	case len(b.scan.charts) > 0:
		r.Reason, r.Message = ReasonHelm, "no manifest defines it; "+b.short(b.scan.charts[0])+" is a Helm chart, and which of its values sets a field cannot be proved here"
		r.Hint = "change the value in the chart's values file yourself, render it, and check with `plan -f -` that nothing is left to change"
	default:
		for _, s := range b.sites {
			if err := b.unread[s]; err != nil {
				r.Reason, r.Message, r.Hint = ReasonUnreadable, "nothing that could be read defines it, and this could not: "+err.Error(), "repair that first"
				break
			}
		}
	}
	return r
}

// mentioned is a file that seems to hold an object.
func (b *bringer) mentioned(paths []string, key manifest.Key) string {
	for _, path := range paths {
		data, err := b.tree.ReadFile(path)
		objects, _ := manifest.Parse(path, data)
		for _, object := range objects {
			if err == nil && matches(object, key) {
				return path
			}
		}
	}
	return ""
}

// closed says why a file may not be edited at all.
func closed(key manifest.Key, path string, data []byte) *Refusal {
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		lower := strings.ToLower(text)
		if text != "" && text[0] != '#' && text != "---" {
			break
		}
		for _, mark := range []string{"do not edit", "generated by", "@generated", "code generated", "was generated"} {
			if strings.Contains(lower, mark) {
				return &Refusal{Key: key, Reason: ReasonGenerated, Message: path + " says that it is generated: " + strings.TrimLeft(text, "# "),
					Hint: "change what it is generated from"}
			}
		}
	}
	if bytes.Contains(data, []byte("ENC[AES256_GCM,")) || bytes.Contains(data, []byte("\nsops:\n")) {
		return &Refusal{Key: key, Reason: ReasonEncrypted, Message: path + " is encrypted with SOPS, and its plaintext never touches the disk here",
			Hint: "change it with `sops " + path + "`"}
	}
	return nil
}

func isSecret(key manifest.Key) bool { return key.Group == "" && key.Kind == "Secret" }

// isSecretValue says whether a field of an object holds a value of a Secret.
func isSecretValue(w Wanted, f Field) bool {
	if !isSecret(w.Key) {
		return false
	}
	steps, ok := diff.ParsePath(f.Path)
	return !ok || steps[0].Key == "data" || steps[0].Key == "stringData"
}
