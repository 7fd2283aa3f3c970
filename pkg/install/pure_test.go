package install

import (
	"testing"

	"gotest.tools/v3/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/state"
)

func TestAGateIsWhomAdmissionTakesForOne(t *testing.T) {
	users, groups := []string{"robot"}, []string{"arn:ci"}
	for _, tc := range []struct {
		person state.Person
		gate   bool
	}{
		{state.Person{Username: "alice", Groups: []string{"sre"}}, false},
		{state.Person{Username: "robot"}, true},
		{state.Person{Username: "x", Groups: []string{"arn:ci"}}, true},
		{state.Person{Username: "x", Groups: []string{GateGroup}}, true},
		{state.Person{Username: "system:serviceaccount:changeward-gate:any"}, true},
		{state.Person{Username: "system:serviceaccount:shop:changeward-gate"}, true},
		{state.Person{Username: "system:serviceaccount:shop:other"}, false},
		{state.Person{Username: "system:serviceaccount:changeward-approvers:watch"}, false},
		{state.Person{Username: "sso:changeward-gate"}, false},
	} {
		assert.Equal(t, IsGate(tc.person, users, groups), tc.gate, tc.person.Username)
	}
}

func TestPlanningRightsLeaveOutWhatAdmissionDoesNotGuard(t *testing.T) {
	all := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	for _, tc := range []struct {
		group, resource string
		verbs           []string
		noSecrets, want bool
	}{
		{"apps", "deployments", all, false, true},
		{"apps", "deployments/scale", all, false, false},
		{"", "secrets", all, false, true},
		{"", "secrets", all, true, false},
		{"example.com", "secrets", all, true, true},
		{"authorization.k8s.io", "selfsubjectaccessreviews", []string{"create"}, false, false},
		{admissionGroup, "validatingadmissionpolicybindings", all, false, false},
		{admissionGroup, "mutatingadmissionpolicies", all, false, false},
		{admissionGroup, "validatingwebhookconfigurations", all, false, true},
	} {
		gr := schema.GroupResource{Group: tc.group, Resource: tc.resource}
		assert.Equal(t, plannable(gr, metav1.APIResource{Name: tc.resource, Verbs: tc.verbs}, tc.noSecrets), tc.want, gr.String())
	}
	got := rules(map[schema.GroupResource][]string{
		{Group: "apps", Resource: "deployments"}: {"get", "patch"}, {Group: "apps", Resource: "daemonsets"}: {"get", "patch"},
		{Group: rbacGroup, Resource: "roles"}: {"get", "patch"}, {Group: rbacGroup, Resource: "rolebindings"}: {"get", "patch"},
	})
	assert.DeepEqual(t, got, []rbacv1.PolicyRule{
		{APIGroups: []string{"apps"}, Resources: []string{"daemonsets", "deployments"}, Verbs: []string{"get", "patch"}},
		{APIGroups: []string{rbacGroup}, Resources: []string{"roles"}, Verbs: []string{"bind", "escalate", "get", "patch"}},
		{APIGroups: []string{rbacGroup}, Resources: []string{"rolebindings"}, Verbs: []string{"get", "patch"}},
	})
}
