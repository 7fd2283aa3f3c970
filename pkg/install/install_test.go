package install_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

const hour = time.Hour

func TestAnInstallThatDiesAfterEveryStepIsFinishedByRunningItAgain(t *testing.T) {
	c := kubetest.Start(t)
	o := options(t, c)
	first := len(changes(prepare(t, c, o)))
	runs := 0
	for ; ; runs++ {
		plan := prepare(t, c, o)
		if plan.Installed() {
			break
		}
		ctx, die := context.WithCancel(t.Context())
		waited := false
		err := plan.Apply(ctx, func(step install.Step) {
			if waited = step.Action == install.ActionWait; !waited {
				die()
			}
		})
		die()
		assert.Assert(t, err == nil || errors.Is(err, context.Canceled), "%v", err)
		assert.Assert(t, runs <= first, "no progress: %v", changes(plan))
	}
	assert.Assert(t, runs > 20, "one step a run: %d", runs)
	for _, kind := range []state.Type{state.TypeEpoch, state.TypePolicy, state.TypeKey} {
		assert.Equal(t, len(records(t.Context(), t, c, kind)), 1, string(kind))
	}
	standing := install.Attest(t.Context(), as(t, c.Config(kubetest.Admin)), epochs(t, c))
	assert.Equal(t, standing.Void, "", standing.Detail)
}

func epochs(t *testing.T, c *kubetest.Cluster) []state.Epoch {
	t.Helper()
	var all []state.Epoch
	for _, record := range records(t.Context(), t, c, state.TypeEpoch) {
		var epoch state.Epoch
		_, err := sign.Open(state.TypeEpoch, record.Data[state.DataEnvelope], &epoch)
		assert.NilError(t, err)
		all = append(all, epoch)
	}
	return all
}

func TestAnInstall(t *testing.T) {
	c := kubetest.Start(t, "alice:sre", "bob:dev")
	o := options(t, c)
	mustInstall(t, c, o)
	t.Run("changes nothing when it is run again", func(t *testing.T) {
		plan := prepare(t, c, o)
		assert.Assert(t, plan.Installed(), "%v", changes(plan))
		assert.Assert(t, !plan.NeedsSigner())
		bare := prepare(t, c, install.Options{Caller: o.Caller})
		assert.Assert(t, bare.Installed(), "no options are needed: %v", changes(bare))
	})
	t.Run("has records that are signed by the admin's enrolled key", func(t *testing.T) { signedByAdmin(t, c, o) })
	t.Run("refuses another name, environment and a scope that narrows it", func(t *testing.T) {
		other := o
		other.Name, other.Env = "prod-us", "staging"
		_, err := install.Prepare(t.Context(), as(t, c.Config(kubetest.Admin)), other)
		assert.ErrorContains(t, err, `installed already, with the name "prod-eu", not "prod-us"`)
		assert.ErrorContains(t, err, `installed already, with the environment "prod", not "staging"`)
		other = o
		other.Scope = []string{"shop"}
		_, err = install.Prepare(t.Context(), as(t, c.Config(kubetest.Admin)), other)
		assert.ErrorContains(t, err, "gates may plan the whole cluster already")
	})
	t.Run("heals what was changed, in a new epoch", func(t *testing.T) { healed(t, c, o) })
	t.Run("takes further gates by an upgrade that voids nothing", func(t *testing.T) { upgraded(t, c, o) })
	t.Run("keeps bindings in step with the policy", func(t *testing.T) { synced(t, c) })
	t.Run("is examined by the doctor", func(t *testing.T) { examined(t, c) })
}

func signedByAdmin(t *testing.T, c *kubetest.Cluster, o install.Options) {
	book, err := trust.Open(trust.Stored{ClusterUID: uid(t, c), Keys: records(t.Context(), t, c, state.TypeKey)}).Read(nil, func(time.Time) string { return "" })
	assert.NilError(t, err)
	assert.Equal(t, len(book.Rejected), 0, "%v", book.Rejected)
	for _, kind := range []state.Type{state.TypeEpoch, state.TypePolicy} {
		record := records(t.Context(), t, c, kind)[0]
		var epoch state.Epoch
		var set state.Policy
		var into any = &epoch
		if kind == state.TypePolicy {
			into = &set
		}
		opened, err := sign.Open(kind, record.Data[state.DataEnvelope], into)
		assert.NilError(t, err)
		entry, ok := book.Ring.Lookup(opened.Fingerprint)
		assert.Assert(t, ok)
		assert.Equal(t, entry.Person, o.Caller.Username)
		assert.Assert(t, entry.ValidAt(record.Created))
	}
}

func uid(t *testing.T, c *kubetest.Cluster) string {
	t.Helper()
	namespace, err := c.Client(kubetest.Admin).CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
	assert.NilError(t, err)
	return string(namespace.UID)
}

// healed switches a binding to Audit and back, as an attacker would.
func healed(t *testing.T, c *kubetest.Cluster, o install.Options) {
	bindings := c.Client(kubetest.Admin).AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	set := func(action string) {
		_, err := bindings.Patch(t.Context(), "changeward-records", types.MergePatchType,
			[]byte(`{"spec":{"validationActions":["`+action+`"]}}`), metav1.PatchOptions{})
		assert.NilError(t, err)
	}
	where := as(t, c.Config(kubetest.Admin))
	set("Audit")
	assert.Equal(t, install.Attest(t.Context(), where, epochs(t, c)).Void, install.ReasonAdmissionUnknown)
	set("Deny")
	assert.Equal(t, install.Attest(t.Context(), where, epochs(t, c)).Void, install.ReasonAdmissionChanged)
	plan := prepare(t, c, o)
	steps := changes(plan)
	assert.Assert(t, plan.NeedsSigner())
	last := steps[len(steps)-1]
	assert.Equal(t, last.Object, "ConfigMap/changeward/cw-epoch-000002")
	assert.Assert(t, cmp.Contains(last.Detail, "records written since then are not attested"))
	assert.NilError(t, plan.Apply(t.Context(), nil))
	standing := install.Attest(t.Context(), where, epochs(t, c))
	assert.Equal(t, standing.Void, "", standing.Detail)
	assert.Equal(t, standing.Epoch, 2, "what was written under the first epoch is not vouched for any more")
}

func upgraded(t *testing.T, c *kubetest.Cluster, o install.Options) {
	o.GateUsers, o.GateGroups = []string{"robot"}, []string{"cloud:ci"}
	mustInstall(t, c, o)
	all := epochs(t, c)
	newest := all[len(all)-1]
	assert.DeepEqual(t, newest.GateUsers, []string{"robot"})
	assert.DeepEqual(t, newest.GateGroups, []string{"cloud:ci"})
	standing := install.Attest(t.Context(), as(t, c.Config(kubetest.Admin)), all)
	assert.Equal(t, standing.Void, "", standing.Detail)
	assert.Equal(t, standing.Epoch, 2, "an upgrade voids nothing")
	assert.Assert(t, prepare(t, c, install.Options{Caller: o.Caller}).Installed(), "gates stay when none are given")
	o.GateUsers = []string{o.Caller.Username}
	_, err := install.Prepare(t.Context(), as(t, c.Config(kubetest.Admin)), o)
	assert.ErrorContains(t, err, "is a gate, and could change nothing any more")
}

func synced(t *testing.T, c *kubetest.Cluster) {
	where := as(t, c.Config(kubetest.Admin))
	all := epochs(t, c)
	people := policy.Roles{Approvers: policy.Subjects{Groups: []string{"sre", "oncall"}},
		Proposers: policy.Subjects{Groups: []string{"dev", "cloud:ci"}}, Admins: policy.Subjects{Users: []string{"admin"}}}
	shown, err := install.SyncBindings(t.Context(), where, people, all[len(all)-1], true)
	assert.NilError(t, err)
	assert.Assert(t, cmp.Contains(shown, "RoleBinding/changeward/changeward-approve: add group:oncall"))
	assert.Assert(t, cmp.Contains(shown, "RoleBinding/changeward/changeward-approve: remove user:admin"))
	done, err := install.SyncBindings(t.Context(), where, people, all[len(all)-1], false)
	assert.NilError(t, err)
	assert.DeepEqual(t, done, shown)
	again, err := install.SyncBindings(t.Context(), where, people, all[len(all)-1], false)
	assert.NilError(t, err)
	assert.Equal(t, len(again), 0)
	enroll, err := c.Client(kubetest.Admin).RbacV1().RoleBindings("changeward").Get(t.Context(), install.RoleEnroll, metav1.GetOptions{})
	assert.NilError(t, err)
	assert.Equal(t, len(enroll.Subjects), 1, "a gate never writes what people say: %v", enroll.Subjects)
}

func examined(t *testing.T, c *kubetest.Cluster) {
	for user, want := range map[string]map[string]string{
		kubetest.Admin: {},
		"alice":        {"admission": "CanaryForbidden", "separation": "Unchecked"},
		"bob":          {"separation": "Unchecked"},
	} {
		if user != kubetest.Admin { // nobody but an admin of the cluster may look at these
			for _, name := range []string{"gates", "people", "tokens", "who-may-edit-admission", "who-may-impersonate",
				"who-may-purge", "who-may-mint-tokens", "who-may-grant-rights", "who-may-read-the-gate-key"} {
				want[name] = "Unchecked"
			}
		}
		report, err := install.Doctor(t.Context(), as(t, c.Config(user)), whoAmI(t, c.Config(user)))
		assert.NilError(t, err)
		got := map[string]string{}
		for _, check := range report.Checks {
			assert.Equal(t, check.Reason == "", check.Status == install.StatusOK, "%v", check)
			if check.Reason != "" {
				got[check.Name] = check.Reason
			}
		}
		assert.Equal(t, len(report.Checks), 20)
		assert.DeepEqual(t, got, want)
	}
}

func TestADoctorSaysThatNothingIsInstalled(t *testing.T) {
	c := kubetest.Start(t)
	report, err := install.Doctor(t.Context(), as(t, c.Config(kubetest.Admin)), whoAmI(t, c.Config(kubetest.Admin)))
	assert.NilError(t, err)
	assert.Assert(t, report.Failed())
	assert.DeepEqual(t, report.Checks[0], install.Check{Name: "installed", Status: "fail", Reason: "NotInstalled",
		Message: "changeward is not installed in this cluster", Fix: "run `kubectl changeward install`"})
}

func TestWhatGitAppliedIsFinishedOnce(t *testing.T) {
	c := kubetest.Start(t)
	o := options(t, c)
	o.Scope, o.NoSecrets = []string{"default"}, true
	where := as(t, c.Config(kubetest.Admin))
	finish := o
	finish.Finish = true
	_, err := install.Prepare(t.Context(), where, finish)
	assert.ErrorContains(t, err, "nothing to finish yet")
	var text bytes.Buffer
	assert.NilError(t, install.Export(t.Context(), where, o, &text))
	assert.Assert(t, !strings.Contains(text.String(), "kind: Secret"), "no keys in Git")
	c.ForceApply(t, kubetest.Admin, "git", strings.Split(text.String(), "---\n")...)
	plan := prepare(t, c, finish)
	assert.NilError(t, plan.Apply(t.Context(), func(step install.Step) {
		assert.Assert(t, step.Action == install.ActionWait || strings.HasPrefix(step.Object, "Secret/") || strings.HasPrefix(step.Object, "ConfigMap/"), step.Object)
	}))
	assert.Assert(t, prepare(t, c, finish).Installed())
	assert.Assert(t, prepare(t, c, o).Installed())
	bare := prepare(t, c, install.Options{Caller: o.Caller})
	assert.Assert(t, bare.Installed(), "what was narrowed stays narrow: %v", changes(bare))
}
