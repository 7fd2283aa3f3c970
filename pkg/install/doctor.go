package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/state"
)

// Doctor examines an install as the caller (with all groups) sees it. An error
// means that nothing could be examined at all.
func Doctor(ctx context.Context, cluster Cluster, caller state.Person) (Report, error) {
	c, err := newClient(cluster)
	if err != nil {
		return Report{}, err
	}
	uid, err := c.clusterUID(ctx)
	if err != nil {
		return Report{}, err
	}
	history, err := readHistory(ctx, cluster.Store, uid)
	if err != nil && !errors.Is(err, state.ErrForbidden) {
		return Report{Checks: []Check{{CheckInstalled, StatusFail, ReasonRecordsBroken, err.Error(), "restore the records, or uninstall and install anew"}}}, nil
	}
	forbidden := err
	d := examiner{client: c, cluster: cluster, caller: caller, history: history}
	var report Report
	for _, check := range []func(context.Context) Check{
		func(context.Context) Check { return d.installed(forbidden) },
		d.versions, d.rights, d.gateKey, d.digestKey, d.admission, d.power, d.separation,
		d.expiry, d.keys, d.gates, d.people, d.tokens, d.hooks,
	} {
		report.Checks = append(report.Checks, check(ctx))
	}
	report.Checks = append(report.Checks, d.around(ctx)...)
	return report, nil
}

type examiner struct {
	client  client
	cluster Cluster
	caller  state.Person
	history history
}

func (d examiner) installed(forbidden error) Check {
	switch {
	case forbidden != nil:
		return Check{CheckInstalled, StatusFail, ReasonUnchecked, forbidden.Error(), "ask an admin for a role: `kubectl changeward policy set` with you in the policy"}
	case d.history.policy == nil && len(d.history.epochs) == 0:
		return Check{CheckInstalled, StatusFail, ReasonNotInstalled, "changeward is not installed in this cluster", "run `kubectl changeward install`"}
	case d.history.policy == nil || len(d.history.epochs) == 0:
		return Check{CheckInstalled, StatusFail, ReasonNotInstalled, "the install is not finished", "run `kubectl changeward install` again"}
	}
	return Check{CheckInstalled, StatusOK, "", fmt.Sprintf("cluster %q (%s), epoch %d", d.history.policy.ClusterName,
		d.history.policy.Env, d.history.epoch().Version), ""}
}

// versions names policies, rosters and epochs that count for nothing: somebody
// who may not has tried to set one.
func (d examiner) versions(context.Context) Check {
	if d.history.book == nil {
		return Check{CheckVersions, StatusWarn, ReasonUnchecked, "you may not read the records", "let an admin run the doctor"}
	}
	var names []string
	for _, r := range d.history.refused() {
		names = append(names, fmt.Sprintf("%s (%s)", r.Name, r.Detail))
	}
	if len(names) > 0 {
		return Check{CheckVersions, StatusFail, ReasonNotEntitled, "these count for nothing: " + strings.Join(names, "; "), "find out who wrote them, then delete these ConfigMaps of namespace " + Namespace}
	}
	return Check{CheckVersions, StatusOK, "", "every version of policy, roster and epoch was set by an admin", ""}
}

// decides is the right to write what people say. By role a gate of the whole
// cluster holds it too, for its dry runs; admission lets it say nothing.
const decides = "decide"

// rights says what the caller may do, by role.
func (d examiner) rights(ctx context.Context) Check {
	var can []string
	for _, right := range []struct {
		word string
		what authorizationv1.ResourceAttributes
	}{
		{"read records", authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: "list", Resource: "secrets"}},
		{"propose", authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: "create", Resource: "secrets"}},
		{decides, authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: "create", Resource: "configmaps"}},
		{"administer", authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: "administer", Group: recordsGroup, Resource: recordsResource}},
	} {
		allowed, err := d.client.may(ctx, right.what)
		if err != nil {
			return Check{CheckRights, StatusFail, ReasonUnchecked, fmt.Sprintf("cannot ask for rights: %v", err), ""}
		}
		if allowed && !(right.word == decides && d.isGate()) {
			can = append(can, right.word)
		}
	}
	who := d.caller.Username
	if d.isGate() {
		who += " (a gate)"
	}
	if len(can) == 0 {
		return Check{CheckRights, StatusFail, ReasonNoRole, who + " has no role", "ask an admin to name you in the policy"}
	}
	return Check{CheckRights, StatusOK, "", who + " may " + strings.Join(can, ", "), ""}
}

func (d examiner) isGate() bool {
	epoch := d.history.epoch()
	return IsGate(d.caller, epoch.GateUsers, epoch.GateGroups)
}

func (d examiner) gateKey(ctx context.Context) Check {
	public, err := d.client.gatePublic(ctx)
	switch {
	case apierrors.IsForbidden(err) && !d.isGate():
		return Check{CheckGateKey, StatusOK, "", "only gates read it; your own key signs what you record", ""}
	case err != nil:
		return Check{CheckGateKey, StatusFail, ReasonUnchecked, err.Error(), "bind role " + RoleGate + " in namespace " + NamespaceGate}
	case public == "":
		return Check{CheckGateKey, StatusFail, ReasonKeyMissing, "the gate key is missing", "run `kubectl changeward install` again"}
	case public != d.history.epoch().GateKey:
		return Check{CheckGateKey, StatusFail, ReasonGateKeyChanged, "the gate key is not the one that the epoch names", "run `kubectl changeward install` again"}
	}
	return Check{CheckGateKey, StatusOK, "", "the gate key is the one that the epoch names", ""}
}

func (d examiner) digestKey(ctx context.Context) Check {
	there, err := d.client.digestKey(ctx)
	proposes, asked := d.client.may(ctx, authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: "create", Resource: "secrets"})
	switch {
	case apierrors.IsForbidden(err) && asked == nil && !proposes:
		return Check{CheckDigestKey, StatusOK, "", "only who proposes needs it", ""}
	case err != nil:
		return Check{CheckDigestKey, StatusFail, ReasonUnchecked, err.Error(), "bind role " + RolePropose + " in namespace " + NamespaceGate}
	case !there:
		return Check{CheckDigestKey, StatusFail, ReasonKeyMissing, "the digest key is missing: plans with Secrets cannot be approved", "run `kubectl changeward install` again"}
	}
	return Check{CheckDigestKey, StatusOK, "", "Secret values are bound by the digest key", ""}
}

func (d examiner) admission(ctx context.Context) Check {
	standing := Attest(ctx, d.cluster, d.history.epochs)
	switch standing.Void {
	case "":
		if !d.fencesRobots() {
			return Check{CheckAdmission, StatusWarn, ReasonAdmissionOld, fmt.Sprintf("the admission policies act, unchanged since epoch %d, with the text of version %d: "+
				"it lets who may create Pods in namespace %s get the token of a robot that approves", standing.Epoch, d.history.epoch().Admission, NamespaceApprovers),
				"run `kubectl changeward install` again: what was recorded stays as good as it is"}
		}
		return Check{CheckAdmission, StatusOK, "", fmt.Sprintf("the admission policies act, unchanged since epoch %d", standing.Epoch), ""}
	case ReasonCanaryForbidden, ReasonAdmissionUnreadable:
		return Check{CheckAdmission, StatusWarn, standing.Void, standing.Void + ": " + standing.Detail, "let a gate or an admin run the doctor"}
	}
	return Check{CheckAdmission, StatusFail, standing.Void, standing.Void + ": " + standing.Detail, "run `kubectl changeward install` again: it shows what it will mend"}
}

// fencesRobots says that admission keeps others than admins from starting what
// runs as a robot that approves.
func (d examiner) fencesRobots() bool { return d.history.epoch().Admission >= 2 }

func (d examiner) power(ctx context.Context) Check {
	found, err := GateTooPowerful(ctx, d.client.typed)
	switch {
	case err != nil:
		return Check{CheckPower, StatusFail, ReasonUnchecked, err.Error(), ""}
	case len(found) > 0 && d.isGate():
		return Check{CheckPower, StatusFail, ReasonGateTooPowerful, ReasonGateTooPowerful + ": " + strings.Join(found, "; "),
			"bind roles " + RolePropose + " and " + RolePlan + " to the gate, and nothing that grants these"}
	case len(found) > 0:
		return Check{CheckPower, StatusOK, "", fmt.Sprintf("you are no gate; you could take the admission policies down (%d rights)", len(found)), ""}
	}
	return Check{CheckPower, StatusOK, "", "you cannot take the admission policies down", ""}
}

// separation lists who holds both the role to propose and the role to approve:
// only signatures keep these apart.
func (d examiner) separation(ctx context.Context) Check {
	propose, err := d.holders(ctx, RolePropose)
	if err != nil {
		return unchecked(CheckSeparate, err)
	}
	approve, err := d.holders(ctx, RoleApprove)
	if err != nil {
		return unchecked(CheckSeparate, err)
	}
	both := slices.DeleteFunc(propose, func(name string) bool { return !slices.Contains(approve, name) })
	if len(both) > 0 {
		return Check{CheckSeparate, StatusWarn, ReasonBothRoles, "may propose and approve: " + strings.Join(both, ", "), "give each one role in the policy"}
	}
	return Check{CheckSeparate, StatusOK, "", "no name is bound both to propose and to approve; who is in which group, only signatures tell", ""}
}

func (d examiner) holders(ctx context.Context, role string) ([]string, error) {
	list, err := d.client.typed.RbacV1().RoleBindings(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list role bindings of namespace %s: %w", Namespace, err)
	}
	var names []string
	for _, binding := range list.Items {
		if binding.RoleRef.Name != role {
			continue
		}
		for _, s := range binding.Subjects {
			names = append(names, subjectName(s))
		}
	}
	return sorted(names), nil
}

func subjectName(s rbacv1.Subject) string {
	if s.Namespace != "" {
		return strings.ToLower(s.Kind) + ":" + s.Namespace + "/" + s.Name
	}
	return strings.ToLower(s.Kind) + ":" + s.Name
}
