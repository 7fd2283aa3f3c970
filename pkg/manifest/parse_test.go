package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
)

const cases = "../../testdata/cases/"

// read parses a case; both results are one line an entry, without the folder.
func read(t *testing.T, file string) (objects []manifest.Object, lines, problems []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(cases, file))
	assert.NilError(t, err)
	return parse(file, string(data))
}

func parse(file, text string) (objects []manifest.Object, lines, problems []string) {
	objects, found := manifest.Parse(file, []byte(text))
	for _, object := range objects {
		lines = append(lines, object.Source.String()+" "+object.Key().String())
	}
	for _, problem := range found {
		problems = append(problems, problem.Reason+" "+problem.Error())
	}
	return objects, lines, problems
}

// answers are the right ones of the cases, without the file's name.
func answers() []struct{ file, objects, problems string } {
	return []struct{ file, objects, problems string }{
		{"B01-separator-comment.yaml", "1 team-a/ConfigMap/b01-one|6 team-a/ConfigMap/b01-two|11 team-a/ConfigMap/b01-three", ""},
		{"B02-col0-dashes-in-quoted.yaml", "1 team-a/ConfigMap/b02-col0", ""},
		{"B02-content-on-separator-line.yaml", "1 team-a/ConfigMap/b02-s1|4 team-a/ConfigMap/b02-s2", ""},
		{"B02-dashes-in-scalar.yaml", "1 team-a/ConfigMap/b02-dashes", ""},
		{"B02-document-end-marker.yaml", "1 team-a/ConfigMap/b02-e1|5 team-a/ConfigMap/b02-e2", ""},
		{"B02-end-marker-then-dashes.yaml", "3 team-a/ConfigMap/b02-d1|8 team-a/ConfigMap/b02-d2", ""},
		{"B03-empty-docs.yaml", "7 team-a/ConfigMap/b03-only", ""},
		{"B03-empty-map.yaml", "3 team-a/ConfigMap/b03-after-empty-map", "NoKind 1: document 1: no apiVersion/kind"},
		{"B05-duplicate-key.yaml", "", "DuplicateKey 7: team-a/Deployment.apps/b05: spec.replicas: this key stands in lines 5 and 7"},
		{"B06-yaml11-scalars.yaml", "16 team-a/Pod/b06-octal",
			"WrongType 5: team-a/ConfigMap/b06-bool: data.feature: is a boolean, must be a string|" +
				"DuplicateKey 12: team-a/ConfigMap/b06-keys: data.true: this key stands in lines 11 and 12: YAML reads both on and y as true; quote them"},
		{"B07-unquoted-annotation.yaml", "",
			`WrongType 8: team-a/Job.batch/b07-migrate: metadata.annotations["helm.sh/hook-weight"]: is a number, must be a string|` +
				`WrongType 9: team-a/Job.batch/b07-migrate: metadata.annotations["example.com/reviewed"]: is a boolean, must be a string|` +
				`WrongType 23: team-a/PersistentVolumeClaim/b07-data: metadata.annotations["example.com/keep"]: is a boolean, must be a string`},
		{"B09-list-kinds.yaml", "5 team-a/ConfigMap/b09-in-list|8 ConfigMap/b09-in-list-2", ""},
		{"B09-list-nested.yaml", "7 team-a/ConfigMap/b09-nested", ""},
		{"B09-list-null-items.yaml", "", ""},
		{"B09-list-typed.yaml", "4 team-a/ConfigMap/b09-typed", ""},
		{"B10-concatenated.json", "1 team-a/ConfigMap/b10-one|2 team-a/ConfigMap/b10-two", ""},
		{"B10-json-array.json", "", "NotObject 1: document 1: a list, not an object"},
		{"B10-json-with-separator.yaml", "1 team-a/ConfigMap/b10-three|3 team-a/ConfigMap/b10-four", ""},
		{"B17-generate-name.yaml", "11 team-a/Job.batch/",
			"GenerateName 3: team-a/Job.batch/: metadata.generateName: generateName cannot be applied: apply needs a name"},
		{"B42-invalid-secret.yaml", "",
			"WrongType 5: team-a/Secret/b42-int: stringData.pin: is a number, must be a string|" +
				"NotBase64 14: team-a/Secret/b42-base64: data.bad: value is not base64"},
		{"B55-empty-input.yaml", "", ""},
		{"B67-masked-secret.yaml", "", "MaskedValue 4: team-a/Secret/b67: data.password: value is masked"},
	}
}

func TestEveryObjectOfACaseIsFoundAtItsLineOrNamedByAProblem(t *testing.T) {
	for _, c := range answers() {
		t.Run(c.file, func(t *testing.T) {
			_, objects, problems := read(t, c.file)
			assert.Equal(t, strings.ReplaceAll(strings.Join(objects, "|"), c.file+":", ""), c.objects)
			assert.Equal(t, strings.ReplaceAll(strings.Join(problems, "|"), c.file+":", ""), c.problems)
		})
	}
}

func TestValuesThatAToolHasMaskedAreRefused(t *testing.T) {
	for text, masked := range map[string]bool{
		`data: {p: "++++++++++++"}`:                               true, // Argo CD tells values apart by length
		`data: {p: KysrKysrKys=}`:                                 true,
		`stringData: {p: "***"}`:                                  true,
		`stringData: {p: "*** (after)"}`:                          true,
		`stringData: {p: "**SOPS**"}`:                             true, // flux build
		`data: {p: KipTT1BTKio=}`:                                 true,
		`data: {.dockerconfigjson: eyJtYXNrIjoiKipTT1BTKioifQ==}`: true,
		`stringData: {p: "++"}`:                                   false,
		`data: {p: YWJj}`:                                         false,
	} {
		_, _, problems := parse("f", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"+text+"\n")
		assert.Equal(t, len(problems) == 1 && strings.Contains(problems[0], "MaskedValue"), masked, "%s: %v", text, problems)
	}
}

func TestValuesAreThoseThatKubectlSends(t *testing.T) {
	objects, _, _ := read(t, "B02-dashes-in-scalar.yaml")
	data, _ := objects[0].Content["data"].(map[string]any)
	assert.Equal(t, data["bundle.yaml"], "a: 1\n---\nb: 2\n")
	assert.Equal(t, data["tail"], "end")

	objects, _, problems := parse("f", "apiVersion: v1\nkind: X\nmetadata: {name: x}\nspec:\n"+
		"  a: 0644\n  b: 0o400\n  c: 1_000\n  d: yes\n  e: 1.0\n  f: 2.5\n  g: ~\n  h: 0x10\n  i: 2001-01-01\n  j: '1'\n  k: 1:20\n  l: 9223372036854775807\n  no: x\n")
	assert.Equal(t, len(problems), 0, "%v", problems)
	assert.DeepEqual(t, objects[0].Content["spec"], map[string]any{"a": int64(420), "b": int64(256), "c": int64(1000), "d": true,
		"e": int64(1), "f": 2.5, "g": nil, "h": int64(16), "i": "2001-01-01", "j": "1", "k": "1:20", "l": int64(9223372036854775807), "false": "x"})
}

func TestBytesOfAllUsualKindsAreRead(t *testing.T) {
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	utf16 := "\xff\xfe"
	for _, r := range text {
		utf16 += string([]byte{byte(r), 0})
	}
	for name, variant := range map[string]string{
		"plain":        text,
		"BOM":          "\ufeff" + text,
		"CRLF":         strings.ReplaceAll(text, "\n", "\r\n"),
		"old Mac":      strings.ReplaceAll(text, "\n", "\r"),
		"UTF-16":       utf16,
		"no end":       strings.TrimSuffix(text, "\n"),
		"end markers":  strings.ReplaceAll(text, "---\n", "...\n# between\n\n---\n") + "...\n",
		"bare end":     strings.ReplaceAll(text, "---\n", "... # end\n\n\n"),
		"tab on start": strings.ReplaceAll(text, "---\n", "---\t# x\n"),
		"spaces, CRLF": strings.ReplaceAll(text, "---\n", "--- \r\n"),
		"blank ones":   strings.ReplaceAll(text, "---\n", "--- ~\n--- !!null\n---\n# only\n---\n"),
		"tag on start": strings.ReplaceAll(text, "---\n", "--- # x: y\n"),
		"directive":    "# head\n%YAML 1.1\n---\n" + text,
	} {
		t.Run(name, func(t *testing.T) {
			_, objects, problems := parse("f", variant)
			assert.Equal(t, len(problems), 0, "%v", problems)
			assert.Equal(t, len(objects), 2)
		})
	}
	_, objects, problems := parse("f", "a: 1\nb: \xff\n")
	assert.Equal(t, len(objects), 0)
	assert.DeepEqual(t, problems, []string{"Encoding f:2: neither UTF-8 nor UTF-16 with a byte-order mark"})
}

func TestOneBrokenDocumentDoesNotHideTheOthers(t *testing.T) {
	const good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n"
	for broken, want := range map[string]string{
		"a: [1, 2\nb: 3\n":          "Syntax f:6: document 2: did not find expected ',' or ']'",
		"a: b: c\n":                 "Syntax f:5: document 2: mapping values are not allowed in this context",
		"a:\n\t- b\n":               "Syntax f:6: document 2: found character that cannot start any token",
		"a: \"open\n":               "Syntax f:5: document 2: found unexpected end of stream",
		"just text\n":               "NotObject f:5: document 2: a string, not an object",
		"\"\"\n":                    "NotObject f:5: document 2: a string, not an object",
		"- 1\n- 2\n":                "NotObject f:5: document 2: a list, not an object",
		"3\n":                       "NotObject f:5: document 2: a number, not an object",
		"{\"a\": 1,}\n{\"b\": 2}\n": "Syntax f:6: document 2: did not find expected <document start>",
		"kind: X\n":                 "NoKind f:5: X/: document 2: no apiVersion",
		"apiVersion: 1\nkind: X\n":  "WrongType f:5: X/: apiVersion: is a number, must be a string",
		"apiVersion: a/b/c\nkind: X\nmetadata: {name: x}\n":                      "WrongType f:5: X.a/x: apiVersion: must be group/version",
		"apiVersion: v1\nkind: X\n":                                              "NoName f:5: X/: metadata: has no name",
		"apiVersion: v1\nkind: X\nmetadata: []\n":                                "WrongType f:7: X/: metadata: is a list, must be a mapping",
		"apiVersion: v1\nkind: X\nmetadata: {name: 12}\n":                        "WrongType f:7: X/: metadata.name: is a number, must be a string",
		"apiVersion: v1\nkind: X\nmetadata: {name: x, labels: {a: }}\n":          "WrongType f:7: X/x: metadata.labels.a: is null, must be a string",
		"apiVersion: v1\nkind: X\nmetadata: {name: x, annotations: [a]}\n":       "WrongType f:7: X/x: metadata.annotations: is a list, must be a mapping",
		"apiVersion: v1\nkind: X\nmetadata: {name: x}\nnum: 9223372036854775808": "NumberOutOfRange f:8: X/x: num: is an integer beyond 64 bits and would lose digits; quote it if it is a string",
	} {
		t.Run(broken, func(t *testing.T) {
			text := good + "---\n" + strings.TrimSuffix(broken, "\n") + "\n---\n" + good
			_, objects, problems := parse("f", text)
			assert.DeepEqual(t, objects, []string{"f:1 ConfigMap/good", objects[len(objects)-1]})
			assert.DeepEqual(t, problems, []string{want})
		})
	}
}
