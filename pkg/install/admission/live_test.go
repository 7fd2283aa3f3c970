package admission_test

import (
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/kubetest"
)

func TestTheLiveObjectsOfAFreshClusterMatchTheText(t *testing.T) {
	cluster := kubetest.Start(t)
	users, groups := []string{"zoe", `we"ird\name`, "system:serviceaccount:ci:deploy"}, []string{"arn:aws:iam::1:role/ci"}
	objects, err := admission.Render(users, groups)
	assert.NilError(t, err)
	var live []*unstructured.Unstructured
	for _, object := range objects {
		resource := "validatingadmissionpolicies"
		if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
			resource = "validatingadmissionpolicybindings"
		}
		gvr := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}
		made, err := cluster.Dynamic(kubetest.Admin).Resource(gvr).Create(t.Context(), object, metav1.CreateOptions{})
		assert.NilError(t, err)
		live = append(live, made)
	}
	version, ok := admission.Matches(live, users, groups)
	assert.Assert(t, ok)
	assert.Equal(t, version, admission.Version)
	_, ok = admission.Matches(live, users[:2], groups)
	assert.Assert(t, !ok, "another list of gates is another text")
	_, ok = admission.Matches(live[1:], users, groups)
	assert.Assert(t, !ok, "a missing object is no fence")
}
