package diff

import "sigs.k8s.io/structured-merge-diff/v6/schema"

// Schema tells the list kinds of one type: the server's own schema, as
// structured-merge-diff reads it from OpenAPI v3.
type Schema struct {
	Types *schema.Schema
	Root  schema.TypeRef
}
