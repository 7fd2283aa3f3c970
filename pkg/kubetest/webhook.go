package kubetest

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mutate has a webhook of this process change what is written to some
// namespaces: every object of these resources ("configmaps", "deployments")
// gets the annotations that annotate answers. The webhook says that dry runs have no
// side effects. It is gone when the test ends.
func (c *Cluster) Mutate(t testing.TB, namespaces, resources []string, annotate func() map[string]string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		patch, patchType := annotations(review.Request.Object.Raw, annotate()), admissionv1.PatchTypeJSONPatch
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: &patchType}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	none, fail := registrationv1.SideEffectClassNone, registrationv1.Fail
	client := c.Client(Admin).AdmissionregistrationV1().MutatingWebhookConfigurations()
	made, err := client.Create(t.Context(), &registrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "kubetest-"},
		Webhooks: []registrationv1.MutatingWebhook{{
			Name: "mutate.kubetest.test", SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: registrationv1.WebhookClientConfig{URL: &server.URL, CABundle: ca},
			NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: namespaces}}},
			Rules: []registrationv1.RuleWithOperations{{
				Operations: []registrationv1.OperationType{registrationv1.Create, registrationv1.Update},
				Rule:       registrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: resources},
			}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Delete(context.Background(), made.Name, metav1.DeleteOptions{}) })
}

// annotations is the patch that adds annotations to an object.
func annotations(object []byte, add map[string]string) []byte {
	var have metav1.PartialObjectMetadata
	_ = json.Unmarshal(object, &have)
	all := map[string]string{}
	for key, value := range have.Annotations {
		all[key] = value
	}
	for key, value := range add {
		all[key] = value
	}
	patch, _ := json.Marshal([]map[string]any{{"op": "add", "path": "/metadata/annotations", "value": all}})
	return patch
}
