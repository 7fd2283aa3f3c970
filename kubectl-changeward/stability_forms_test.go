package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/render"
)

// object is a manifest as a value.
type object = map[string]any

// writer writes manifests in every form that people use, in an order of its
// own at every level where order means nothing.
type writer struct{ random *rand.Rand }

// shuffled is a copy in another order.
func (w writer) shuffled(objects []object) []object {
	out := slices.Clone(objects)
	w.random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (w writer) keys(of object) []string {
	keys := slices.Sorted(maps.Keys(of)) // so that a seed decides
	w.random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// json is one document, its keys in any order.
func (w writer) json(value any) string {
	switch v := value.(type) {
	case object:
		var members []string
		for _, key := range w.keys(v) {
			members = append(members, fmt.Sprintf("%q: %s", key, w.json(v[key])))
		}
		return "{" + strings.Join(members, ", ") + "}"
	case []any:
		var entries []string
		for _, entry := range v {
			entries = append(entries, w.json(entry))
		}
		return "[" + strings.Join(entries, ",\n") + "]"
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// yaml is one document in block style, its keys in any order.
func (w writer) yaml(value any, indent string) string {
	var out strings.Builder
	switch v := value.(type) {
	case object:
		for _, key := range w.keys(v) {
			fmt.Fprintf(&out, "%s%q:%s", indent, key, w.below(v[key], indent))
		}
	case []any:
		for _, entry := range v {
			fmt.Fprintf(&out, "%s-%s", indent, w.below(entry, indent))
		}
	}
	return out.String()
}

func (w writer) below(value any, indent string) string {
	switch v := value.(type) {
	case object:
		if len(v) > 0 {
			return "\n" + w.yaml(v, indent+"  ")
		}
	case []any:
		if len(v) > 0 {
			return "\n" + w.yaml(v, indent+"  ")
		}
	}
	return " " + w.json(value) + "\n"
}

// documents is a stream of YAML documents.
func (w writer) documents(objects []object) string {
	var out strings.Builder
	for _, o := range w.shuffled(objects) {
		out.WriteString("---\n# " + fmt.Sprint(w.random.Int()) + "\n" + w.yaml(o, ""))
	}
	return out.String()
}

// list is everything in one v1 List.
func (w writer) list(objects []object) object {
	items := []any{}
	for _, o := range w.shuffled(objects) {
		items = append(items, o)
	}
	return object{"apiVersion": "v1", "kind": "List", "items": items}
}

// tree spreads objects over files and folders, some YAML, some JSON, some
// Lists, and returns the files' paths below dir.
func (w writer) tree(t *testing.T, dir string, objects []object) (files []string) {
	t.Helper()
	rest := w.shuffled(objects)
	for n := 0; len(rest) > 0; n++ {
		share := rest[:min(len(rest), 1+w.random.IntN(40))]
		rest = rest[len(share):]
		name, content := fmt.Sprintf("%03d.yaml", w.random.IntN(900)), ""
		switch w.random.IntN(4) {
		case 0:
			name, content = "list.json", w.json(w.list(share))
		case 1:
			content = w.yaml(w.list(share), "")
		default:
			content = w.documents(share)
		}
		file := filepath.Join(fmt.Sprintf("part-%02d", n), name)
		assert.NilError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644))
		files = append(files, file)
	}
	return files
}

// given is one way to hand the objects to a verb: flags and standard input.
type given struct {
	name  string
	flags []string
	stdin string
}

// ways are all ways to hand the objects over, each in another order.
func (w writer) ways(t *testing.T, objects []object) []given {
	t.Helper()
	dir, files, kustomization := t.TempDir(), t.TempDir(), t.TempDir()
	w.tree(t, dir, objects)
	named := []string{}
	for _, file := range w.tree(t, files, objects) {
		named = append(named, "-f", filepath.Join(files, file))
	}
	resources := []any{}
	for _, file := range w.tree(t, kustomization, objects) {
		resources = append(resources, file)
	}
	text := w.yaml(object{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}, "")
	assert.NilError(t, os.WriteFile(filepath.Join(kustomization, "kustomization.yaml"), []byte(text), 0o644))
	stdin := []string{"-f", "-"}
	return []given{
		{name: "a directory", flags: []string{"-R", "-f", dir}},
		{name: "a kustomization", flags: []string{"-k", kustomization}},
		{name: "files", flags: named},
		{name: "documents from stdin", flags: stdin, stdin: w.documents(objects)},
		{name: "a YAML List from stdin", flags: stdin, stdin: w.yaml(w.list(objects), "")},
		{name: "a JSON List from stdin", flags: stdin, stdin: w.json(w.list(objects))},
	}
}

// planned is the plan of these objects, as a person gets it. Whatever keeps it
// from being complete fails the test.
func (g given) planned(t *testing.T, by person, more ...string) render.Plan {
	t.Helper()
	var plan render.PlanResult
	args := slices.Concat([]string{"plan", "-o", "json"}, g.flags, more)
	by.piping(g.stdin).run(t, args...).exits(t, 0).json(t, &plan)
	assert.Assert(t, plan.Complete, g.name)
	return plan.Plan
}
