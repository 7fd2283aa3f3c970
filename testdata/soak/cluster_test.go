package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/kubetest"
)

// cluster is the real API server, and what happens to it.
type cluster struct {
	*kubetest.Cluster
	uid       string
	rotating  *rest.Config // planners' connection: its token is replaced all the time
	restarted atomic.Int64 // begun and ended: odd while one goes on
	back      atomic.Int64 // when the last one ended, Unix milliseconds
	tokens    atomic.Int64
}

func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: kubetest.Start(t)}
	client := c.Client(kubetest.Admin)
	system, err := client.CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceSystem, metav1.GetOptions{})
	assert.NilError(t, err)
	c.uid = string(system.UID)
	_, err = client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: planners}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: planners},
		RoleRef:  rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: planners}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	c.rotating = rest.AnonymousClientConfig(c.Config(kubetest.Admin))
	c.rotating.BearerTokenFile = filepath.Join(t.TempDir(), "token")
	c.rotating.QPS = -1
	assert.NilError(t, c.rotate(t.Context()))
	c.Apply(t, kubetest.Admin, "soak", documents("widgets.yaml")...)
	return c
}

// planners is the account that plans.
const planners = "planners"

// overlap is how long a token is good after the next one is there: a client
// reads its file anew once a minute, and the kubelet leaves it more time.
const overlap = 75 * time.Second

// rotate writes a new token to the file, and makes the one before worthless,
// some time later.
func (c *cluster) rotate(ctx context.Context) error {
	client, n := c.Client(kubetest.Admin).CoreV1(), c.tokens.Load()
	secret, err := client.Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: tokenOf(n)}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	answer, err := client.ServiceAccounts("default").CreateToken(ctx, planners, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Secret", Name: secret.Name, UID: secret.UID}}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	c.tokens.Add(1)
	if n > 0 {
		time.AfterFunc(overlap, func() {
			_ = client.Secrets("default").Delete(context.Background(), tokenOf(n-1), metav1.DeleteOptions{})
		})
	}
	next := c.rotating.BearerTokenFile + ".next" // in one step, as a kubelet does
	if err := os.WriteFile(next, []byte(answer.Status.Token), 0o600); err != nil {
		return err
	}
	return os.Rename(next, c.rotating.BearerTokenFile)
}

func tokenOf(n int64) string { return fmt.Sprintf("token-%d", n) }

// restart kills the server in the midst of everything.
func (c *cluster) restart(t *testing.T) {
	c.restarted.Add(1)
	c.Restart(t)
	c.back.Store(time.Now().UnixMilli())
	c.restarted.Add(1)
}

// settling is how long a server may be unable to answer once it is back.
const settling = 5 * time.Second

// disturbed says that the server was restarted since, or still is, or only
// just came back.
func (c *cluster) disturbed(since int64) bool {
	now := c.restarted.Load()
	return now != since || now%2 == 1 || time.Since(time.UnixMilli(c.back.Load())) < settling
}

// mutate sets up a random and a timestamping mutating admission, the one for
// sets 0, 4, 8 …, the other for sets 1, 5, 9 ….
func (c *cluster) mutate(t *testing.T, scopes []*scope) {
	t.Helper()
	var drawn, stamped []string
	for _, s := range scopes {
		switch s.set % 4 {
		case 0:
			drawn = append(drawn, s.namespace)
		case 1:
			stamped = append(stamped, s.namespace)
		}
	}
	c.Mutate(t, drawn, []string{"configmaps", "deployments", "services"}, func() map[string]string {
		return map[string]string{"soak.example/drawn": fmt.Sprint(rand.Uint64())}
	})
	c.Apply(t, kubetest.Admin, "soak", strings.ReplaceAll(strings.Join(documents("stamping.yaml"), "---\n"), "NAMESPACES", "'"+strings.Join(stamped, "', '")+"'"))
	for annotation, namespace := range map[string]string{"soak.example/drawn": drawn[0], "soak.example/stamp": stamped[0]} {
		poll.WaitOn(t, func(poll.LogT) poll.Result { // the server takes a moment to heed them
			made, err := c.Client(kubetest.Admin).CoreV1().ConfigMaps(namespace).Create(t.Context(),
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Data: map[string]string{"k": "v"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil || made.Annotations[annotation] == "" {
				return poll.Continue("%s: %v %v", annotation, made, err)
			}
			return poll.Success()
		}, poll.WithTimeout(30*time.Second))
	}
}
