package fidelity_test

import (
	"testing"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// real applies a text with kubectl, and returns what that said.
func real(t *testing.T, text string, flags ...string) func() string {
	return func() string {
		t.Helper()
		return try(t, text, append([]string{"apply", "-f", "-"}, flags...)...).Combined()
	}
}

func TestObjectsOfManyKindsBecomeWhatThePlanSaysWhoeverMadeThem(t *testing.T) {
	settle(t)
	server := []string{"--server-side"}
	forced := []string{"--server-side", "--force-conflicts"}
	for _, c := range []struct {
		name    string
		made    []string // flags of the apply that made the objects
		applied []string // flags of the apply that is planned
		applier dryrun.Applier
	}{
		{"server-side after server-side", server, server, dryrun.KubectlServer("", false)},
		{"server-side after client-side", nil, server, dryrun.KubectlServer("", false)},
		{"server-side by another manager after client-side", nil, append(forced, "--field-manager=ci"), dryrun.KubectlServer("ci", true)},
		{"client-side after client-side", nil, nil, dryrun.KubectlClient("", false)},
		{"client-side after server-side", server, nil, dryrun.KubectlClient("", false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			first, second := versions(t, "objects.yaml", kubetest.Shared(t).Namespace(t))
			kubectlApply(t, first, c.made...)
			prove(t, c.applier, second, real(t, second, c.applied...))
		})
	}
}
