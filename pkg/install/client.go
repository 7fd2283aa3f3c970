package install

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// client reads and writes objects as the caller.
type client struct {
	dynamic dynamic.Interface
	typed   kubernetes.Interface
}

func newClient(cluster Cluster) (client, error) {
	config := rest.CopyConfig(cluster.Config)
	config.QPS = -1 // the server's own limits count
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return client{}, fmt.Errorf("client for the install: %w", err)
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return client{}, fmt.Errorf("client for the install: %w", err)
	}
	return client{dynamic: untyped, typed: typed}, nil
}

// resource is where objects of a kind are served; only kinds that an install
// makes are known.
func resource(kind string) schema.GroupVersionResource {
	switch kind {
	case "ValidatingAdmissionPolicy":
		return schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	case "ValidatingAdmissionPolicyBinding":
		return schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}
	case "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding":
		plural := map[string]string{"Role": "roles", "ClusterRole": "clusterroles", "RoleBinding": "rolebindings", "ClusterRoleBinding": "clusterrolebindings"}
		return schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: plural[kind]}
	case "Namespace":
		return schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	case "Secret":
		return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	case "ServiceAccount":
		return schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	}
	return schema.GroupVersionResource{}
}

func (c client) at(object *unstructured.Unstructured) dynamic.ResourceInterface {
	served := c.dynamic.Resource(resource(object.GetKind()))
	if object.GetNamespace() == "" {
		return served
	}
	return served.Namespace(object.GetNamespace())
}

// observe fills in the live object. An object that is going away is an error:
// nothing can be built on it.
func (c client) observe(ctx context.Context, i *item) error {
	live, err := c.at(i.want).Get(ctx, i.want.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		i.live = nil
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", i, err)
	case live.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s is being deleted: wait until it is gone", i)
	}
	i.live = live
	return nil
}

// ensure does what action says, and keeps the written object as live.
func (c client) ensure(ctx context.Context, i *item) error {
	var err error
	switch i.action() {
	case ActionCreate:
		var made *unstructured.Unstructured
		if made, err = c.at(i.want).Create(ctx, i.want, metav1.CreateOptions{FieldManager: partOf}); err == nil {
			i.live = made
		}
	case ActionUpdate:
		var made *unstructured.Unstructured
		if made, err = c.at(i.want).Update(ctx, i.merged(), metav1.UpdateOptions{FieldManager: partOf}); err == nil {
			i.live = made
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", i.action(), i, err)
	}
	return nil
}
