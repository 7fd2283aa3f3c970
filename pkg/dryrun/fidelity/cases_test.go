package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// cases are those of the shared cases that an applier can be tried on: live
// state, "" for none, and manifest. Where two have one object, one of them is
// renamed.
func cases() [][2]string {
	return [][2]string{
		{"B18-port-default-protocol.live.yaml", "B18-port-default-protocol.yaml"},
		{"B21-csa-leftover.live.yaml", "B21-csa-leftover.yaml"},
		{"B22-conflict.live.yaml", "B22-conflict.yaml"},
		{"B24-list-change.live.yaml", "B24-list-change.yaml"},
		{"B25-quantities.live.yaml", "B25-quantities.yaml"},
		{"B26-hpa-replicas.live.yaml", "B26-hpa-replicas.yaml"},
		{"B26-hpa-replicas.live.yaml", "B26-hpa-replicas-removed.yaml"},
		{"B27-stringdata.live.yaml", "B27-stringdata.yaml"},
		{"B29-recreate.live.yaml", "B29-recreate.yaml"},
		{"B31-empty-vs-absent.live.yaml", "B31-empty-vs-absent.yaml"},
		{"B36-job-immutable.live.yaml", "B36-job-immutable.yaml"},
		{"", "B43-typed-secret.yaml"},
		{"B45-secret-same-length.live.yaml", "B45-secret-same-length-a.yaml"},
		{"", "B65-generated-values.yaml"},
		{"B68-order-only.live.yaml", "B68-order-only.yaml"},
		{"B69-hand-edit.yaml", "B69-hand-edit.yaml"},
	}
}

// load gives the objects of all cases in a namespace.
func load(t *testing.T, namespace string) (live, desired string) {
	t.Helper()
	for i, c := range cases() {
		text := func(name string) string {
			if name == "" {
				return ""
			}
			return "\n---\n" + strings.ReplaceAll(caseFile(t, name), "team-a", namespace)
		}
		one, two := text(c[0]), text(c[1])
		if slices.ContainsFunc(cases()[:i], func(earlier [2]string) bool { return earlier[0] == c[0] && c[0] != "" }) {
			id := strings.ToLower(c[1][:3])
			one, two = strings.ReplaceAll(one, id, id+"-twin"), strings.ReplaceAll(two, id, id+"-twin")
		}
		live, desired = live+one, desired+two
	}
	return live, desired
}

func TestTheSharedCasesBecomeWhatThePlanSays(t *testing.T) {
	settle(t)
	server := []string{"--server-side"}
	for _, c := range []struct {
		name          string
		made, applied []string
		applier       dryrun.Applier
	}{
		{"server-side on client-side", nil, server, dryrun.KubectlServer("", false)},
		{"server-side on server-side", server, server, dryrun.KubectlServer("", false)},
		{"forced on client-side", nil, append(server, "--force-conflicts"), dryrun.KubectlServer("", true)},
		{"forced on another manager's", append(server, "--field-manager=other"), append(server, "--force-conflicts"), dryrun.KubectlServer("", true)},
		{"client-side on client-side", nil, nil, dryrun.KubectlClient("", false)},
		{"client-side on server-side", server, nil, dryrun.KubectlClient("", false)},
		{"client-side as another manager", nil, []string{"--field-manager=ci"}, dryrun.KubectlClient("ci", false)},
		{"client-side with force", nil, []string{"--force"}, dryrun.KubectlClient("", true)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			namespace := kubetest.Shared(t).Namespace(t)
			live, desired := load(t, namespace)
			kubectlApply(t, live, c.made...)
			kubectl(t, "scale", "deployment/b26", "--replicas=7", "-n", namespace)
			kubectl(t, "patch", "configmap/b69", "--type=merge", "-p", `{"data":{"hotfix":"1"}}`, "-n", namespace)
			prove(t, c.applier, desired, real(t, desired, c.applied...))
		})
	}
}

// created makes B20's Deployment, which has one variable twice.
func created(t *testing.T, file, namespace string) {
	t.Helper()
	text := strings.ReplaceAll(caseFile(t, file), "team-a", namespace)
	result := try(t, text, "create", "-f", "-")
	assert.Equal(t, result.ExitCode, 0, result.Combined())
}

func TestADuplicateInLiveBecomesWhatThePlanSays(t *testing.T) {
	for flags, applier := range map[string]dryrun.Applier{
		"--server-side=false":             dryrun.KubectlClient("", false),
		"--server-side":                   dryrun.KubectlServer("", false),
		"--server-side --force-conflicts": dryrun.KubectlServer("", true),
	} {
		for _, file := range []string{"B20-duplicate-env.yaml", "B20-duplicate-env-fixed.yaml"} {
			t.Run(flags+" "+file, func(t *testing.T) {
				t.Parallel()
				namespace := kubetest.Shared(t).Namespace(t)
				created(t, "B20-duplicate-env.live.yaml", namespace)
				text := strings.ReplaceAll(caseFile(t, file), "team-a", namespace)
				prove(t, applier, text, real(t, text, strings.Fields(flags)...))
			})
		}
	}
}

func TestAVariableThatClientSideApplyLosesWithItsDuplicateIsPlannedAsLost(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	twice := strings.ReplaceAll(caseFile(t, "B20-duplicate-env.live.yaml"), "team-a", namespace)
	kubectlApply(t, twice)
	once := strings.ReplaceAll(caseFile(t, "B20-duplicate-env-fixed.yaml"), "team-a", namespace)
	prove(t, dryrun.KubectlClient("", false), once, real(t, once))
}

// plain is an applier that a test makes: it applies in a mode, by a rule.
type plain struct{ treatment dryrun.Treatment }

func (plain) Hooks() bool { return false }

func (plain) Desired(object manifest.Object) (manifest.Object, error) { return object, nil }

func (p plain) Treat(manifest.Object, *unstructured.Unstructured) (dryrun.Treatment, error) {
	return p.treatment, nil
}

func replacing(rule func(error) bool) plain {
	return plain{dryrun.Treatment{Replaces: rule,
		Applier: plan.Applier{Name: "test", Mode: plan.ModePut, Manager: "kubectl-replace"}}}
}

func TestWholeObjectsThatArePutLoseWhatTheManifestLacks(t *testing.T) {
	settle(t)
	first, second := versions(t, "objects.yaml", kubetest.Shared(t).Namespace(t))
	kubectlApply(t, first)
	prove(t, replacing(nil), second, func() string { return try(t, second, "replace", "-f", "-").Combined() })
}

func TestObjectsThatAreReplacedAreNewOnes(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	live, desired := load(t, namespace)
	kubectlApply(t, live)
	always := func(error) bool { return true }
	seen := prove(t, replacing(always), desired, func() string { return try(t, desired, "replace", "--force", "-f", "-").Combined() })
	replaced := 0
	for _, o := range seen {
		if o.Replace {
			replaced++
		}
	}
	assert.Assert(t, replaced > 10, replaced)
}
