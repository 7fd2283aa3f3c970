package archtest

import (
	"bytes"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// Limits in lines. Short units are read whole; both limits are those of the
// tools this code takes as its models.
const (
	maxFile     = 300
	maxFunction = 40
)

func TestFilesAndFunctionsAreShort(t *testing.T) {
	for _, s := range sources(t) {
		if n := lines(t, s.path); n >= maxFile {
			t.Errorf("%s has %d lines, the limit is under %d", s.path, n, maxFile)
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.line(f.End()) - s.line(f.Pos()) + 1; n >= maxFunction {
				t.Errorf("%s:%d: %s has %d lines, the limit is under %d", s.path, s.line(f.Pos()), f.Name.Name, n, maxFunction)
			}
		}
	}
}

// State that a package keeps for itself makes two runs in one process differ,
// and tests depend on their order.
func TestNoPackageKeepsStateOrRunsBeforeMain(t *testing.T) {
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "init" && d.Recv == nil {
					t.Errorf("%s:%d: func init", s.path, s.line(d.Pos()))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if value, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && !harmless(d, value) {
						t.Errorf("%s:%d: package-level variable %s", s.path, s.line(value.Pos()), value.Names[0].Name)
					}
				}
			}
		}
	}
}

// harmless are: `var _ I = T{}`, sentinels made by errors.New, embedded files.
func harmless(decl *ast.GenDecl, spec *ast.ValueSpec) bool {
	if embeds(decl.Doc) || embeds(spec.Doc) {
		return true
	}
	blank := func(name *ast.Ident) bool { return name.Name == "_" }
	if !slices.ContainsFunc(spec.Names, func(name *ast.Ident) bool { return !blank(name) }) {
		return true
	}
	sentinel := func(value ast.Expr) bool {
		call, ok := value.(*ast.CallExpr)
		if !ok {
			return false
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		base, ok := selector.X.(*ast.Ident)
		return ok && base.Name == "errors" && selector.Sel.Name == "New"
	}
	return len(spec.Values) > 0 && !slices.ContainsFunc(spec.Values, func(v ast.Expr) bool { return !sentinel(v) })
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

func TestEveryExportedNameIsExplained(t *testing.T) {
	for _, s := range sources(t) {
		if s.file.Name.Name == "main" {
			continue
		}
		for _, decl := range s.file.Decls {
			for _, name := range unexplained(decl) {
				t.Errorf("%s:%d: %s has no comment", s.path, s.line(name.Pos()), name.Name)
			}
		}
	}
}

func unexplained(decl ast.Decl) []*ast.Ident {
	var names []*ast.Ident
	switch d := decl.(type) {
	case *ast.FuncDecl:
		known := d.Recv != nil && slices.Contains([]string{"Error", "String", "Unwrap", "Is", "MarshalJSON", "UnmarshalJSON"}, d.Name.Name)
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d.Recv) && !known {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch sp := spec.(type) {
			case *ast.TypeSpec:
				if sp.Name.IsExported() && sp.Doc == nil && d.Doc == nil {
					names = append(names, sp.Name)
				}
			case *ast.ValueSpec:
				if sp.Names[0].IsExported() && sp.Doc == nil && sp.Comment == nil && d.Doc == nil {
					names = append(names, sp.Names[0])
				}
			}
		}
	}
	return names
}

func exportedReceiver(receiver *ast.FieldList) bool {
	if receiver == nil {
		return true
	}
	kind := receiver.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		kind = pointer.X
	}
	name, ok := kind.(*ast.Ident)
	return !ok || name.IsExported()
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	comments := map[string]int{}
	for _, s := range sources(t) {
		if comments[s.pkg] += 0; s.file.Doc != nil {
			comments[s.pkg]++
		}
	}
	for name, count := range comments {
		if count != 1 {
			t.Errorf("%s has %d package comments, not one", name, count)
		}
	}
}

func TestTheDeveloperMapNamesEveryPackageAndDependency(t *testing.T) {
	read := func(path ...string) string {
		data, err := os.ReadFile(filepath.Join(append([]string{root(t)}, path...)...))
		assert.NilError(t, err)
		return string(data)
	}
	text := read("docs", "dev.md")
	for _, p := range packages(t) {
		if name := strings.Replace(p.name(), "pkg/gitops/", "", 1); !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/dev.md does not name %s", p.name())
		}
	}
	for line := range strings.Lines(read("go.mod")) {
		requirement := strings.Fields(strings.TrimPrefix(line, "require "))
		direct := len(requirement) == 2 && strings.HasPrefix(requirement[1], "v") && !strings.HasPrefix(line, "go ")
		if direct && !strings.Contains(text, "`"+requirement[0]+"`") {
			t.Errorf("docs/dev.md gives no reason for %s", requirement[0])
		}
	}
}

// Names that say nothing gather what belongs elsewhere.
func TestPackagesAreNamedAfterTheirSubject(t *testing.T) {
	for _, p := range packages(t) {
		if slices.Contains([]string{"util", "utils", "common", "helpers", "misc", "shared", "types"}, filepath.Base(p.Dir)) {
			t.Errorf("%s names no subject", p.name())
		}
	}
}

// A path of the machine that something was written on means nothing to a reader.
func TestNoFilePointsOutsideTheRepository(t *testing.T) {
	foreign := regexp.MustCompile(`(^|[^\w-])/work/(shared|main|wt)\b|\.\./shared/|/tmp/brief`)
	err := filepath.WalkDir(root(t), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "archtest"}, entry.Name()):
			return filepath.SkipDir
		case entry.Name() == ".git" || !entry.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if at := foreign.FindIndex(data); at != nil {
			t.Errorf("%s:%d: %s", path, bytes.Count(data[:at[0]], []byte("\n"))+1, data[at[0]:at[1]])
		}
		return err
	})
	assert.NilError(t, err)
}
