package install_test

import (
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
)

func TestAnUninstallLeavesNothing(t *testing.T) {
	c := kubetest.StartWithControllers(t)
	o := options(t, c)
	o.Scope = []string{"default"}
	mustInstall(t, c, o)
	gateToken(t, c, "ci", "default")
	theTextHasNoTypeErrors(t, c)

	// Who deletes the namespace first gets one that hangs: the fence keeps the records.
	namespaces := c.Client(kubetest.Admin).CoreV1().Namespaces()
	assert.NilError(t, namespaces.Delete(t.Context(), install.Namespace, metav1.DeleteOptions{}))
	_, err := install.Prepare(t.Context(), as(t, c.Config(kubetest.Admin)), o)
	assert.ErrorContains(t, err, "Namespace/changeward is being deleted")

	where := as(t, c.Config(kubetest.Admin))
	removal, err := install.PrepareUninstall(t.Context(), where)
	assert.NilError(t, err)
	steps := removal.Steps()
	assert.Equal(t, steps[0].Object, "ValidatingAdmissionPolicyBinding/changeward-records")
	assert.Assert(t, cmp.Contains(steps, install.Step{Action: install.ActionDelete, Object: "Namespace/changeward",
		Detail: "3 records are lost for good: plans, approvals, the audit chain"}))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	assert.NilError(t, removal.Apply(ctx, nil))

	again, err := install.PrepareUninstall(t.Context(), where)
	assert.NilError(t, err)
	assert.Equal(t, len(again.Steps()), 0, "%v", again.Steps())
	for _, name := range []string{install.Namespace, install.NamespaceGate, install.NamespaceApprovers} {
		_, err := namespaces.Get(t.Context(), name, metav1.GetOptions{})
		assert.Assert(t, apierrors.IsNotFound(err), "%s: %v", name, err)
	}
	o.Signer = newSigner(t)
	mustInstall(t, c, o)
}

// theTextHasNoTypeErrors waits for the controller that checks expressions
// against the schema of what they match.
func theTextHasNoTypeErrors(t *testing.T, c *kubetest.Cluster) {
	t.Helper()
	policies := c.Client(kubetest.Admin).AdmissionregistrationV1().ValidatingAdmissionPolicies()
	for _, name := range []string{"changeward-records", "changeward-gate-dry-run-only"} {
		poll.WaitOn(t, func(poll.LogT) poll.Result {
			policy, err := policies.Get(t.Context(), name, metav1.GetOptions{})
			switch {
			case err != nil:
				return poll.Error(err)
			case policy.Status.TypeChecking == nil:
				return poll.Continue("%s is not checked yet", name)
			}
			assert.Equal(t, len(policy.Status.TypeChecking.ExpressionWarnings), 0, "%v", policy.Status.TypeChecking.ExpressionWarnings)
			return poll.Success()
		}, poll.WithTimeout(time.Minute))
	}
}
