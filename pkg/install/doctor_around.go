package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/state"
)

// bootstrapping labels the bindings that a cluster comes with.
const bootstrapping = "kubernetes.io/bootstrapping"

// way is a way around a promise that RBAC can open, and what closes it.
type way struct {
	check      string
	words, fix string
	verbs      []string
	group      string
	resources  []string
	names      []string // of single objects that matter; nil: any
	namespaces []string // where a role of a namespace opens it; nil: nowhere
}

// ways are all known ones; fenced says that admission closes the one by way of
// the robots. The gates are not asked about here: CheckGates does.
func ways(fenced bool) []way {
	token, own := "get a token of a gate or of a robot that approves", []string{NamespaceGate, NamespaceApprovers}
	if fenced {
		token, own = "get a token of a gate", own[:1]
	}
	take := "take the role bindings away that grant it, or name them as admins in the policy"
	return []way{
		{CheckFence, "change or remove the admission policies", take + "; the epoch shows when it is done", []string{"create", "update", "patch", "delete", "deletecollection"}, admissionGroup,
			[]string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"}, []string{admission.GatePolicy, admission.RecordsPolicy}, nil},
		{CheckImpersonate, "act as somebody else, which admission cannot see", take + "; keep identity: both, so that a signature is needed as well", []string{"impersonate"}, "",
			[]string{"users", "groups", "serviceaccounts"}, nil, []string{NamespaceGate, NamespaceApprovers}},
		{CheckPurge, "delete records for good, or set policy, roster and epoch", take + "; keep the chain head that the gate prints elsewhere", []string{"purge", "administer"}, recordsGroup,
			[]string{recordsResource}, nil, []string{Namespace}},
		{CheckMint, token, take, []string{"create"}, "",
			[]string{"serviceaccounts/token", "pods", "secrets"}, nil, own},
		{CheckReadKey, "read the gate's signing key", take + "; run `kubectl changeward install` again for a new one once that key Secret is deleted", []string{"get", "list", "watch"}, "",
			[]string{"secrets"}, []string{GateKeySecret}, []string{NamespaceGate}},
		{CheckGrant, "grant rights that they do not hold", take, []string{"bind", "escalate"}, rbacGroup,
			[]string{"roles", "clusterroles"}, nil, []string{Namespace, NamespaceGate, NamespaceApprovers}},
	}
}

// grant is one binding with the rules that it gives.
type grant struct {
	namespace string // "": the whole cluster
	rules     []rbacv1.PolicyRule
	subjects  []rbacv1.Subject
}

// around says for each way who could go it: by RBAC, with the groups and names
// as bindings have them. What another authorizer allows it does not see.
func (d examiner) around(ctx context.Context) []Check {
	grants, err := d.grants(ctx)
	var all []Check
	for _, w := range ways(d.fencesRobots()) {
		if err != nil {
			all = append(all, unchecked(w.check, err))
			continue
		}
		all = append(all, d.goes(w, grants))
	}
	return all
}

func (d examiner) goes(w way, grants []grant) Check {
	var admins []string
	if d.history.policy != nil {
		admins = names(d.history.policy.Admins.Subjects)
	}
	var who, entitled []string
	for _, g := range grants {
		if g.namespace != "" && !slices.Contains(w.namespaces, g.namespace) || !slices.ContainsFunc(g.rules, w.opens) {
			continue
		}
		for _, s := range g.subjects {
			switch name := subjectName(s); {
			case d.gateSubject(s):
			case slices.Contains(admins, name):
				entitled = append(entitled, name)
			default:
				who = append(who, name)
			}
		}
	}
	if who = sorted(who); len(who) > 0 {
		return Check{w.check, StatusWarn, ReasonWayAround, "no admins of the policy, and may " + w.words + ": " + strings.Join(who, ", "), w.fix}
	}
	message := "only system:masters and the cluster's own controllers may " + w.words
	if entitled = sorted(entitled); len(entitled) > 0 {
		message += ", and admins of the policy: " + strings.Join(entitled, ", ")
	}
	return Check{w.check, StatusOK, "", message, ""}
}

func (d examiner) gateSubject(s rbacv1.Subject) bool {
	epoch := d.history.epoch()
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		return gateUser("system:serviceaccount:"+s.Namespace+":"+s.Name, epoch.GateUsers)
	case rbacv1.UserKind:
		return IsGate(state.Person{Username: s.Name}, epoch.GateUsers, epoch.GateGroups)
	}
	return gateGroup(s.Name, epoch.GateGroups)
}

// opens says that a rule grants one of the verbs on one of the resources.
func (w way) opens(rule rbacv1.PolicyRule) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, want)
	}
	verb := slices.ContainsFunc(w.verbs, func(v string) bool {
		return has(rule.Verbs, v) || v == "impersonate" && slices.ContainsFunc(rule.Verbs, func(r string) bool { return strings.HasPrefix(r, "impersonate") })
	})
	resource := slices.ContainsFunc(w.resources, func(r string) bool {
		_, sub, nested := strings.Cut(r, "/")
		return has(rule.Resources, r) || nested && slices.Contains(rule.Resources, "*/"+sub)
	})
	group := has(rule.APIGroups, w.group) || w.group == "" && slices.Contains(rule.APIGroups, "authentication.k8s.io")
	named := len(rule.ResourceNames) == 0 || w.names == nil ||
		slices.ContainsFunc(w.names, func(n string) bool { return slices.Contains(rule.ResourceNames, n) })
	return verb && resource && group && named
}

// grants are all bindings of the cluster and of changeward's namespaces, but
// for those that every cluster comes with.
func (d examiner) grants(ctx context.Context) ([]grant, error) {
	rbac, foreign := d.client.typed.RbacV1(), metav1.ListOptions{LabelSelector: "!" + bootstrapping}
	clusterRoles, err := rbac.ClusterRoles().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list cluster roles: %w", err)
	}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, role := range clusterRoles.Items {
		rules["/"+role.Name] = role.Rules
	}
	bindings, err := rbac.ClusterRoleBindings().List(ctx, foreign)
	if err != nil {
		return nil, fmt.Errorf("list cluster role bindings: %w", err)
	}
	var all []grant
	for _, b := range bindings.Items {
		all = append(all, grant{rules: rules["/"+b.RoleRef.Name], subjects: b.Subjects})
	}
	for _, namespace := range []string{Namespace, NamespaceGate, NamespaceApprovers} {
		local, err := d.localGrants(ctx, namespace, rules)
		if err != nil {
			return nil, err
		}
		all = append(all, local...)
	}
	return all, nil
}

// localGrants are the bindings of a namespace; rules are those of cluster
// roles, by "/" and name.
func (d examiner) localGrants(ctx context.Context, namespace string, rules map[string][]rbacv1.PolicyRule) ([]grant, error) {
	roles, err := d.client.typed.RbacV1().Roles(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list roles of namespace %s: %w", namespace, err)
	}
	own := map[string][]rbacv1.PolicyRule{}
	for _, role := range roles.Items {
		own[role.Name] = role.Rules
	}
	bindings, err := d.client.typed.RbacV1().RoleBindings(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list role bindings of namespace %s: %w", namespace, err)
	}
	var all []grant
	for _, b := range bindings.Items {
		granted := own[b.RoleRef.Name]
		if b.RoleRef.Kind == "ClusterRole" {
			granted = rules["/"+b.RoleRef.Name]
		}
		all = append(all, grant{namespace: namespace, rules: granted, subjects: b.Subjects})
	}
	return all, nil
}
