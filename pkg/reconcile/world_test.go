package reconcile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/reconcile"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # the shop
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web:1 # pinned
        args: [--a, --b]
      - name: log
        image: example.com/log:1
`

// folder writes files, given as their paths and texts, and answers where.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(files[i+1]), 0o600))
	}
	return dir
}

func web(fields ...reconcile.Field) reconcile.Wanted {
	return reconcile.Wanted{Key: manifest.Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, Operation: plan.Update, Fields: fields}
}

func configMap(name string, fields ...reconcile.Field) reconcile.Wanted {
	return reconcile.Wanted{Key: manifest.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}, Operation: plan.Update, Fields: fields}
}

func change(path string, value any) reconcile.Field {
	return reconcile.Field{Path: path, Action: diff.Change, Value: value}
}

const webImage = `spec.template.spec.containers[name="web"].image`

// brought brings a directory in line, and answers what is written: the lines
// that are gone and new of each file.
func brought(t *testing.T, dir, sub string, wanted ...reconcile.Wanted) (*reconcile.Result, map[string]string) {
	t.Helper()
	result, err := reconcile.Bring(filepath.Join(dir, sub), wanted)
	assert.NilError(t, err)
	assert.NilError(t, result.Write())
	changes := map[string]string{}
	for _, file := range result.Files {
		name, err := filepath.Rel(dir, file.Path)
		assert.NilError(t, err)
		changes[name] = linesBetween(string(file.Before), string(file.After))
		now, err := os.ReadFile(file.Path)
		assert.Assert(t, file.After == nil && os.IsNotExist(err) || string(now) == string(file.After))
	}
	return result, changes
}

// linesBetween are the lines that differ, as a diff shows them.
func linesBetween(before, after string) string {
	old, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	start, end := 0, 0
	for start < len(old) && start < len(now) && old[start] == now[start] {
		start++
	}
	for end < len(old)-start && end < len(now)-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	out := ""
	for _, line := range old[start : len(old)-end] {
		out += "-" + line
	}
	for _, line := range now[start : len(now)-end] {
		out += "+" + line
	}
	return out
}

// refused are the refusals of a directory, which must then not have changed.
func refused(t *testing.T, dir string, wanted ...reconcile.Wanted) []string {
	t.Helper()
	result, err := reconcile.Bring(dir, wanted)
	assert.NilError(t, err)
	assert.Equal(t, len(result.Files), 0, "%v", result.Files)
	var texts []string
	for _, r := range result.Refused {
		assert.Assert(t, r.Hint != "")
		assert.Assert(t, !strings.Contains(r.Error()+r.Hint, dir), "a checkout's own place means nothing to people: %s", r)
		texts = append(texts, r.Reason+": "+r.Error())
	}
	return texts
}
