package main

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// applies runs apply over the folder.
func (s shop) applies(t *testing.T, who person, more ...string) answer {
	t.Helper()
	args := append([]string{"apply", "-f", s.dir, "--target", clusterName}, more...)
	if path := who.env["KUBECONFIG"]; path != "" { // leads through a proxy
		args = append(args, "--kubeconfig", path)
	}
	return who.run(t, args...)
}

// granted puts the direct plan forward as bob, and has alice approve it.
func (s shop) granted(t *testing.T) render.ChangeRef {
	t.Helper()
	change := *s.judged(t, "bob", 2, "--direct").Change
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 0)
	return change
}

func TestAnApprovedPlanIsAppliedOnceAndItsApprovalIsUsedUp(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.granted(t)
	var result render.ApplyResult
	s.applies(t, s.as("bob"), change.ID, "-o", "json").exits(t, 0).json(t, &result)
	assert.Equal(t, result.Result, "applied")
	assert.Equal(t, result.Objects[0].Result, "written")
	assert.Equal(t, s.live(t).Data["feature_new_cart"], "true")
	request := s.request(t, change.ID)
	assert.Equal(t, request.Status, "applied")
	assert.Equal(t, request.Outcomes[0].Result, "started")
	assert.Equal(t, request.Outcomes[1].Objects[0].UID, string(s.live(t).UID))
	assert.Equal(t, request.Outcomes[1].Actor, "bob")

	s.applies(t, s.as("bob")).exits(t, 0).prints(t, "nothing to change")
	s.apply(t, "changeward", s.config("false")) // somebody goes back
	s.applies(t, s.as("bob"), change.ID).exits(t, 1).tells(t, change.ID+" was applied before, and its approval is used up")
	s.applies(t, s.as("bob")).exits(t, 2).prints(t, "approval required")
	assert.Equal(t, s.live(t).Data["feature_new_cart"], "false")
}

func TestWhatIsNotApprovedIsNotApplied(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.applies(t, s.as("bob")).exits(t, 2).prints(t, "approval required").tells(t, "then run the apply again")
	assert.Equal(t, s.live(t).Data["feature_new_cart"], "false")
	change := s.granted(t)
	s.write(t, "shop.yaml", strings.Replace(s.config("true"), "EUR", "USD", 1))
	s.applies(t, s.as("bob"), change.ID).exits(t, 1).tells(t, "is not what "+change.ID+" was asked for")
	s.applies(t, s.as("bob"), "c_0123456789ab").exits(t, 1).tells(t, "no change request")
	s.applies(t, s.as("ci")).exits(t, 1).tells(t, "is a gate's identity, which may change nothing")
	assert.Equal(t, s.live(t).Data["feature_new_cart"], "false")
	assert.Equal(t, s.live(t).Data["currency"], "EUR")
}

// beforeWrite lets something happen right before the first write to the shop's
// ConfigMap that is no dry run.
func (s shop) beforeWrite(t *testing.T, who person, happens func()) person {
	t.Helper()
	var done atomic.Bool
	return s.through(t, who, func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		if r.Method != http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps/shop-config") && !r.URL.Query().Has("dryRun") && done.CompareAndSwap(false, true) {
			happens()
		}
		forward(out, r)
	})
}

func TestWhatOthersDidMeanwhileIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(t *testing.T, s shop)
		code      int
		feature   string
	}{
		"another field was written": {func(t *testing.T, s shop) {
			s.apply(t, "other", `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop-config, namespace: NS, labels: {touched: "yes"}}}`)
		}, 0, "true"},
		"the same change was made": {func(t *testing.T, s shop) { s.apply(t, "changeward", s.config("true")) }, 0, "true"},
		"the field was written":    {func(t *testing.T, s shop) { s.apply(t, "changeward", s.config("maybe")) }, 1, "maybe"},
		"made anew": {func(t *testing.T, s shop) {
			s.remove(t)
			s.apply(t, "changeward", s.config("false"))
		}, 1, "false"},
		"made immutable": {func(t *testing.T, s shop) {
			s.apply(t, "other", `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop-config, namespace: NS}, immutable: true}`)
		}, 1, "false"},
		"deleted": {func(t *testing.T, s shop) { s.remove(t) }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shared(t).open(t)
			change := s.granted(t)
			got := s.applies(t, s.beforeWrite(t, s.as("bob"), func() { test.meanwhile(t, s) })).exits(t, test.code)
			live, err := s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace).Get(t.Context(), "shop-config", metav1.GetOptions{})
			if test.feature == "" {
				assert.Assert(t, apierrors.IsNotFound(err), "%s", got)
			} else {
				assert.NilError(t, err)
				assert.Equal(t, live.Data["feature_new_cart"], test.feature)
			}
			status := map[int]string{0: "applied", 1: "approved"}[test.code]
			assert.Equal(t, s.request(t, change.ID).Status, status, "%s", got)
			if test.code == 1 {
				got.tells(t, "ConfigMap/shop-config: failed", "rollback "+change.ID)
			}
		})
	}
}

func (s shop) remove(t *testing.T) {
	t.Helper()
	assert.NilError(t, s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace).Delete(t.Context(), "shop-config", metav1.DeleteOptions{}))
}

func TestACreateNeverWritesToWhatIsThereByThen(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.remove(t)
	change := s.judged(t, "bob", 0, "--direct").Change
	got := s.applies(t, s.beforeWrite(t, s.as("bob"), func() { s.apply(t, "other", s.config("maybe")) })).exits(t, 1)
	got.tells(t, "ConfigMap/shop-config")
	assert.Equal(t, s.live(t).Data["feature_new_cart"], "maybe")
	assert.Equal(t, len(s.live(t).ManagedFields), 1)
	outcomes := s.request(t, change.ID).Outcomes
	assert.Equal(t, outcomes[len(outcomes)-1].Result, "stopped")
}

func TestAWebhookThatIsDownInTheMiddleStopsAnApplyThatGoesOnLater(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.write(t, "more.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a-first, namespace: NS}, data: {a: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: z-last, namespace: NS}, data: {a: "1"}}
`)
	change := s.granted(t)
	hooks := s.Client(kubetest.Admin).AdmissionregistrationV1().ValidatingWebhookConfigurations()
	got := s.applies(t, s.beforeWrite(t, s.as("bob"), func() {
		s.apply(t, "changeward", `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: down-NS}
webhooks:
- name: down.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: 1
  clientConfig: {url: "https://127.0.0.1:1/"}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
  objectSelector: {matchExpressions: [{key: never, operator: DoesNotExist}]}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
`)
		s.awaitHook(t)
	})).exits(t, 1)
	assert.NilError(t, hooks.Delete(t.Context(), "down-"+s.namespace, metav1.DeleteOptions{}))
	got.prints(t, "stopped: 1 written, 1 failed, 1 untried").tells(t, "failed calling webhook", "on the same approval", "rollback "+change.ID)
	outcomes := s.request(t, change.ID).Outcomes
	assert.Equal(t, outcomes[len(outcomes)-1].Objects[1].Reason, "Admission")

	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if got = s.applies(t, s.as("bob")); got.code != 0 { // the server forgets the webhook some time later
			return poll.Continue("%s", got)
		}
		return poll.Success()
	}, poll.WithTimeout(time.Minute))
	got.prints(t, "this is what is left of "+change.ID)
	assert.Equal(t, s.request(t, change.ID).Status, "applied")
}

// awaitHook waits until the webhook that is down is in the way.
func (s shop) awaitHook(t *testing.T) {
	t.Helper()
	maps := s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{"All"}})
		if err == nil {
			return poll.Continue("the webhook is not asked yet")
		}
		return poll.Success()
	}, poll.WithTimeout(time.Minute))
}

func TestAnInterruptedApplyFinishesItsWriteAndSaysWhatItDidNot(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.write(t, "more.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: z-last, namespace: NS}, data: {a: "1"}}`)
	change := s.granted(t)
	ctx, interrupt := context.WithCancel(t.Context())
	bob := s.beforeWrite(t, s.as("bob"), interrupt)
	got := bob.start(ctx, nil, []string{"apply", "-f", s.dir, "--kubeconfig", bob.env["KUBECONFIG"]})
	got.exits(t, 1).tells(t, "error: interrupted")
	assert.Equal(t, s.live(t).Data["feature_new_cart"], "true")
	outcomes := s.request(t, change.ID).Outcomes
	last := outcomes[len(outcomes)-1]
	assert.Equal(t, last.Result, "stopped")
	assert.Equal(t, last.Objects[0].Result+" "+last.Objects[1].Result, "written untried")
	s.applies(t, s.as("bob")).exits(t, 0)
	assert.Equal(t, s.request(t, change.ID).Status, "applied")
}
