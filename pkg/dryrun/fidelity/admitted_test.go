package fidelity_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// admitted loads a case's policy, under its own name and for a namespace of
// the test's own, and waits until the plan for its manifest shows it.
func admitted(t *testing.T, name, namespace, shows string) (text string) {
	t.Helper()
	id := strings.ToLower(name[:3])
	policy := caseFile(t, name+".live.yaml")
	kubectlApply(t, policy)
	t.Cleanup(func() { try(t, policy, "delete", "-f", "-") })
	text = inCase(t, name+".yaml", namespace)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		seen := observe(t, dryrun.Changeward(false), text)
		for _, added := range seen[0].Admission {
			if strings.Contains(added.Path, shows) {
				return poll.Success()
			}
		}
		return poll.Continue("%s: no policy yet", id)
	})
	return text
}

// byEach proves a text for each applier, made anew for each.
func byEach(t *testing.T, text, target string) {
	t.Helper()
	for _, c := range []struct {
		flags   []string
		applier dryrun.Applier
	}{
		{[]string{"--server-side=false"}, dryrun.KubectlClient("", false)},
		{[]string{"--server-side"}, dryrun.KubectlServer("", false)},
	} {
		prove(t, c.applier, text, real(t, text, c.flags...))
		prove(t, c.applier, text, real(t, text, c.flags...))
		kubectl(t, append([]string{"delete"}, strings.Fields(target)...)...)
	}
	proveFlux(t, apps(), text)
	proveFlux(t, apps(), text)
}

func TestWhatAdmissionAddsIsThereOnceItIsApplied(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	byEach(t, admitted(t, "B70-admission", namespace, "hostNetwork"), "deployment b70 -n "+namespace)
}

func TestAMutationThatNeverComesToRestIsPlannedForEachApply(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	byEach(t, admitted(t, "B35-nonidempotent-mutation", namespace, "drip"), "configmap b35 -n "+namespace)
}

func TestLargeObjectsAreRefusedByPlanAndApplierAlike(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	for _, size := range []string{"400000", "1200000", "3200000"} {
		script := filepath.Join("..", "..", "..", "testdata", "cases", "gen-B41-large-configmap.sh")
		made, err := exec.CommandContext(t.Context(), "sh", script, size).Output()
		assert.NilError(t, err)
		text := strings.ReplaceAll(string(made), "team-a", namespace)
		prove(t, dryrun.KubectlClient("", false), text, real(t, text))
		prove(t, dryrun.KubectlServer("", false), text, real(t, text, "--server-side"))
	}
}
