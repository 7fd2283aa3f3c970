package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/changeward/changeward/pkg/install/admission"
)

// questions at once.
const askLimit = 8

// power is a right by which an identity could step around the fence.
type power struct {
	verbs []string
	what  authorizationv1.ResourceAttributes // without a verb
	why   string
}

// powers are all known ones. No admission policy sees a write to admission
// policies; an impersonator is no gate any more; the kubelet behind
// nodes/proxy asks no admission policy.
func powers() []power {
	var all []power
	for _, resource := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings",
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
		what := authorizationv1.ResourceAttributes{Group: admissionGroup, Resource: resource}
		all = append(all, power{[]string{"create", "update", "patch", "delete", "deletecollection"}, what, "no admission policy guards them"})
		for _, name := range []string{admission.GatePolicy, admission.RecordsPolicy} {
			if what.Name = name; strings.HasPrefix(resource, "validating") {
				all = append(all, power{[]string{"update", "patch", "delete"}, what, "it is changeward's own fence"})
			}
		}
	}
	for _, resource := range []string{"users", "groups", "serviceaccounts"} {
		all = append(all, power{[]string{"impersonate"}, authorizationv1.ResourceAttributes{Resource: resource}, "as another it is no gate"})
	}
	for _, resource := range []string{"users", "serviceaccounts"} { // the newer, narrower verbs
		what := authorizationv1.ResourceAttributes{Group: "authentication.k8s.io", Resource: resource}
		all = append(all, power{[]string{"impersonate:user-info", "impersonate:serviceaccount"}, what, "as another it is no gate"})
	}
	return append(all, power{[]string{"get", "create"}, authorizationv1.ResourceAttributes{Resource: "nodes", Subresource: "proxy"},
		"the kubelet asks no admission policy"})
}

// GateTooPowerful lists the rights by which the caller could take the fence
// down or step around it, as sentences; none is fine. For a gate any of them
// refuses the plan (ReasonGateTooPowerful), for a person it is a note. An
// error means that it could not be found out.
func GateTooPowerful(ctx context.Context, typed kubernetes.Interface) ([]string, error) {
	c := client{typed: typed}
	group, ctx := errgroup.WithContext(ctx)
	var asked, listed []string
	group.Go(func() (err error) { asked, err = powersOf(ctx, c.may); return err })
	group.Go(func() (err error) { listed, err = c.namedImpersonation(ctx); return err })
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("ask for own rights: %w", err)
	}
	return append(asked, listed...), nil
}

// powersOf asks about every power, as sentences about those that are held.
func powersOf(ctx context.Context, may func(context.Context, authorizationv1.ResourceAttributes) (bool, error)) ([]string, error) {
	all := powers()
	found := make([][]string, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askLimit)
	for n, p := range all {
		group.Go(func() error {
			for _, verb := range p.verbs {
				question := p.what
				question.Verb = verb
				allowed, err := may(ctx, question)
				if err != nil {
					return err
				}
				if allowed {
					found[n] = append(found[n], verb)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return sentences(all, found), nil
}

func sentences(all []power, found [][]string) []string {
	var out []string
	seen := map[string]bool{}
	for n, p := range all {
		kind := p.what.Group + "/" + p.what.Resource
		if len(found[n]) == 0 || seen[kind] && p.what.Name != "" {
			continue // a right over all of them was named already
		}
		seen[kind] = true
		out = append(out, fmt.Sprintf("may %s %s: %s", strings.Join(found[n], ", "), resourceName(p.what), p.why))
	}
	return out
}

func resourceName(what authorizationv1.ResourceAttributes) string {
	name := what.Resource
	if what.Subresource != "" {
		name += "/" + what.Subresource
	}
	if what.Group != "" {
		name += "." + what.Group
	}
	if what.Name != "" {
		name += " " + what.Name
	}
	return name
}

// namedImpersonation finds rights to impersonate single names, which no
// question without a name would find.
func (c client) namedImpersonation(ctx context.Context) ([]string, error) {
	review, err := c.typed.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: Namespace}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if len(review.Status.ResourceRules)+len(review.Status.NonResourceRules) == 0 {
		return nil, errors.New("the server's answer lists none, though everyone has some")
	}
	var out []string
	for _, rule := range review.Status.ResourceRules {
		impersonates := slices.ContainsFunc(rule.Verbs, func(v string) bool { return strings.HasPrefix(v, "impersonate") })
		if impersonates && len(rule.ResourceNames) > 0 {
			out = append(out, fmt.Sprintf("may impersonate %s %s: as another it is no gate",
				strings.Join(rule.Resources, ", "), strings.Join(rule.ResourceNames, ", ")))
		}
	}
	return out, nil
}

// may asks the API server whether the caller has a right.
func (c client) may(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	review, err := c.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	if got := review.Spec.ResourceAttributes; got == nil || got.Verb != what.Verb || got.Resource != what.Resource {
		return false, errors.New("the server's answer is about another question")
	}
	return review.Status.Allowed, nil
}
