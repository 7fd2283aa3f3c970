package dryrun

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

// formatPath writes a path of managed fields in the form that plans have:
// spec.ports[port=80,protocol="TCP"].nodePort. The schema gives the sequence
// of keys; without one it is that of their names.
func formatPath(path fieldpath.Path, s *diff.Schema) string {
	out := ""
	atom := rootAtom(s)
	for _, element := range path {
		switch {
		case element.FieldName != nil:
			out = manifest.Child(out, valid(*element.FieldName))
			atom = memberAtom(s, atom, *element.FieldName)
		case element.Key != nil:
			out += selector(*element.Key, atom)
			atom = elementAtom(s, atom)
		case element.Value != nil:
			out += "[=" + canonicalText((*element.Value).Unstructured()) + "]"
			atom = elementAtom(s, atom)
		case element.Index != nil:
			out = manifest.Item(out, *element.Index)
			atom = elementAtom(s, atom)
		}
	}
	return out
}

func selector(fields value.FieldList, list smd.Atom) string {
	rank := func(field value.Field) int {
		if list.List == nil {
			return 0
		}
		return slices.Index(list.List.Keys, field.Name)
	}
	ordered := slices.Clone(fields)
	slices.SortStableFunc(ordered, func(a, b value.Field) int { return rank(a) - rank(b) })
	parts := make([]string, len(ordered))
	for i, field := range ordered {
		parts[i] = manifest.Child("", valid(field.Name)) + "=" + canonicalText(field.Value.Unstructured())
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// valid replaces what is no UTF-8, which no path can hold.
func valid(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// canonicalText is a value's JSON as digests have it.
func canonicalText(v any) string {
	text, err := state.Canonical(v)
	if err != nil { // a key's value is a string, a number or a boolean
		return fmt.Sprintf("%q", fmt.Sprint(v))
	}
	return string(text)
}

func rootAtom(s *diff.Schema) smd.Atom {
	if s == nil {
		return smd.Atom{}
	}
	return resolved(s, s.Root)
}

func memberAtom(s *diff.Schema, parent smd.Atom, name string) smd.Atom {
	if s == nil || parent.Map == nil {
		return smd.Atom{}
	}
	if field, found := parent.FindField(name); found {
		return resolved(s, field.Type)
	}
	return resolved(s, parent.Map.ElementType)
}

func elementAtom(s *diff.Schema, parent smd.Atom) smd.Atom {
	if s == nil || parent.List == nil {
		return smd.Atom{}
	}
	return resolved(s, parent.List.ElementType)
}

func resolved(s *diff.Schema, ref smd.TypeRef) smd.Atom {
	atom, _ := s.Types.Resolve(ref)
	return atom
}

// inside says whether a path is at or below another.
func inside(path, top string) bool {
	rest, under := strings.CutPrefix(path, top)
	return under && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
