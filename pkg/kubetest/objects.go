package kubetest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/poll"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

// Namespace makes a namespace with a name of its own and, as the controller
// manager would, its default ServiceAccount. It is deleted when the test ends;
// without controllers it then stays in phase Terminating.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	client := c.Client(Admin).CoreV1()
	made, err := client.Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Namespaces().Delete(context.Background(), made.Name, metav1.DeleteOptions{})
	})
	_, err = client.ServiceAccounts(made.Name).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return made.Name
}

// Token asks for a token of a service account, valid for an hour.
func (c *Cluster) Token(t testing.TB, namespace, serviceAccount string) string {
	t.Helper()
	answer, err := c.Client(Admin).CoreV1().ServiceAccounts(namespace).
		CreateToken(t.Context(), serviceAccount, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status.Token
}

// Apply sends every document of the YAML texts as a real server-side apply of
// this user and field manager, in order, and returns what the server answered.
// A conflict fails the test. Namespaced objects name their namespace.
func (c *Cluster) Apply(t testing.TB, user, manager string, yamls ...string) []*unstructured.Unstructured {
	t.Helper()
	return c.apply(t, user, metav1.ApplyOptions{FieldManager: manager}, yamls)
}

// ForceApply is Apply that takes fields over from other managers.
func (c *Cluster) ForceApply(t testing.TB, user, manager string, yamls ...string) []*unstructured.Unstructured {
	t.Helper()
	return c.apply(t, user, metav1.ApplyOptions{FieldManager: manager, Force: true}, yamls)
}

func (c *Cluster) apply(t testing.TB, user string, options metav1.ApplyOptions, yamls []string) []*unstructured.Unstructured {
	t.Helper()
	var answers []*unstructured.Unstructured
	for _, object := range decode(t, yamls) {
		answer, err := c.resource(t, user, object).Apply(t.Context(), object.GetName(), object, options)
		if err != nil {
			t.Fatalf("apply %s %s/%s as %s: %v", object.GetKind(), object.GetNamespace(), object.GetName(), user, err)
		}
		answers = append(answers, answer)
	}
	return answers
}

// resource asks discovery afresh each time, and waits a while for a kind: a
// test may have just applied the CRD.
func (c *Cluster) resource(t testing.TB, user string, object *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	client, kind := discovery.NewDiscoveryClientForConfigOrDie(c.Config(Admin)), object.GroupVersionKind()
	var mapping *meta.RESTMapping
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		groups, err := restmapper.GetAPIGroupResources(client)
		if err != nil {
			return poll.Error(err)
		}
		if mapping, err = restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(kind.GroupKind(), kind.Version); err != nil {
			return poll.Continue("%v", err)
		}
		return poll.Success()
	}, poll.WithTimeout(15*time.Second))
	return c.Dynamic(user).Resource(mapping.Resource).Namespace(object.GetNamespace())
}

func decode(t testing.TB, yamls []string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, text := range yamls {
		decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
		for {
			object := &unstructured.Unstructured{}
			err := decoder.Decode(&object.Object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(object.Object) > 0 {
				objects = append(objects, object)
			}
		}
	}
	return objects
}
