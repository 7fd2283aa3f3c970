package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// reasonPages says where reasons are met, in the order of the page. Packages of
// which every exported text constant in reason.go is a reason, and others where
// the name says so.
func reasonPages() [][2]string {
	return [][2]string{
		{"pkg/cli", "Errors of a command: `error.reason` of `-o json`"},
		{"pkg/manifest", "Manifests that cannot be read"},
		{"pkg/manifest/git", "Repositories that cannot be read"},
		{"pkg/plan", "Objects that cannot be planned: `errors` of a plan"},
		{"pkg/policy", "What policy said: `verdict.reasons`"},
		{"pkg/gate", "What the gate said: `verdict.reasons`, and errors about records"},
		{"pkg/approval", "Decisions that do not count"},
		{"pkg/sign", "Records that do not verify"},
		{"pkg/audit", "Findings of `audit verify`"},
		{"pkg/apply", "Objects that an apply did not write"},
		{"pkg/reconcile", "What cannot be brought in line with Git"},
		{"pkg/incident", "Incidents of Flux"},
		{"pkg/trust", "Keys, policies, rosters and epochs that do not count"},
	}
}

type reason struct{ value, meaning string }

func TestThePageOfReasonsIsAsTheConstantsAre(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Reasons\n\nMachines may rely on these words: they are never renamed. Made from the constants by `make update-golden`.\n")
	found := sources(t)
	for _, at := range reasonPages() {
		fmt.Fprintf(&page, "\n## %s\n\n| reason | meaning |\n|---|---|\n", at[1])
		all := reasonsOf(found, at[0])
		assert.Assert(t, len(all) > 0, at[0])
		for _, r := range all {
			assert.Assert(t, r.meaning != "", "%s of %s has no comment", r.value, at[0])
			fmt.Fprintf(&page, "| `%s` | %s |\n", r.value, r.meaning)
		}
	}
	golden.Assert(t, page.String(), filepath.Join(root(t), "docs", "reasons.md"))
}

// reasonsOf lists the reasons that a package declares.
func reasonsOf(all []source, name string) []reason {
	var reasons []reason
	for _, s := range all {
		if s.pkg != name {
			continue
		}
		for _, decl := range s.file.Decls {
			if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.CONST {
				for _, spec := range group.Specs {
					one := *spec.(*ast.ValueSpec)
					if one.Doc == nil && len(group.Specs) == 1 {
						one.Doc = group.Doc
					}
					reasons = appendReason(reasons, s.path, &one)
				}
			}
		}
	}
	slices.SortFunc(reasons, func(a, b reason) int { return strings.Compare(a.value, b.value) })
	return reasons
}

func appendReason(reasons []reason, path string, spec *ast.ValueSpec) []reason {
	name := spec.Names[0].Name
	if len(spec.Values) != 1 || !spec.Names[0].IsExported() {
		return reasons
	}
	value, ok := spec.Values[0].(*ast.BasicLit)
	word := regexp.MustCompile(`^"[A-Z][A-Za-z]+"$`)
	if !ok || !word.MatchString(value.Value) || !strings.HasPrefix(name, "Reason") && filepath.Base(path) != "reason.go" {
		return reasons
	}
	meaning := strings.TrimPrefix(spec.Doc.Text()+spec.Comment.Text(), name+": ")
	meaning = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(meaning), "."), "\n", " ")
	return append(reasons, reason{strings.Trim(value.Value, `"`), meaning})
}
