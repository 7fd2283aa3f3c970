package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/changeward/changeward/pkg/policy"
)

// identity is somebody about whom the server is asked: a user, a group alone,
// or a service account with its groups.
type identity struct {
	name   string // user:…, group:… or serviceaccount:…
	user   string
	groups []string
}

const authenticated = "system:authenticated"

func userIdentity(name string) identity {
	return identity{name: "user:" + name, user: name, groups: []string{authenticated}}
}

func groupIdentity(name string) identity {
	return identity{name: "group:" + name, groups: []string{name, authenticated}}
}

func accountIdentity(namespace, name string) identity {
	return identity{name: "serviceaccount:" + namespace + "/" + name, user: "system:serviceaccount:" + namespace + ":" + name,
		groups: []string{"system:serviceaccounts", accountGroup + namespace, authenticated}}
}

func identities(who policy.Subjects) []identity {
	var all []identity
	for _, group := range who.Groups {
		all = append(all, groupIdentity(group))
	}
	for _, user := range who.Users {
		all = append(all, userIdentity(user))
	}
	return all
}

// theyMay asks about somebody else; that takes the right to create
// SubjectAccessReviews.
func (c client) theyMay(who identity) func(context.Context, authorizationv1.ResourceAttributes) (bool, error) {
	return func(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
		review, err := c.typed.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: who.user, Groups: who.groups, ResourceAttributes: &what}}, metav1.CreateOptions{})
		if err != nil {
			return false, fmt.Errorf("ask for the rights of %s: %w", who.name, err)
		}
		if got := review.Spec.ResourceAttributes; got == nil || got.Verb != what.Verb || got.Resource != what.Resource || review.Spec.User != who.user {
			return false, errors.New("the server's answer is about another question")
		}
		return review.Status.Allowed, nil
	}
}

// recordRight is a right over records, in words, and which roles give it.
type recordRight struct {
	words  string
	what   authorizationv1.ResourceAttributes
	people func(policy.Roles) policy.Subjects // who should hold it, beside the admins
	grave  bool                               // nobody else's record is safe from who holds it
}

func recordRights() []recordRight {
	in := func(verb, resource string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: verb, Resource: resource}
	}
	virtual := func(verb string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: verb, Group: recordsGroup, Resource: recordsResource}
	}
	nobody := func(policy.Roles) policy.Subjects { return policy.Subjects{} }
	return []recordRight{
		{"read records", in("list", "secrets"), func(r policy.Roles) policy.Subjects { return policy.Union(r.Proposers, r.Approvers, r.Auditors) }, false},
		{"write plans", in("create", "secrets"), func(r policy.Roles) policy.Subjects { return r.Proposers }, false},
		{"write decisions and keys", in("create", "configmaps"), func(r policy.Roles) policy.Subjects { return policy.Union(r.Proposers, r.Approvers) }, false},
		{"delete plans", in("delete", "secrets"), nobody, false},
		{"delete decisions", in("delete", "configmaps"), nobody, false},
		{"purge records", virtual("purge"), nobody, true},
		{"set policy, roster and epoch", virtual("administer"), nobody, true},
	}
}

// gateIdentities are all that admission takes for gates: by group and user as
// the epoch names them, and the service accounts there are.
func (d examiner) gateIdentities(ctx context.Context) ([]identity, error) {
	epoch := d.history.epoch()
	all := identities(policy.Subjects{Groups: append([]string{GateGroup}, epoch.GateGroups...), Users: epoch.GateUsers})
	accounts, err := d.accounts(ctx, NamespaceGate, "")
	if err != nil {
		return nil, err
	}
	hooks, err := d.accounts(ctx, metav1.NamespaceAll, GateAccount)
	if err != nil {
		return nil, err
	}
	hooks = slices.DeleteFunc(hooks, func(i identity) bool { return slices.Contains(i.groups, accountGroup+NamespaceGate) })
	return slices.Concat(all, accounts, hooks), nil
}

func (d examiner) accounts(ctx context.Context, namespace, name string) ([]identity, error) {
	options := metav1.ListOptions{}
	if name != "" {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
	}
	list, err := d.client.typed.CoreV1().ServiceAccounts(namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("list service accounts: %w", err)
	}
	var all []identity
	for _, account := range list.Items {
		all = append(all, accountIdentity(account.Namespace, account.Name))
	}
	return all, nil
}

// gates asks for each gate whether it could take its own fence down, or
// remove or administer records.
func (d examiner) gates(ctx context.Context) Check {
	gates, err := d.gateIdentities(ctx)
	if err != nil {
		return unchecked(CheckGates, err)
	}
	var found []string
	for _, gate := range gates {
		may := d.client.theyMay(gate)
		held, err := powersOf(ctx, may)
		if err != nil {
			return unchecked(CheckGates, err)
		}
		for _, right := range recordRights() {
			allowed, err := may(ctx, right.what)
			if err != nil {
				return unchecked(CheckGates, err)
			}
			if allowed && right.grave {
				held = append(held, "may "+right.words)
			}
		}
		for _, sentence := range held {
			found = append(found, gate.name+" "+sentence)
		}
	}
	if len(found) > 0 {
		return Check{CheckGates, StatusFail, ReasonGateTooPowerful, strings.Join(found, "\n"),
			"take the role bindings away that grant these; a gate needs roles " + RolePropose + ", " + RoleGate + " and " + RolePlan}
	}
	return Check{CheckGates, StatusOK, "", fmt.Sprintf("none of %d gate identities could take its fence down, or remove or administer records", len(gates)), ""}
}

// people asks for everyone whom the policy names, and for each robot that may
// approve, whether they may do what the policy gives them, and no more.
// Admins of the policy may do all.
func (d examiner) people(ctx context.Context) Check {
	if d.history.policy == nil {
		return unchecked(CheckPeople, errors.New("no policy says who may do what"))
	}
	epoch, roles := d.history.epoch(), d.history.policy.Roles()
	robots, err := d.accounts(ctx, NamespaceApprovers, "")
	if err != nil {
		return unchecked(CheckPeople, err)
	}
	_, named := splitGates(policy.Union(roles.Proposers, roles.Approvers, roles.Auditors), epoch.GateUsers, epoch.GateGroups)
	admins := names(roles.Admins)
	check := Check{Name: CheckPeople, Status: StatusOK}
	var found []string
	count := 0
	for _, who := range append(identities(named), robots...) {
		if slices.Contains(admins, who.name) {
			continue
		}
		count++
		for _, right := range recordRights() {
			allowed, err := d.client.theyMay(who)(ctx, right.what)
			if err != nil {
				return unchecked(CheckPeople, err)
			}
			found = append(found, check.compare(who, right, allowed, roles)...)
		}
	}
	if len(found) > 0 {
		check.Message = strings.Join(found, "\n")
		return check
	}
	check.Message = fmt.Sprintf("the policy names %d people and groups that are no admins; each may do what it says, and no more", count)
	return check
}

// compare what somebody may do with what they should, and note the worst.
func (check *Check) compare(who identity, right recordRight, allowed bool, roles policy.Roles) []string {
	robot := slices.Contains(who.groups, accountGroup+NamespaceApprovers)
	should := slices.Contains(names(right.people(roles)), who.name)
	switch {
	case robot && !right.grave && (right.what.Verb == "list" || right.what.Resource == "configmaps" && right.what.Verb == "create"):
		return nil // one without a role is of no use, and does no harm
	case allowed == should:
		return nil
	case !allowed:
		if check.Status == StatusOK {
			check.Status, check.Reason, check.Fix = StatusWarn, ReasonRightsMissing, "set the policy again without --no-bindings, or bind the role from Git"
		}
		return []string{who.name + " may not " + right.words + ", though the policy says so"}
	}
	if right.grave {
		check.Status = StatusFail
	} else if check.Status == StatusOK {
		check.Status = StatusWarn
	}
	check.Reason, check.Fix = ReasonTooManyRights, "name them as admins in the policy, or take the role bindings away that grant these"
	return []string{who.name + " may " + right.words + ", and no role of the policy gives that"}
}

func names(who policy.Subjects) []string {
	var all []string
	for _, i := range identities(who) {
		all = append(all, i.name)
	}
	return all
}
