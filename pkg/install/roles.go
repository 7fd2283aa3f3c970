package install

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/changeward/changeward/pkg/install/admission"
)

// recordsGroup and recordsResource are virtual: nothing is served there, only
// the admission policy asks about the verbs purge and administer.
const (
	recordsGroup    = "changeward.dev"
	recordsResource = "records"
)

// recordRoles are the roles about records, by namespace. Plans are Secrets and
// what people say is ConfigMaps, so that these verbs alone keep gates and
// people apart.
func recordRoles() []runtime.Object {
	read := []string{"get", "list"}
	return []runtime.Object{
		role(Namespace, RolePropose, core("secrets", "get", "list", "create"), core("configmaps", read...)),
		role(Namespace, RoleEnroll, core("configmaps", "create")),
		role(Namespace, RoleApprove, core("secrets", read...), core("configmaps", "get", "list", "create")),
		role(Namespace, RoleAudit, core("secrets", read...), core("configmaps", read...)),
		role(Namespace, RoleAdmin, core("secrets", "get", "list", "create", "delete"), core("configmaps", "get", "list", "create", "delete"),
			rbacv1.PolicyRule{APIGroups: []string{recordsGroup}, Resources: []string{recordsResource}, Verbs: []string{"administer", "purge"}}),
		role(NamespaceGate, RolePropose, named("secrets", DigestKeySecret)),
		role(NamespaceGate, RoleGate, named("secrets", GateKeySecret, DigestKeySecret)),
		readRole(),
	}
}

// readRole is what everyone needs to check the fence, and to know the cluster.
func readRole() runtime.Object {
	return &rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: meta("", RoleRead), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{admissionGroup}, Verbs: []string{"get"},
			Resources:     []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"},
			ResourceNames: []string{admission.GatePolicy, admission.RecordsPolicy}},
		named("namespaces", "kube-system", Namespace),
	}}
}

func core(resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}
}

func named(resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, ResourceNames: names, Verbs: []string{"get"}}
}

func role(namespace, name string, rules ...rbacv1.PolicyRule) runtime.Object {
	return &rbacv1.Role{TypeMeta: typeMeta("Role"), ObjectMeta: meta(namespace, name), Rules: rules}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{labelPartOf: partOf}}
}
