package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/cli"
)

// answer is what a command said, and how it ended.
type answer struct {
	code           int
	stdout, stderr string
}

// run runs a command of the plugin in this process.
func run(t *testing.T, env map[string]string, args ...string) answer {
	t.Helper()
	var stdout, stderr bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr, Env: func(name string) string { return env[name] }, Program: cli.FluxProgram}
	code := cli.Run(t.Context(), newRoot(streams), args, streams)
	return answer{code, stdout.String(), stderr.String()}
}

func TestTheHelpNamesEveryVerbAndHowToDecide(t *testing.T) {
	got := run(t, nil)
	assert.Equal(t, got.code, 0)
	for _, text := range []string{"Usage:\n  flux changeward [command]", "\n  gate ", "\n  diff ", "kubectl changeward", "Exit codes: 0 allowed"} {
		assert.Assert(t, strings.Contains(got.stdout, text), "lacks %q\n%s", text, got.stdout)
	}
	for _, verb := range []string{"gate", "diff"} {
		got := run(t, nil, verb, "kustomization", "--help")
		assert.Equal(t, got.code, 0)
		assert.Assert(t, strings.Contains(got.stdout, "Usage:\n  flux changeward "+verb+" kustomization NAME..."), got.stdout)
		assert.Assert(t, strings.Contains(got.stdout, "  flux changeward "+verb+" kustomization apps -f ."), got.stdout)
	}
}

func TestTheNamespaceIsTheOneThatTheFluxCLIUses(t *testing.T) {
	of := func(env map[string]string) string {
		root := newRoot(cli.Streams{Env: func(name string) string { return env[name] }})
		return root.PersistentFlags().Lookup("namespace").DefValue
	}
	assert.Equal(t, of(nil), "flux-system")
	assert.Equal(t, of(map[string]string{"FLUX_SYSTEM_NAMESPACE": "gitops"}), "gitops")
}

func TestMistypedCommandsGetAnAnswer(t *testing.T) {
	for line, want := range map[string]string{
		"gate kustomization":      "gate kustomization wants the names of Kustomizations",
		"gate helmrelease shop":   "a HelmRelease is no Kustomization",
		"diff hr shop":            "`flux changeward diff kustomization NAME` plans the Kustomization that creates it",
		"gate kustomisation apps": "unknown command gate kustomisation: did you mean kustomization?",
		"incidnt":                 "unknown command incidnt",
		"gate kustomization apps -f . --from-owner":   "build from one of them",
		"gate kustomization apps -f . --again":        "--again needs a --reason",
		"diff kustomization apps -o yaml":             `no output format "yaml" here`,
		"gate ks apps --kubeconfig /nowhere/at/all":   "/nowhere/at/all: no such file",
		"gate kustomization apps --executor https://": "there is no executor",
	} {
		got := run(t, nil, strings.Fields(line)...)
		assert.Equal(t, got.code, 1, "%s", line)
		assert.Assert(t, strings.Contains(got.stderr, want), "%s: lacks %q\n%s", line, want, got.stderr)
	}
}

func TestEveryVerbExplainsItself(t *testing.T) {
	var all func(cmd *cobra.Command) []*cobra.Command
	all = func(cmd *cobra.Command) (out []*cobra.Command) {
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				out = append(append(out, sub), all(sub)...)
			}
		}
		return out
	}
	for _, verb := range all(newRoot(cli.Streams{Program: cli.FluxProgram})) {
		assert.Assert(t, len(verb.Long) > len(verb.Short), verb.CommandPath())
		assert.Assert(t, verb.HasSubCommands() || strings.Contains(verb.Example, verb.CommandPath()), verb.CommandPath())
	}
}
