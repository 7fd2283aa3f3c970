package apply

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/plan"
)

func TestWhatOthersNeedIsWrittenFirstAndDeletedLast(t *testing.T) {
	var tasks []Task
	for _, operation := range []plan.Operation{plan.Delete, plan.Create} {
		for _, kind := range [][2]string{{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}, {"apps", "Deployment"},
			{"example.com", "Basket"}, {"", "ConfigMap"}, {"rbac.authorization.k8s.io", "Role"}, {"apiextensions.k8s.io", "CustomResourceDefinition"}, {"", "Namespace"}} {
			tasks = append(tasks, Task{Change: plan.Change{Body: plan.Body{Group: kind[0], Kind: kind[1], Operation: operation}}})
		}
	}
	Sort(tasks)
	var order []string
	for _, task := range tasks {
		order = append(order, string(task.Change.Body.Operation)+" "+task.Change.Body.Kind)
	}
	assert.DeepEqual(t, order, []string{"create Namespace", "create CustomResourceDefinition", "create Role", "create Basket", "create ConfigMap",
		"create Deployment", "create ValidatingWebhookConfiguration", "delete ValidatingWebhookConfiguration", "delete Deployment", "delete Basket",
		"delete ConfigMap", "delete Role", "delete CustomResourceDefinition", "delete Namespace"})
}
