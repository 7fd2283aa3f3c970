package admission_test

import (
	"fmt"
	"testing"

	celgo "github.com/google/cel-go/cel"
	"gotest.tools/v3/assert"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/changeward/changeward/pkg/install/admission"
)

// expression is one CEL text of a policy, and what it must come to.
type expression struct {
	name, text string
	result     *celgo.Type
}

func (e expression) GetExpression() string      { return e.text }
func (e expression) GetName() string            { return e.name }
func (e expression) ReturnTypes() []*celgo.Type { return []*celgo.Type{e.result} }

// expressions are those of a policy's spec; variables come first, in order.
func expressions(spec admissionv1.ValidatingAdmissionPolicySpec) (conditions, variables, rest []expression) {
	for _, c := range spec.MatchConditions {
		conditions = append(conditions, expression{c.Name, c.Expression, celgo.BoolType})
	}
	for _, v := range spec.Variables {
		variables = append(variables, expression{v.Name, v.Expression, celgo.AnyType})
	}
	for i, v := range spec.Validations {
		rest = append(rest, expression{fmt.Sprint("validation ", i), v.Expression, celgo.BoolType})
		if v.MessageExpression != "" {
			rest = append(rest, expression{fmt.Sprint("message ", i), v.MessageExpression, celgo.StringType})
		}
	}
	for _, a := range spec.AuditAnnotations {
		rest = append(rest, expression{a.Key, a.ValueExpression, celgo.StringType})
	}
	return conditions, variables, rest
}

func TestTheTextCompilesOnEveryServerFrom129To137(t *testing.T) {
	var objects []*unstructured.Unstructured
	for version := 1; version <= admission.Version; version++ {
		rendered, err := admission.RenderVersion(version, []string{"zoe", `we"ird\name`}, []string{"arn:aws:iam::1:role/ci"})
		assert.NilError(t, err)
		objects = append(objects, rendered...)
	}
	options := cel.OptionalVariableDeclarations{HasAuthorizer: true}
	for minor := uint(29); minor <= 37; minor++ {
		base := environment.MustBaseEnvSet(version.MajorMinor(1, minor))
		for _, object := range objects {
			if object.GetKind() != "ValidatingAdmissionPolicy" {
				continue
			}
			var policy admissionv1.ValidatingAdmissionPolicy
			assert.NilError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &policy, true))
			compiler, err := cel.NewCompositedCompiler(base)
			assert.NilError(t, err)
			conditions, variables, rest := expressions(policy.Spec)
			assert.Assert(t, len(conditions) > 0 && len(rest) > 0, policy.Name)
			newer := cel.NewCompiler(base).CompileCELExpression(expression{"newer", "isSemver('1.0.0')", celgo.BoolType}, options, environment.NewExpressions)
			assert.Equal(t, newer.Error == nil, minor >= 33, "the environment is that of 1.%d", minor)
			check := func(e expression, got cel.CompilationResult) {
				if got.Error != nil {
					t.Errorf("1.%d: %s: %s: %v", minor, policy.Name, e.name, got.Error)
				}
			}
			for _, e := range conditions { // they see no variables
				check(e, cel.NewCompiler(base).CompileCELExpression(e, options, environment.NewExpressions))
			}
			for _, e := range variables {
				check(e, compiler.CompileAndStoreVariable(e, options, environment.NewExpressions))
			}
			for _, e := range rest {
				check(e, compiler.CompileCELExpression(e, options, environment.NewExpressions))
			}
		}
	}
}
