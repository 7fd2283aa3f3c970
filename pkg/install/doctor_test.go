package install_test

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
)

// bound is a binding of a cluster role to one subject.
func bound(name, role, subject string) string {
	return `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ` + name + `}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ` + role + `}
subjects: [` + subject + `]
`
}

func able(name, group, resource, verb string) string {
	return `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ` + name + `}
rules: [{apiGroups: ["` + group + `"], resources: ["` + resource + `"], verbs: ["` + verb + `"]}]
`
}

const eve = "{kind: User, name: eve, apiGroup: rbac.authorization.k8s.io}"

// applications is a served kind that looks like Argo CD's, and one of it.
const applications = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: applications.argoproj.io}
spec:
  group: argoproj.io
  scope: Namespaced
  names: {kind: Application, plural: applications, singular: application}
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

func TestTheDoctorFindsEachWayAroundAndSaysHowToCloseIt(t *testing.T) {
	c := kubetest.Start(t)
	mustInstall(t, c, options(t, c))
	gateToken(t, c, "ci")
	gate := "{kind: ServiceAccount, namespace: changeward-gate, name: ci}"
	sre := "{kind: Group, name: sre, apiGroup: rbac.authorization.k8s.io}"
	for _, k := range []struct{ broken, check, status, reason, says string }{
		{able("fence", "admissionregistration.k8s.io", "validatingadmissionpolicybindings", "delete") + "---" + bound("fence", "fence", eve),
			install.CheckFence, "warn", install.ReasonWayAround, "user:eve"},
		{able("mask", "", "users", "impersonate") + "---" + bound("mask", "mask", eve),
			install.CheckImpersonate, "warn", install.ReasonWayAround, "user:eve"},
		{able("purge", "changeward.dev", "records", "purge") + "---" + bound("purge", "purge", eve),
			install.CheckPurge, "warn", install.ReasonWayAround, "user:eve"},
		{able("pods", "", "pods", "create") + "---" + bound("pods", "pods", eve),
			install.CheckMint, "warn", install.ReasonWayAround, "user:eve"},
		{able("look", "", "secrets", "list") + "---" + bound("look", "look", eve),
			install.CheckReadKey, "warn", install.ReasonWayAround, "user:eve"},
		{able("raise", "rbac.authorization.k8s.io", "clusterroles", "escalate") + "---" + bound("raise", "raise", eve),
			install.CheckGrant, "warn", install.ReasonWayAround, "user:eve"},
		{bound("gate-purges", "purge", gate), install.CheckGates, "fail", install.ReasonGateTooPowerful, "serviceaccount:changeward-gate/ci may purge records"},
		{bound("gate-unfenced", "fence", gate), install.CheckGates, "fail", install.ReasonGateTooPowerful,
			"serviceaccount:changeward-gate/ci may delete validatingadmissionpolicybindings.admissionregistration.k8s.io"},
		{bound("sre-purges", "purge", sre), install.CheckPeople, "fail", install.ReasonTooManyRights, "group:sre may purge records, and no role of the policy gives that"},
		{"apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\nmetadata: {name: kept, namespace: changeward-gate, annotations: {kubernetes.io/service-account.name: ci}}\n",
			install.CheckTokens, "warn", install.ReasonTokenForever, "Secret/changeward-gate/kept"},
		{applications, install.CheckHooks, "warn", install.ReasonHookCourtesy, "selective sync"},
	} {
		t.Run(k.check+" "+k.says, func(t *testing.T) {
			c.Apply(t, kubetest.Admin, "mallory", strings.Split(k.broken, "---")...)
			poll.WaitOn(t, func(poll.LogT) poll.Result {
				found := examine(t, c, k.check)
				if found.Reason != k.reason || !cmp.Contains(found.Message, k.says)().Success() {
					return poll.Continue("%v", found)
				}
				assert.Equal(t, found.Status, k.status)
				assert.Assert(t, found.Fix != "")
				return poll.Success()
			}, poll.WithTimeout(20*time.Second))
		})
	}
}

func TestTheDoctorNamesTokensThatAreAboutToEnd(t *testing.T) {
	c := kubetest.Start(t)
	mustInstall(t, c, options(t, c))
	config := gateToken(t, c, "ci")
	found := examine(t, c, install.CheckTokens)
	assert.Equal(t, found.Reason, install.ReasonTokenDies)
	assert.Assert(t, cmp.Contains(found.Message, "ServiceAccount/changeward-gate/ci at "))
	report, err := install.Doctor(t.Context(), as(t, config), whoAmI(t, config))
	assert.NilError(t, err)
	for _, check := range report.Checks {
		if check.Name == install.CheckTokens {
			assert.Assert(t, cmp.Contains(check.Message, "your own token expires at "))
		}
	}
}

func examine(t *testing.T, c *kubetest.Cluster, name string) install.Check {
	t.Helper()
	report, err := install.Doctor(t.Context(), as(t, c.Config(kubetest.Admin)), whoAmI(t, c.Config(kubetest.Admin)))
	assert.NilError(t, err)
	for _, check := range report.Checks {
		if check.Name == name {
			return check
		}
	}
	t.Fatalf("no check %s", name)
	return install.Check{}
}
