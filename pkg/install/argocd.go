package install

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RoleArgoCD lets a gate read Applications, and how Argo CD marks its objects.
const RoleArgoCD = "changeward-argocd"

// argoObjects are the identity of hook Jobs of Argo CD in each namespace of the
// scope: a service account that the fence knows by its name, which may plan that
// namespace, put plans forward, and read the Applications.
func (o Options) argoObjects() ([]runtime.Object, error) {
	switch {
	case o.ArgoCD == "":
		return nil, nil
	case len(o.Scope) == 0:
		return nil, errors.New("hooks of Argo CD run in the namespaces of Applications: name them with --scope")
	}
	role := &rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: meta("", RoleArgoCD), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"argoproj.io"}, Resources: []string{"applications"}, Verbs: []string{"get"}},
		named("configmaps", "argocd-cm"),
	}}
	all := []runtime.Object{role}
	for _, namespace := range sorted(o.Scope) {
		all = append(all, &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta(namespace, GateAccount)})
		for _, right := range []struct{ namespace, kind, role string }{
			{Namespace, "Role", RolePropose}, {NamespaceGate, "Role", RoleGate},
			{namespace, "ClusterRole", RolePlan}, {o.ArgoCD, "ClusterRole", RoleArgoCD},
		} {
			all = append(all, &rbacv1.RoleBinding{TypeMeta: typeMeta("RoleBinding"), ObjectMeta: meta(right.namespace, right.role+".argocd."+namespace),
				RoleRef: rbacv1.RoleRef{APIGroup: rbacGroup, Kind: right.kind, Name: right.role}, Subjects: account(namespace, GateAccount)})
		}
		all = append(all, &rbacv1.ClusterRoleBinding{TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: meta("", RoleRead+".argocd."+namespace),
			RoleRef: rbacv1.RoleRef{APIGroup: rbacGroup, Kind: "ClusterRole", Name: RoleRead}, Subjects: account(namespace, GateAccount)})
	}
	return all, nil
}

// planScope are the namespaces that gates may plan by group; an install that
// covers the whole cluster keeps doing so when hooks of Argo CD are added.
func (o Options) planScope(installed installedPlan) ([]string, error) {
	switch {
	case installed.clusterWide && o.ArgoCD != "":
		return nil, nil
	case installed.clusterWide && len(o.Scope) > 0:
		return nil, errors.New("gates may plan the whole cluster already: delete ClusterRoleBinding/" + RolePlan + " to narrow it to namespaces")
	case len(o.Scope) == 0:
		return installed.scope, nil
	}
	return slices.Clone(o.Scope), nil
}
