// Package archtest holds the rules of docs/dev.md as tests: which package may
// import which, who may reach a cluster, and how code is laid out. It has tests
// only; each says why its rule is there.
package archtest

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
)

const module = "github.com/changeward/changeward"

// pkg is what `go list` says of a package of this module.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

// name is the import path below the module: "pkg/plan", "state".
func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// source is a parsed file that is no test.
type source struct {
	pkg  string
	path string // below the module root
	file *ast.File
	fset *token.FileSet
}

func (s source) line(at token.Pos) int { return s.fset.Position(at).Line }

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	assert.NilError(t, err)
	return dir
}

func packages(t *testing.T) []pkg {
	t.Helper()
	command := icmd.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./...")
	result := icmd.RunCmd(command, icmd.Dir(root(t)))
	result.Assert(t, icmd.Success)
	var all []pkg
	decoder := json.NewDecoder(strings.NewReader(result.Stdout()))
	for {
		var p pkg
		err := decoder.Decode(&p)
		if err == io.EOF {
			return all
		}
		assert.NilError(t, err)
		all = append(all, p)
	}
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			assert.NilError(t, err)
			short, err := filepath.Rel(root(t), path)
			assert.NilError(t, err)
			all = append(all, source{pkg: p.name(), path: filepath.ToSlash(short), file: file, fset: fset})
		}
	}
	assert.Assert(t, len(all) > 0)
	return all
}

func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// imported is the name by which a file knows an import path, or "".
func (s source) imported(path string) string {
	for _, spec := range s.file.Imports {
		if strings.Trim(spec.Path.Value, `"`) != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndex(path, "/")+1:]
	}
	return ""
}

// uses lists the lines where a file names one of the members of an import.
func (s source) uses(path string, members ...string) []int {
	name := s.imported(path)
	if name == "" {
		return nil
	}
	var lines []int
	ast.Inspect(s.file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if base, ok := selector.X.(*ast.Ident); ok && base.Name == name && slices.Contains(members, selector.Sel.Name) {
			lines = append(lines, s.line(selector.Pos()))
		}
		return true
	})
	return lines
}

func lines(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), path))
	assert.NilError(t, err)
	return strings.Count(string(data), "\n")
}
