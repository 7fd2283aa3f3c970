package install

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/policy"
)

// annotationNoSecrets on the planning role keeps Secrets out of it.
const annotationNoSecrets = "changeward.dev/no-secrets"

// objects is all that an install wants but keys and records, in the order in
// which it is made: the fence stands before anyone is given a right.
type objects struct {
	namespaces, fence, rights []item
}

func (o *objects) all() []*item {
	var all []*item
	for _, list := range [][]item{o.namespaces, o.fence, o.rights} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// wanted builds the objects for these options.
func (c client) wanted(ctx context.Context, options Options, people policy.Roles) (objects, error) {
	var o objects
	rendered, err := admission.Render(options.GateUsers, options.GateGroups)
	if err != nil {
		return o, err
	}
	for _, object := range rendered {
		object.SetLabels(map[string]string{labelPartOf: partOf})
		o.fence = append(o.fence, item{want: object})
	}
	plan, err := c.planObjects(ctx, options)
	if err != nil {
		return o, err
	}
	if o.namespaces, err = newItems(namespaces()); err != nil {
		return o, err
	}
	argo, err := options.argoObjects()
	if err != nil {
		return o, err
	}
	rights := slices.Concat(recordRoles(), plan, argo, peopleBindings(people, options.GateUsers, options.GateGroups))
	o.rights, err = newItems(rights)
	return o, err
}

func namespaces() []runtime.Object {
	var all []runtime.Object
	for _, name := range []string{Namespace, NamespaceGate, NamespaceApprovers} {
		all = append(all, &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta("", name)})
	}
	return all
}

// planObjects are the planning role and its bindings. What an earlier install
// narrowed stays narrow.
func (c client) planObjects(ctx context.Context, options Options) ([]runtime.Object, error) {
	installed, err := c.installedPlan(ctx)
	if err != nil {
		return nil, err
	}
	scope, err := options.planScope(installed)
	if err != nil {
		return nil, err
	}
	noSecrets := options.NoSecrets || installed.noSecrets
	rules, err := c.planRules(ctx, noSecrets)
	if err != nil {
		return nil, err
	}
	role := &rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: meta("", RolePlan), Rules: rules}
	if noSecrets {
		role.Annotations = map[string]string{annotationNoSecrets: "true"}
	}
	return append([]runtime.Object{role}, planBindings(sorted(scope), options.GateUsers, options.GateGroups)...), nil
}

// installedPlan is how far planning rights reach now.
type installedPlan struct {
	noSecrets, clusterWide bool
	scope                  []string
}

func (c client) installedPlan(ctx context.Context) (installedPlan, error) {
	var p installedPlan
	role, err := c.typed.RbacV1().ClusterRoles().Get(ctx, RolePlan, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("read ClusterRole/%s: %w", RolePlan, err)
	}
	p.noSecrets = role.Annotations[annotationNoSecrets] == "true"
	_, err = c.typed.RbacV1().ClusterRoleBindings().Get(ctx, RolePlan, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return p, fmt.Errorf("read ClusterRoleBinding/%s: %w", RolePlan, err)
	}
	p.clusterWide = err == nil
	bindings, err := c.typed.RbacV1().RoleBindings(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		LabelSelector: labelPartOf + "=" + partOf})
	if err != nil {
		return p, fmt.Errorf("list role bindings: %w", err)
	}
	for _, binding := range bindings.Items {
		if binding.Name == RolePlan {
			p.scope = append(p.scope, binding.Namespace)
		}
	}
	return p, nil
}

// clusterUID is the UID of namespace kube-system.
func (c client) clusterUID(ctx context.Context) (string, error) {
	namespace, err := c.typed.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read the cluster's UID: %w", err)
	}
	return string(namespace.UID), nil
}
