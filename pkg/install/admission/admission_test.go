package admission_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/install/admission"
)

func TestNamesThatWouldLockTheClusterAreRefusedAllAtOnce(t *testing.T) {
	users := []string{"", " a", "a\nb", "system:admin", "system:kube-scheduler", "system:serviceaccount:kube-system:namespace-controller", "alice"}
	groups := []string{"system:masters", "system:authenticated", "system:serviceaccounts", "system:serviceaccounts:kube-system", "ci"}
	_, err := admission.Render(users, groups)
	problems := strings.Split(err.Error(), "\n")
	assert.Equal(t, len(problems), 10, "%v", err)
	assert.ErrorContains(t, err, `gate group "system:authenticated": users and groups of the system cannot be gates`)
	assert.NilError(t, admission.Check([]string{"system:serviceaccount:ci:deploy", "alice"}, []string{"system:serviceaccounts:ci", "arn:aws:iam::1:role/ci"}))
}

func TestTheOrderOfGatesDoesNotMatter(t *testing.T) {
	one, err := admission.Render([]string{"b", "a", "a"}, []string{"y", "x"})
	assert.NilError(t, err)
	two, err := admission.Render([]string{"a", "b"}, []string{"x", "y", "y"})
	assert.NilError(t, err)
	assert.DeepEqual(t, one, two)
	_, ok := admission.Matches(one, []string{"b", "a"}, []string{"x", "y"})
	assert.Assert(t, ok)
}

func TestAnyChangeOfTheLiveSpecIsAnotherText(t *testing.T) {
	for name, edit := range map[string]func(spec map[string]any){
		"a binding that only audits": func(spec map[string]any) { spec["validationActions"] = []any{"Audit"} },
		"a binding of fewer objects": func(spec map[string]any) { spec["matchResources"] = map[string]any{} },
		"a field that is not known":  func(spec map[string]any) { spec["suspended"] = true },
	} {
		live, err := admission.Render(nil, nil)
		assert.NilError(t, err)
		edit(live[1].Object["spec"].(map[string]any))
		_, ok := admission.Matches(live, nil, nil)
		assert.Assert(t, !ok, name)
	}
}
