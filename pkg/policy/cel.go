package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
)

// Limits of one expression, in CEL cost units (about one for each comparison,
// and one for each ten characters looked at).
const (
	maxEstimate   = 1_000_000
	maxCost       = 1_000_000
	maxExpression = 8 << 10 // characters
)

// program is one compiled expression. The zero program matches nothing and
// errors: a rule is never judged by an expression that did not compile.
type program struct {
	run cel.Program
	// reads are the members of change that the expression looks at.
	reads map[string]bool
	// every: it asks whether all fields are so, which is true of none.
	every bool
}

// match says whether the expression holds. An error is anything else than a
// clear answer, a cost above the limit included.
func (p program) match(vars map[string]any) (bool, error) {
	if p.run == nil {
		return false, errors.New("not compiled")
	}
	out, _, err := p.run.Eval(vars)
	if err != nil {
		return false, err
	}
	answer, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("the answer is %s, not true or false", out.Type().TypeName())
	}
	return answer, nil
}

// environment compiles expressions.
type environment struct{ env *cel.Env }

func newEnvironment() (*environment, error) {
	types, err := newTypes()
	if err != nil {
		return nil, fmt.Errorf("set up CEL: %w", err)
	}
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(types), cel.CustomTypeProvider(types),
		cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()),
		ext.Strings(ext.StringsVersion(2)),
	}
	for name, t := range types.variables() {
		options = append(options, cel.Variable(name, t))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("set up CEL: %w", err)
	}
	return &environment{env: env}, nil
}

// compile parses and type-checks an expression, and refuses one that could
// cost too much on a large plan.
func (e *environment) compile(expression string) (program, error) {
	checked, issues := e.env.Compile(expression)
	if issues.Err() != nil {
		return program{}, flatten(issues)
	}
	if !checked.OutputType().IsExactType(cel.BoolType) {
		return program{}, fmt.Errorf("the answer is %s, want bool", checked.OutputType())
	}
	cost, err := e.env.EstimateCost(checked, sizes{})
	if err != nil {
		return program{}, fmt.Errorf("estimate the cost: %w", err)
	}
	if cost.Max > maxEstimate {
		return program{}, fmt.Errorf("could cost too much on a large plan (up to %d, limit %d): look at fields once", cost.Max, maxEstimate)
	}
	run, err := e.env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
	if err != nil {
		return program{}, err
	}
	out := program{run: run, reads: map[string]bool{}}
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(out.look))
	out.every = strings.Contains(expression, ".all(")
	return out, nil
}

// look remembers which members of change are read.
func (p *program) look(e ast.Expr) {
	if e.Kind() != ast.SelectKind {
		return
	}
	if operand := e.AsSelect().Operand(); operand.Kind() == ast.IdentKind && operand.AsIdent() == varChange {
		p.reads[e.AsSelect().FieldName()] = true
	}
}

// flatten puts the compiler's findings into one line.
func flatten(issues *cel.Issues) error {
	var found []string
	for _, issue := range issues.Errors() {
		found = append(found, fmt.Sprintf("%s (column %d)", issue.Message, issue.Location.Column()+1))
	}
	return errors.New(strings.Join(found, "; "))
}

// sizes tells the cost estimate how large a plan gets.
type sizes struct{}

// EstimateSize implements checker.CostEstimator.
func (sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 {
		return nil
	}
	switch path[len(path)-1] {
	case "fields":
		return &checker.SizeEstimate{Max: 1000}
	case "groups", "risks", "operations":
		return &checker.SizeEstimate{Max: 50}
	case "path", "old", "new":
		return &checker.SizeEstimate{Max: 300}
	default:
		return &checker.SizeEstimate{Max: 253}
	}
}

// EstimateCallCost implements checker.CostEstimator: CEL's own costs hold.
func (sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
