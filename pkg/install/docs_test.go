package install

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestTheDocumentedRolesAreTheRoles(t *testing.T) {
	page, err := os.ReadFile("../../docs/trust.md")
	assert.NilError(t, err)
	check := func(name, in string, rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			what := strings.Join(rule.Resources, ", ")
			if rule.APIGroups[0] == recordsGroup {
				what += "." + recordsGroup
			}
			what = strings.TrimSpace(what + " " + strings.Join(rule.ResourceNames, ", "))
			row := "| `" + name + "` | " + in + " | " + what + " | " + strings.Join(rule.Verbs, ", ") + " |"
			assert.Assert(t, cmp.Contains(string(page), row))
		}
	}
	for _, object := range recordRoles() {
		switch role := object.(type) {
		case *rbacv1.Role:
			check(role.Name, "`"+role.Namespace+"`", role.Rules)
		case *rbacv1.ClusterRole:
			check(role.Name, "the cluster", role.Rules)
		}
	}
}
