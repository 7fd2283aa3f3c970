package manifest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"gotest.tools/v3/assert"
	kjson "k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/manifest"
)

// Whatever the bytes: no panic, and a text that kubectl reads as one object
// comes back as exactly that object first, or as a problem.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(cases + "*")
	assert.NilError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		assert.NilError(f, err)
		f.Add(data)
	}
	for _, text := range []string{"a: &a {b: 1}\nc: {<<: *a, b: 2}", "{\"a\":1}{", "--- |\n x\n...\n%YAML 1.1\n---\n", "? a\n: b", "a: !!str 1", "\ufeffa: 'b\n\n c'", head + "x: .5e+3"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, problems := manifest.Parse("f", data)
		for _, object := range objects {
			assert.Assert(t, object.Kind() != "" && object.APIVersion() != "" && object.Name()+object.GenerateName() != "")
			assert.Assert(t, object.Source.Line > 0 && object.Source.Line <= bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte("\r"))+1)
		}
		for _, problem := range problems {
			assert.Assert(t, problem.Reason != "" && problem.Message != "")
		}
		want, read := kubectl(data)
		_, isList := want["items"]
		switch {
		case !read || len(problems) > 0:
		case want == nil:
			assert.Equal(t, len(objects), 0)
		case !isList && want["kind"] != "List":
			assert.Assert(t, len(objects) > 0) // kubectl's reader stops behind the first
			assert.Assert(t, reflect.DeepEqual(objects[0].Content, want), "%#v\n%#v", objects[0].Content, want)
		}
	})
}

// kubectl is what kubectl makes of a text that holds one document and no
// document marker at all.
func kubectl(data []byte) (map[string]any, bool) {
	if bytes.Contains(data, []byte("---")) || bytes.Contains(data, []byte("...")) || bytes.IndexByte(data, 0) >= 0 {
		return nil, false
	}
	raw := data
	if !json.Valid(data) {
		var err error
		if raw, err = kyaml.YAMLToJSON(data); err != nil {
			return nil, false
		}
	}
	var value any
	if kjson.Unmarshal(raw, &value) != nil {
		return nil, false
	}
	content, ok := value.(map[string]any)
	return content, ok || value == nil
}
