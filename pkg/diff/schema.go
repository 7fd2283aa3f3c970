package diff

import "sigs.k8s.io/structured-merge-diff/v6/schema"

// Schema tells the list kinds of one type: the server's own schema, as
// structured-merge-diff reads it from OpenAPI v3.
type Schema struct {
	Types *schema.Schema
	Root  schema.TypeRef
}

// atom is what the schema knows of a type. Without a schema, or for a type
// that it lacks, that is nothing: lists are atomic then.
func (s *Schema) atom(ref schema.TypeRef) schema.Atom {
	if s == nil || s.Types == nil {
		return schema.Atom{}
	}
	atom, _ := s.Types.Resolve(ref)
	return atom
}

func (s *Schema) root() schema.Atom {
	if s == nil {
		return schema.Atom{}
	}
	return s.atom(s.Root)
}

// member is the type of a map's member or a struct's field.
func (s *Schema) member(parent schema.Atom, key string) schema.Atom {
	if parent.Map == nil {
		return schema.Atom{}
	}
	if field, ok := parent.FindField(key); ok {
		return s.atom(field.Type)
	}
	return s.atom(parent.Map.ElementType)
}

// element is the type of a list's entries.
func (s *Schema) element(parent schema.Atom) schema.Atom {
	if parent.List == nil {
		return schema.Atom{}
	}
	return s.atom(parent.List.ElementType)
}

// associative says whether entries are addressed by key or by value.
func associative(atom schema.Atom) bool {
	return atom.List != nil && atom.List.ElementRelationship == schema.Associative
}
