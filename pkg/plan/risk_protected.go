package plan

import (
	"slices"
	"strings"
)

// protectedRisks finds changes of changeward's own objects and fences, and of
// rights that reach around them. It errs to the safe side: policy asks admins.
func protectedRisks(f facts) []Risk {
	var out []Risk
	if why := f.protectedObject(); why != "" {
		out = append(out, Risk{Name: RiskProtected, Detail: why})
	}
	if f.rbac() && f.Body.Operation != Delete {
		out = append(out, f.protectedRights()...)
	}
	return out
}

func ownNamespace(name string) bool {
	return slices.Contains([]string{"changeward", "changeward-gate", "changeward-approvers"}, name)
}

func ownName(name string) bool {
	return strings.HasPrefix(name, "changeward-") || strings.HasPrefix(name, "changeward.") ||
		strings.HasPrefix(name, "changeward:") || name == "changeward"
}

func (f facts) protectedObject() string {
	b := f.Body
	switch {
	case ownNamespace(b.Namespace):
		return "in changeward's namespace " + b.Namespace
	case f.is("", "Namespace") && ownNamespace(b.Name):
		return "changeward's namespace"
	case f.is("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"):
		return "admission policies never pass admission themselves"
	case f.is("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration") && ownName(b.Name):
		return "changeward's webhook"
	case f.rbac() && ownName(b.Name):
		return "changeward's role"
	case f.is("apiextensions.k8s.io", "CustomResourceDefinition") && ownGroup(b.Name),
		f.is("apiregistration.k8s.io", "APIService") && ownGroup(b.Name):
		return "changeward's API group"
	}
	return ""
}

// ownGroup says that a group, or a name that ends with one, is changeward's.
func ownGroup(name string) bool {
	return name == "changeward.dev" || strings.HasSuffix(name, ".changeward.dev")
}

func (f facts) protectedRights() []Risk {
	var out []Risk
	rules, loose := f.newRules()
	for _, rule := range rules {
		if reachesAround(rule) || f.Body.Kind == "ClusterRole" && opensFence(rule) {
			out = append(out, Risk{Name: RiskProtected, Detail: "grants " + grantOf(rule)})
		}
	}
	for _, l := range loose { // the rest of the rule is not known
		text, _ := l.value.(string)
		if around(l.value) || f.Body.Kind == "ClusterRole" && slices.Contains(fences(), text) {
			out = append(out, named(RiskProtected, l))
		}
	}
	ref := f.roleRef()
	name, _ := ref["name"].(string)
	if ownName(name) || name == "cluster-admin" && f.Body.Kind == "ClusterRoleBinding" {
		out = append(out, Risk{Name: RiskProtected, Detail: "binds " + f.roleName()})
	}
	return out
}

// reachesAround says whether a rule lets its holder act as others, or gain
// rights, or write what only admins of changeward may.
func reachesAround(rule map[string]any) bool {
	verbs, resources := texts(rule["verbs"]), texts(rule["resources"])
	any := func(list []string, want ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(want, s) })
	}
	return any(verbs, "impersonate", "bind", "escalate") ||
		any(verbs, "*") && any(resources, "*", "users", "groups", "serviceaccounts", "uids", "roles", "clusterroles") ||
		slices.ContainsFunc(texts(rule["apiGroups"]), ownGroup)
}

// fences are resources whose writers take changeward's fence down, or get the
// token of a gate or of a robot that approves, if they may do so everywhere.
func fences() []string {
	return []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies",
		"mutatingadmissionpolicybindings", "serviceaccounts/token"}
}

// opensFence says whether a rule lets its holder write one of them.
func opensFence(rule map[string]any) bool {
	among := func(member string, want ...string) bool {
		return slices.ContainsFunc(texts(rule[member]), func(s string) bool { return slices.Contains(want, s) })
	}
	return among("verbs", "*", "create", "update", "patch", "delete", "deletecollection") &&
		(among("resources", fences()...) || among("resources", "*") && among("apiGroups", "*", "", "admissionregistration.k8s.io"))
}

// around judges one member of a rule whose other members are not known.
func around(value any) bool {
	text, _ := value.(string)
	return IsDiffers(value) || ownGroup(text) || slices.Contains([]string{"*", "impersonate", "bind", "escalate",
		"users", "groups", "serviceaccounts", "uids", "roles", "clusterroles"}, text)
}
