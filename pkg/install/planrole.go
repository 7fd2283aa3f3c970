package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

const (
	admissionGroup = "admissionregistration.k8s.io"
	rbacGroup      = "rbac.authorization.k8s.io"
)

// planVerbs are what dry runs of apply, replace and prune need.
func planVerbs() []string { return []string{"create", "delete", "get", "list", "patch", "update"} }

// unguarded are resources that no admission policy ever sees, so that a dry
// run could not be told from a write.
func unguarded(gr schema.GroupResource) bool {
	return gr.Group == admissionGroup && slices.Contains([]string{
		"validatingadmissionpolicies", "validatingadmissionpolicybindings",
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}, gr.Resource)
}

// planRules are the planning rights: every resource that can be read and
// patched, by name, no subresource, nothing that admission does not guard.
// Kinds that come later need the install to be run again.
func (c client) planRules(ctx context.Context, noSecrets bool) ([]rbacv1.PolicyRule, error) {
	foreign, err := c.foreignGroups(ctx)
	if err != nil {
		return nil, err
	}
	_, lists, err := c.typed.Discovery().ServerGroupsAndResources()
	if err != nil && !onlyForeign(err, foreign) {
		return nil, fmt.Errorf("discover what can be planned: %w", err)
	}
	verbs := map[schema.GroupResource][]string{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("discover what can be planned: %w", err)
		}
		for _, r := range list.APIResources {
			gr := schema.GroupResource{Group: gv.Group, Resource: r.Name}
			if !foreign[gv.Group] && plannable(gr, r, noSecrets) {
				verbs[gr] = union2(verbs[gr], r.Verbs)
			}
		}
	}
	return rules(verbs), nil
}

func plannable(gr schema.GroupResource, r metav1.APIResource, noSecrets bool) bool {
	switch {
	case strings.Contains(r.Name, "/"), unguarded(gr):
		return false
	case noSecrets && gr == schema.GroupResource{Resource: "secrets"}:
		return false
	}
	return slices.Contains(r.Verbs, "get") && slices.Contains(r.Verbs, "patch")
}

func union2(known, served []string) []string {
	all := slices.Clone(known)
	for _, verb := range planVerbs() {
		if slices.Contains(served, verb) {
			all = append(all, verb)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rules puts resources of one group and one set of verbs together, in a fixed
// order. Planning a role needs bind and escalate, even for a dry run.
func rules(verbs map[schema.GroupResource][]string) []rbacv1.PolicyRule {
	sets := map[string]*rbacv1.PolicyRule{}
	for gr, list := range verbs {
		if gr.Group == rbacGroup && (gr.Resource == "roles" || gr.Resource == "clusterroles") {
			list = append(slices.Clone(list), "bind", "escalate")
			slices.Sort(list)
		}
		key := gr.Group + " " + strings.Join(list, ",")
		if sets[key] == nil {
			sets[key] = &rbacv1.PolicyRule{APIGroups: []string{gr.Group}, Verbs: list}
		}
		sets[key].Resources = append(sets[key].Resources, gr.Resource)
	}
	var out []rbacv1.PolicyRule
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		slices.Sort(sets[key].Resources)
		out = append(out, *sets[key])
	}
	return out
}

// foreignGroups are the API groups with a version that another server answers
// for: that one runs no admission of this cluster.
func (c client) foreignGroups(ctx context.Context) (map[string]bool, error) {
	services, err := c.dynamic.Resource(schema.GroupVersionResource{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the API services: %w", err)
	}
	foreign := map[string]bool{}
	for _, service := range services.Items {
		spec, _, err := unstructured.NestedMap(service.Object, "spec")
		if err != nil {
			return nil, fmt.Errorf("read APIService/%s: %w", service.GetName(), err)
		}
		if group, _ := spec["group"].(string); spec["service"] != nil {
			foreign[group] = true
		}
	}
	return foreign, nil
}

// onlyForeign says that discovery failed only for groups that are left out.
func onlyForeign(err error, foreign map[string]bool) bool {
	failed, ok := discovery.GroupDiscoveryFailedErrorGroups(err)
	if !ok {
		return false
	}
	for gv := range failed {
		if !foreign[gv.Group] {
			return false
		}
	}
	return true
}
