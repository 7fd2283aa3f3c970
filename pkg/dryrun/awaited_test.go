package dryrun_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
)

// mayGrant lets alice plan rights and Pods, with hardly any rights of her own.
func mayGrant(t *testing.T) observation {
	t.Helper()
	client := cluster(t).Client(kubetest.Admin).RbacV1()
	meta := metav1.ObjectMeta{Name: "dryrun-grants"}
	verbs := []string{"get", "list", "create", "patch"}
	_, err := client.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"roles", "rolebindings", "clusterrolebindings"}, Verbs: verbs},
		{APIGroups: []string{""}, Resources: []string{"pods", "configmaps", "serviceaccounts"}, Verbs: verbs},
	}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta,
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: meta.Name}, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "alice"}},
	}, metav1.CreateOptions{})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = client.ClusterRoleBindings().Delete(t.Context(), meta.Name, metav1.DeleteOptions{}) })
	return observation{config: cluster(t).Config("alice")}
}

// about are the lines of a plan that name an object.
func about(lines []string, name string) string {
	for _, line := range lines {
		if strings.Contains(line, "/"+name+" ") {
			return line
		}
	}
	return ""
}

const arriving = `
apiVersion: v1
kind: Pod
metadata: {name: robot, namespace: team-a}
spec: {serviceAccountName: new-robot, containers: [{name: c, image: "a:1"}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: new-robot, namespace: team-a}
---
apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: team-a}
spec: {priorityClassName: awaited-high, containers: [{name: c, image: "a:1"}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: awaited-high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: boxed, namespace: team-a}
spec: {runtimeClassName: awaited-box, containers: [{name: c, image: "a:1"}]}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: awaited-box}
handler: box
---
apiVersion: v1
kind: Pod
metadata: {name: lost, namespace: team-a}
spec: {serviceAccountName: nobody, containers: [{name: c, image: "a:1"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: astray, namespace: team-a}
spec: {serviceAccountName: elsewhere, containers: [{name: c, image: "a:1"}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: elsewhere, namespace: default}
`

func TestAPodWaitsForWhatArrivesWithIt(t *testing.T) {
	lines := planned(t, arriving)
	assert.Equal(t, about(lines, "robot"), "+ team-a/Pod/robot (create) the ServiceAccount new-robot that it runs as is created by this plan")
	assert.Equal(t, about(lines, "urgent"), "+ team-a/Pod/urgent (create) the PriorityClass awaited-high that it has is created by this plan")
	assert.Equal(t, about(lines, "boxed"), "+ team-a/Pod/boxed (create) the RuntimeClass awaited-box that it has is created by this plan")
	assert.Equal(t, about(lines, "lost"), `! team-a/Pod/lost NotFound: the ServiceAccount nobody that it runs as does not exist: `+
		`pods "lost" is forbidden: error looking up service account team-a/nobody: serviceaccount "nobody" not found`)
	assert.Assert(t, strings.HasPrefix(about(lines, "astray"), "! team-a/Pod/astray NotFound"), "%v", lines) // it is in another namespace
}

const granting = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: awaited, namespace: team-a}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: awaiting, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: awaited}
subjects: [{kind: User, name: x, apiGroup: rbac.authorization.k8s.io}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: dryrun-nowhere}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: nowhere}
subjects: [{kind: User, name: x, apiGroup: rbac.authorization.k8s.io}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: takes-all, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: User, name: x, apiGroup: rbac.authorization.k8s.io}]
`

func TestABindingWaitsForItsRoleAndNeverEscalates(t *testing.T) {
	lines, _ := mayGrant(t).plan(t, granting)
	assert.Equal(t, about(lines, "awaiting"), "+ team-a/RoleBinding.rbac.authorization.k8s.io/awaiting (create) the Role awaited that it binds is created by this plan")
	assert.Equal(t, about(lines, "dryrun-nowhere"), "! ClusterRoleBinding.rbac.authorization.k8s.io/dryrun-nowhere NotFound: "+
		`the ClusterRole nowhere that it binds does not exist: clusterrolebindings.rbac.authorization.k8s.io "nowhere" not found`)
	assert.Equal(t, about(lines, "takes-all"), `! team-a/RoleBinding.rbac.authorization.k8s.io/takes-all Forbidden: privilege escalation: `+
		`rolebindings.rbac.authorization.k8s.io "takes-all" is forbidden: user "alice" (groups=["sre" "system:authenticated"]) is attempting to grant RBAC permissions not currently held: `+
		`{APIGroups:["*"], Resources:["*"], Verbs:["*"]} {NonResourceURLs:["*"], Verbs:["*"]}`)
	assert.Equal(t, about(planned(t, granting), "awaiting"), "+ team-a/RoleBinding.rbac.authorization.k8s.io/awaiting (create)") // who may bind anything is told by the server
}
