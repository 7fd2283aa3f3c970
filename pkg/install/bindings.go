package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// accountGroup is the group of all service accounts of a namespace.
const accountGroup = "system:serviceaccounts:"

// IsGate says whether admission takes this person (with all groups) for a
// gate, given the further gate users and groups of the epoch.
func IsGate(person state.Person, users, groups []string) bool {
	return gateUser(person.Username, users) ||
		slices.ContainsFunc(person.Groups, func(g string) bool { return gateGroup(g, groups) })
}

func gateUser(name string, users []string) bool {
	account := strings.HasPrefix(name, "system:serviceaccount:")
	return slices.Contains(users, name) || account &&
		(strings.HasSuffix(name, ":"+GateAccount) || strings.HasPrefix(name, "system:serviceaccount:"+NamespaceGate+":"))
}

func gateGroup(name string, groups []string) bool {
	return name == GateGroup || name == accountGroup+NamespaceGate || slices.Contains(groups, name)
}

// splitGates parts subjects into those that admission takes for gates, and
// people.
func splitGates(all policy.Subjects, users, groups []string) (gates, people policy.Subjects) {
	for _, user := range all.Users {
		if gateUser(user, users) {
			gates.Users = append(gates.Users, user)
		} else {
			people.Users = append(people.Users, user)
		}
	}
	for _, group := range all.Groups {
		if gateGroup(group, groups) {
			gates.Groups = append(gates.Groups, group)
		} else {
			people.Groups = append(people.Groups, group)
		}
	}
	return gates, people
}

// peopleBindings are the bindings of the roles about records: one per role.
func peopleBindings(people policy.Roles, users, groups []string) []runtime.Object {
	installed := policy.Subjects{Groups: append([]string{GateGroup}, groups...), Users: users}
	proposing, persons := splitGates(people.Proposers, users, groups)
	gates := policy.Union(installed, proposing)
	accounts := policy.Subjects{Groups: []string{accountGroup + NamespaceGate, accountGroup + NamespaceApprovers}}
	everyone := policy.Union(people.Proposers, people.Approvers, people.Admins, people.Auditors, gates, accounts)
	return []runtime.Object{
		binding(Namespace, RolePropose, policy.Union(gates, persons)),
		binding(Namespace, RoleEnroll, policy.Union(persons)),
		binding(Namespace, RoleApprove, policy.Union(people.Approvers)),
		binding(Namespace, RoleAudit, policy.Union(people.Auditors)),
		binding(Namespace, RoleAdmin, policy.Union(people.Admins)),
		binding(NamespaceGate, RolePropose, policy.Union(persons)),
		binding(NamespaceGate, RoleGate, gates),
		clusterBinding(RoleRead, everyone),
	}
}

// planBindings give the planning rights to the gates that admission knows by
// group or name, cluster-wide or in each namespace of scope.
func planBindings(scope, users, groups []string) []runtime.Object {
	gates := policy.Union(policy.Subjects{Groups: append([]string{GateGroup}, groups...), Users: users})
	if len(scope) == 0 {
		return []runtime.Object{clusterBinding(RolePlan, gates)}
	}
	var all []runtime.Object
	for _, namespace := range scope {
		b := binding(namespace, RolePlan, gates)
		b.RoleRef.Kind = "ClusterRole"
		all = append(all, b)
	}
	return all
}

func binding(namespace, role string, who policy.Subjects) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{TypeMeta: typeMeta("RoleBinding"), ObjectMeta: meta(namespace, role),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacGroup, Kind: "Role", Name: role}, Subjects: subjects(who)}
}

func clusterBinding(role string, who policy.Subjects) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: meta("", role),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacGroup, Kind: "ClusterRole", Name: role}, Subjects: subjects(who)}
}

func subjects(who policy.Subjects) []rbacv1.Subject {
	var all []rbacv1.Subject
	for _, group := range who.Groups {
		all = append(all, rbacv1.Subject{APIGroup: rbacGroup, Kind: rbacv1.GroupKind, Name: group})
	}
	for _, user := range who.Users {
		all = append(all, rbacv1.Subject{APIGroup: rbacGroup, Kind: rbacv1.UserKind, Name: user})
	}
	return all
}

// SyncBindings keeps one RoleBinding per role in step with the people a policy
// names, and returns the changes as sentences; with dryRun it only returns
// them. epoch names the further gate users and groups. Planning rights are
// never touched.
func SyncBindings(ctx context.Context, cluster Cluster, people policy.Roles, epoch state.Epoch, dryRun bool) ([]string, error) {
	c, err := newClient(cluster)
	if err != nil {
		return nil, err
	}
	items, err := newItems(peopleBindings(people, epoch.GateUsers, epoch.GateGroups))
	if err != nil {
		return nil, err
	}
	var changes []string
	for i := range items {
		if err := c.observe(ctx, &items[i]); err != nil {
			return nil, err
		}
		changes = append(changes, items[i].subjectChanges()...)
	}
	if dryRun {
		return changes, nil
	}
	for i := range items {
		if err := c.ensure(ctx, &items[i]); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// subjectChanges are the sentences of SyncBindings about one binding.
func (i item) subjectChanges() []string {
	before, after := subjectNames(i.live), subjectNames(i.want)
	var changes []string
	for _, name := range after {
		if !slices.Contains(before, name) {
			changes = append(changes, fmt.Sprintf("%s: add %s", i, name))
		}
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			changes = append(changes, fmt.Sprintf("%s: remove %s", i, name))
		}
	}
	return changes
}

// subjectNames are "group:sre" and the like; none for no object.
func subjectNames(object *unstructured.Unstructured) []string {
	if object == nil {
		return nil
	}
	var typed rbacv1.RoleBinding
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return []string{err.Error()}
	}
	var names []string
	for _, s := range typed.Subjects {
		names = append(names, subjectName(s))
	}
	return names
}

// account is the subject of one service account.
func account(namespace, name string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
}

func tokenMeta(namespace, role, token string) metav1.ObjectMeta {
	m := meta(namespace, role+"."+token)
	m.Labels[labelToken] = token
	return m
}
