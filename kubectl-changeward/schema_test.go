package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gotest.tools/v3/assert"
)

// is checks that stdout is exactly one document of a kind, valid under the
// published schema, and returns it.
func (a answer) is(t *testing.T, kind string) map[string]any {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(a.stdout))
	assert.NilError(t, err, "%s", a)
	assert.NilError(t, schemaOf(t, kind).Validate(document), "%s", a)
	var members map[string]any
	a.json(t, &members)
	assert.Equal(t, members["kind"], kind, "%s", a)
	return members
}

// schemaOf is the definition of one kind in the published schema.
func schemaOf(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(filepath.Join("..", "docs", "schema", "changeward.dev_v1alpha1.json") + "#/$defs/" + kind)
	assert.NilError(t, err)
	return schema
}

// says checks that stdout or stderr has each text.
func (a answer) says(t *testing.T, texts ...string) answer {
	t.Helper()
	for _, text := range texts {
		assert.Assert(t, strings.Contains(a.stdout+a.stderr, text), "lacks %q\n%s", text, a)
	}
	return a
}

// manifest writes a file of manifests and returns its path.
func manifest(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	assert.NilError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}
