package install

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/state"
)

// fenceFall is how long a server may go on refusing after the fence is gone.
const fenceFall = 10 * time.Second

// Removal is an uninstall that was observed and not yet carried out.
type Removal struct {
	cluster Cluster
	client  client
	found   []*unstructured.Unstructured
	tasks   []task
}

// PrepareUninstall lists what an install left in the cluster: what carries its
// label, and its fence and namespaces by name. It asks the server by dry run
// whether each may be deleted, so that nobody stops half way.
func PrepareUninstall(ctx context.Context, cluster Cluster) (*Removal, error) {
	c, err := newClient(cluster)
	if err != nil {
		return nil, err
	}
	r := &Removal{cluster: cluster, client: c}
	// The bindings go first: a standing fence keeps the namespaces from going.
	for _, kind := range []string{"ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"} {
		for _, name := range []string{admission.RecordsPolicy, admission.GatePolicy} {
			if err := r.find(ctx, kind, name); err != nil {
				return nil, err
			}
		}
	}
	fence := len(r.found)
	for _, name := range []string{Namespace, NamespaceGate, NamespaceApprovers} {
		if err := r.find(ctx, "Namespace", name); err != nil {
			return nil, err
		}
	}
	if err := r.findRights(ctx); err != nil {
		return nil, err
	}
	if err := r.rehearse(ctx); err != nil {
		return nil, err
	}
	return r, r.decide(ctx, fence)
}

func (r *Removal) find(ctx context.Context, kind, name string) error {
	object, err := r.client.dynamic.Resource(resource(kind)).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s/%s: %w", kind, name, err)
	}
	r.found = append(r.found, object)
	return nil
}

// findRights finds roles, bindings and service accounts outside of changeward's own namespaces,
// which take theirs along.
func (r *Removal) findRights(ctx context.Context) error {
	for _, kind := range []string{"ClusterRoleBinding", "RoleBinding", "ClusterRole", "ServiceAccount"} {
		list, err := r.client.dynamic.Resource(resource(kind)).List(ctx, metav1.ListOptions{LabelSelector: labelPartOf + "=" + partOf})
		if err != nil {
			return fmt.Errorf("list %s: %w", resource(kind).Resource, err)
		}
		for _, object := range list.Items {
			switch object.GetNamespace() {
			case Namespace, NamespaceGate, NamespaceApprovers:
				continue
			}
			r.found = append(r.found, &object)
		}
	}
	return nil
}

func (r *Removal) rehearse(ctx context.Context) error {
	for _, object := range r.found {
		if err := r.delete(ctx, object, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			return err
		}
	}
	return nil
}

func (r *Removal) delete(ctx context.Context, object *unstructured.Unstructured, options metav1.DeleteOptions) error {
	uid := object.GetUID()
	options.Preconditions = &metav1.Preconditions{UID: &uid}
	err := r.client.at(object).Delete(ctx, object.GetName(), options)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", objectName(object), err)
	}
	return nil
}

func (r *Removal) decide(ctx context.Context, fence int) error {
	for n, object := range r.found {
		if n == fence && fence > 0 {
			r.add(ActionWait, "ValidatingAdmissionPolicyBinding/"+admission.RecordsPolicy, "until it no longer acts", r.awaitFall)
		}
		detail := ""
		if object.GetKind() == "Namespace" {
			var err error
			if detail, err = r.loss(ctx, object.GetName()); err != nil {
				return err
			}
		}
		r.add(ActionDelete, objectName(object), detail, func(ctx context.Context) error {
			return r.delete(ctx, object, metav1.DeleteOptions{})
		})
	}
	for _, object := range r.found {
		if object.GetKind() == "Namespace" {
			r.add(ActionWait, objectName(object), "until it is gone", func(ctx context.Context) error { return r.awaitGone(ctx, object) })
		}
	}
	return nil
}

func (r *Removal) add(action, object, detail string, run func(context.Context) error) {
	r.tasks = append(r.tasks, task{Step: Step{Action: action, Object: object, Detail: detail}, run: run})
}

// loss says what dies with a namespace.
func (r *Removal) loss(ctx context.Context, namespace string) (string, error) {
	switch namespace {
	case NamespaceGate:
		return "with the gate's keys and all its service accounts", nil
	case NamespaceApprovers:
		return "with all its service accounts", nil
	}
	total := 0
	for _, t := range state.Types() {
		list, err := r.cluster.Store.List(ctx, t, state.Selector{})
		if err != nil {
			return "", fmt.Errorf("count the records: %w", err)
		}
		total += len(list)
	}
	return fmt.Sprintf("%d records are lost for good: plans, approvals, the audit chain", total), nil
}

// Steps lists what Apply will do, in order; none: nothing is installed.
func (r *Removal) Steps() []Step { return steps(r.tasks) }

// Apply deletes: bindings, policies, then namespaces with all records, roles
// last. It returns when nothing is left; ctx bounds how long it waits for the
// namespaces. It can be prepared and run again.
func (r *Removal) Apply(ctx context.Context, done func(Step)) error {
	return runAll(ctx, r.tasks, done)
}

// awaitFall gives the servers time to forget the fence; one that has not yet
// only slows the namespace down.
func (r *Removal) awaitFall(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, fenceInterval, fenceFall, true, func(ctx context.Context) (bool, error) {
		return r.cluster.Store.Canary(ctx, falseActor) != nil, nil
	})
	if wait.Interrupted(err) {
		return ctx.Err()
	}
	return err
}

func (r *Removal) awaitGone(ctx context.Context, object *unstructured.Unstructured) error {
	err := wait.PollUntilContextCancel(ctx, fenceInterval, true, func(ctx context.Context) (bool, error) {
		live, err := r.client.at(object).Get(ctx, object.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && live.GetUID() != object.GetUID(), err
	})
	if err != nil {
		return fmt.Errorf("%s is still there: %w", objectName(object), err)
	}
	return nil
}
