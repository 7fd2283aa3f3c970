package kubetest_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/pkg/kubetest"
)

func TestMain(m *testing.M) {
	os.Exit(kubetest.Main(m, "alice:sre,oncall", "gate:changeward:gate", "bob"))
}

func whoAmI(t *testing.T, client kubernetes.Interface) authenticationv1.UserInfo {
	t.Helper()
	review, err := client.AuthenticationV1().SelfSubjectReviews().
		Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	assert.NilError(t, err)
	return review.Status.UserInfo
}

func TestTheServerSeesEachUserWithItsGroups(t *testing.T) {
	cluster := kubetest.Shared(t)
	for user, groups := range map[string][]string{
		kubetest.Admin: {"system:masters", "system:authenticated"},
		"alice":        {"sre", "oncall", "system:authenticated"},
		"gate":         {"changeward:gate", "system:authenticated"},
		"bob":          {"system:authenticated"},
	} {
		seen := whoAmI(t, cluster.Client(user))
		assert.Equal(t, seen.Username, user)
		assert.DeepEqual(t, seen.Groups, groups)
	}
}

func TestAUserWithoutARoleIsRefusedByRBAC(t *testing.T) {
	cluster := kubetest.Shared(t)
	_, err := cluster.Client("alice").CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	assert.Assert(t, apierrors.IsForbidden(err), "got %v", err)
}

func TestAServiceAccountTokenIsAccepted(t *testing.T) {
	cluster := kubetest.Shared(t)
	namespace := cluster.Namespace(t)
	config := rest.AnonymousClientConfig(cluster.Config(kubetest.Admin))
	config.BearerToken = cluster.Token(t, namespace, "default")
	seen := whoAmI(t, kubernetes.NewForConfigOrDie(config))
	assert.Equal(t, seen.Username, "system:serviceaccount:"+namespace+":default")
}

func TestApplyIsAServerSideApplyUnderTheGivenManager(t *testing.T) {
	cluster := kubetest.Shared(t)
	namespace := cluster.Namespace(t)
	const form = `
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: %s}
data: {key: %q}
---
# a document with nothing in it
`
	made := cluster.Apply(t, kubetest.Admin, "first",
		fmt.Sprintf(form, "one", namespace, "a"), fmt.Sprintf(form, "two", namespace, "b"))
	assert.Equal(t, len(made), 2)
	taken := cluster.ForceApply(t, kubetest.Admin, "second", fmt.Sprintf(form, "one", namespace, "c"))
	managers := taken[0].GetManagedFields()
	assert.Equal(t, len(managers), 1)
	assert.Equal(t, managers[0].Manager, "second")
	assert.Equal(t, managers[0].Operation, metav1.ManagedFieldsOperationApply)
}

func TestAKubeconfigOfAUserActsAsThatUser(t *testing.T) {
	cluster := kubetest.Shared(t)
	config, err := clientcmd.BuildConfigFromFlags("", cluster.KubeconfigAs(t, "alice"))
	assert.NilError(t, err)
	assert.Equal(t, whoAmI(t, kubernetes.NewForConfigOrDie(config)).Username, "alice")
}

func TestTheControllerManagerDeletesANamespaceWithAllItHolds(t *testing.T) {
	cluster := kubetest.StartWithControllers(t)
	namespace := cluster.Namespace(t)
	cluster.Apply(t, kubetest.Admin, "test", fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: held, namespace: %s}
`, namespace))
	client := cluster.Client(kubetest.Admin).CoreV1().Namespaces()
	assert.NilError(t, client.Delete(t.Context(), namespace, metav1.DeleteOptions{}))
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		_, err := client.Get(t.Context(), namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return poll.Success()
		}
		return poll.Continue("namespace %s is still there: %v", namespace, err)
	}, poll.WithTimeout(time.Minute))
}

func TestRolesAreAggregatedWithControllers(t *testing.T) {
	cluster := kubetest.StartWithControllers(t)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		role, err := cluster.Client(kubetest.Admin).RbacV1().ClusterRoles().Get(t.Context(), "edit", metav1.GetOptions{})
		if err != nil || len(role.Rules) == 0 {
			return poll.Continue("ClusterRole edit has no rules: %v", err)
		}
		return poll.Success()
	}, poll.WithTimeout(time.Minute))
}

func TestAnAPIServerThatIsRestartedHasWhatItHad(t *testing.T) {
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	client := cluster.Client(kubetest.Admin).CoreV1().Namespaces()
	before, err := client.Get(t.Context(), namespace, metav1.GetOptions{})
	assert.NilError(t, err)
	for range 2 {
		cluster.Restart(t)
		after, err := client.Get(t.Context(), namespace, metav1.GetOptions{})
		assert.NilError(t, err)
		assert.Equal(t, after.UID, before.UID)
	}
}
