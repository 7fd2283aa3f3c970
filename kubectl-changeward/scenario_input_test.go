package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/render"
)

// outFiles are the files of --out; each holds something old before a run.
func (s shop) outFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, form := range []string{"md", "json", "txt"} {
		files[form] = filepath.Join(t.TempDir(), "out."+form)
		assert.NilError(t, os.WriteFile(files[form], []byte("old"), 0o600))
	}
	return files
}

// refuses runs the gate on manifests that are wrong, in every form of output,
// and returns the answer in text. Nothing may be recorded.
func (s shop) refuses(t *testing.T, reason string, args ...string) answer {
	t.Helper()
	gate := append([]string{"gate", "--scope", s.dir}, args...)
	for form, file := range s.outFiles(t) {
		got := s.as("ci").run(t, append(gate, "-o", "json", "--out", file)...).exits(t, 1).prints(t, `"reason": "`+reason+`"`)
		content, err := os.ReadFile(file)
		assert.NilError(t, err)
		assert.Assert(t, !strings.HasPrefix(string(content), "old"), "%s was not replaced: %s", file, content)
		if form == "json" {
			assert.Equal(t, string(content), got.stdout)
		}
	}
	got := s.as("ci").run(t, gate...).exits(t, 1).tells(t, "error: ")
	assert.Equal(t, len(s.records(t)), 0, "something was recorded")
	return got
}

func TestManifestsThatCannotBeReadAreNamedAllAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, reason string
		says         []string
	}{
		"several problems": {reason: "BadInput", text: `apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: NS}
data: {a: [b}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: NS}
---
kind: ConfigMap
metadata: {name: c}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: d, namespace: NS}
data: {a: b, a: c}
`, says: []string{"FILE:4: document 1: did not find expected ',' or ']'\n", "FILE:8: NS/ConfigMap/: metadata: has no name\n",
			"FILE:10: ConfigMap/c: document 3: no apiVersion\n", "FILE:16: NS/ConfigMap/d: data.a: this key stands here twice\n"}},
		"nothing in it": {reason: "NoObjects", text: "# nothing\n---\n", says: []string{"FILE: no objects in input\n"}},
		"a key that is no key": {reason: "BadInput", text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\tdata: b\n",
			says: []string{"FILE:4: "}},
		"an annotation that is no text": {reason: "WrongType", text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {hidden: true}}\n",
			says: []string{"FILE:3: ConfigMap/a: metadata.annotations.hidden: is a boolean, must be a string"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shared(t).open(t)
			path := s.write(t, "wrong.yaml", c.text)
			got := s.refuses(t, c.reason, "-f", path)
			assert.Equal(t, got.stdout, "")
			for _, say := range c.says {
				got.tells(t, "error: "+strings.ReplaceAll(s.yaml(say), "FILE", path))
			}
		})
	}
}

func TestAnObjectThatCannotBePlannedIsNamedAndTheOthersArePlanned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, reason, says string }{
		"unknown kind": {"apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: NS}\n", "UnknownKind",
			"✗ NS/Widget.example.com/a (UnknownKind)\n     FILE:1: unknown kind Widget in example.com/v1: neither the server nor a CRD of this set defines it\n"},
		"missing namespace": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}\n", "NotFound",
			"✗ nowhere/ConfigMap/a (NotFound)\n     FILE:1: namespaces \"nowhere\" not found\n"},
		"duplicates": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\n", "DuplicateObject",
			"✗ NS/ConfigMap/a (DuplicateObject)\n     FILE:1: stands in the set 2 times: FILE:1, FILE:5\n"},
		"unknown field": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndate: {a: b}\n", "Invalid",
			"✗ NS/ConfigMap/a (Invalid)\n     FILE:1: date: field not declared in schema\n"},
		"wrong type": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {a: 1}\n", "WrongType",
			"✗ NS/ConfigMap/a (WrongType)\n     FILE:4: data.a: is a number, must be a string\n"},
		"changeward's own record": {"apiVersion: v1\nkind: Secret\nmetadata: {name: cw-plan-000001, namespace: changeward}\n", "Admission",
			"✗ changeward/Secret/cw-plan-000001 (Admission)\n     FILE:1: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shared(t).open(t)
			path := s.write(t, "wrong.yaml", c.text)
			got := s.refuses(t, c.reason, "-f", s.dir)
			got.prints(t, "incomplete: 1 problem", s.namespace+"/ConfigMap/shop-config (update)", strings.ReplaceAll(s.yaml(c.says), "FILE", path),
				"policy: could not decide: 1 of the objects could not be planned\n")
			got.tells(t, "error: the plan is incomplete: 1 problem\nhint: ")
			var result render.GateResult
			s.as("ci").run(t, "plan", "-f", s.dir, "-o", "json").exits(t, 1).json(t, &result)
		})
	}
}

func TestInputsThatAreNotThereAreNamed(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	missing, empty := filepath.Join(s.dir, "missing.yaml"), t.TempDir()
	broken := filepath.Join(s.dir, "broken.yaml")
	assert.NilError(t, os.Symlink("/proc/self/mem", broken)) // nobody can read its first byte, root included
	s.refuses(t, "Unreadable", "-f", missing).tells(t, "error: "+missing+": no such file or directory, and no file matches it\n")
	s.refuses(t, "Unreadable", "-f", broken).tells(t, "error: "+broken+": read: input/output error\n")
	s.refuses(t, "NoFiles", "-f", empty).tells(t, "error: "+empty+": no .yaml, .yml or .json file in this directory\n")
	s.refuses(t, "Kustomize", "-k", empty).tells(t, "error: "+empty+": unable to find one of 'kustomization.yaml'")
	s.refuses(t, "Usage").tells(t, "error: which manifests? name them with -f (or --manifests), or a kustomization with -k\n")
	s.refuses(t, "NoObjects", "-f", "-").tells(t, "no objects in input\n")
	s.as("ci").run(t, "gate", "-f", "-", "-o", "json").exits(t, 1).prints(t, `"reason": "Usage"`).
		tells(t, "error: manifests from standard input or a repository have no path here: say with --scope what is being changed\n")
}

func TestTheOutFileIsReplacedInEveryOutcome(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	files := s.outFiles(t)
	holds := func(code int, markdown, decision string, more ...string) {
		t.Helper()
		for form, file := range files {
			s.gate(t, "ci", append(more, "--out", file)...).exits(t, code)
			content, err := os.ReadFile(file)
			assert.NilError(t, err)
			switch form {
			case "md":
				assert.Assert(t, strings.HasPrefix(string(content), "### changeward: "+markdown), "%s", content)
			case "json":
				var result render.GateResult
				assert.NilError(t, json.Unmarshal(content, &result))
				assert.Equal(t, result.Verdict.Decision, decision)
			}
		}
	}
	holds(2, "approval required", "approval-required")
	id := idOf(t, s.gate(t, "ci"))
	s.as("alice").run(t, "approve", id, "--yes").exits(t, 0)
	holds(0, "allowed", "allowed")
	s.as("carol").run(t, "reject", id, "--yes").exits(t, 0)
	holds(4, "denied", "denied")
	s.write(t, "wrong.yaml", "a: b")
	holds(1, "the plan is incomplete", "error")
	holds(1, "error", "", "--again")
	unwritable := filepath.Join(t.TempDir(), "no", "such", "folder.md")
	s.gate(t, "ci", "--out", unwritable).exits(t, 1).tells(t, "error: write "+unwritable+": ")
}
