package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/kubetest"
)

// isDocument checks that stdout is one document of the published schema,
// whatever its kind.
func (a answer) isDocument(t *testing.T) map[string]any {
	t.Helper()
	var document map[string]any
	a.json(t, &document)
	kind, _ := document["kind"].(string)
	return a.is(t, kind)
}

// isError checks that it is the error of this exit code.
func (a answer) isError(t *testing.T) map[string]any {
	t.Helper()
	document := a.is(t, "Error")
	assert.Equal(t, document["exitCode"], float64(a.code), "%s", a)
	assert.Assert(t, document["message"] != "", "%s", a)
	assert.Assert(t, strings.HasPrefix(a.stderr, "error: "), "%s", a)
	return document
}

// answering are the verbs that have -o, as they are typed.
func answering() (all [][]string) {
	for _, verb := range verbs(newRoot(cli.Streams{Program: "changeward"})) {
		if verb.Flags().Lookup("output") != nil {
			all = append(all, strings.Fields(verb.CommandPath())[1:])
		}
	}
	return all
}

func TestEveryVerbAnswersWrongUsageWithOneDocument(t *testing.T) {
	alice := shared(t).as("alice")
	assert.Assert(t, len(answering()) > 15)
	for _, verb := range answering() {
		args := append(slices.Concat(verb, []string{"-o", "json"}), "a", "b", "c", "--no-such-flag")
		alice.run(t, args...).exits(t, 1).isError(t)
		before := append([]string{"-o", "json"}, verb...)
		alice.run(t, append(before, "--no-such-flag")...).exits(t, 1).isError(t)
	}
	for _, args := range [][]string{{"no-such-verb"}, {"policy", "no-such-verb"}, {"--no-such-flag"}} {
		alice.run(t, append(args, "-o", "json")...).exits(t, 1).isError(t)
	}
}

func TestEveryVerbAnswersWithOneDocumentWhereNoServerIs(t *testing.T) {
	file := manifest(t, "file.yaml", shopNamespace)
	values := map[string][]string{
		"plan": {"-f", file}, "gate": {"-f", file}, "install": {"--name", "a", "--approvers", "group:a", "--yes"}, "uninstall": {"--yes"},
		"token create": {"a", "--role", "propose"}, "signer enroll": {"--yes"}, "signer create": {"--file", filepath.Join(t.TempDir(), "key")},
		"policy set": {"-f", file, "--yes"}, "policy test": {"-f", file}, "connect": {"a"},
		"show": {"1"}, "approve": {"1", "--yes"}, "reject": {"1", "--yes"}, "revoke": {"1", "--yes"}, "policy explain": {"1"},
		"audit export": {"--out", filepath.Join(t.TempDir(), "bundle")}, "audit archive": {"--out", filepath.Join(t.TempDir(), "bundle"), "--yes"},
	}
	alone := []string{"connect", "targets", "version", "signer create"} // ask no server
	for _, verb := range answering() {
		name := strings.Join(verb, " ")
		got := lost(t).run(t, slices.Concat(verb, values[name], []string{"-o", "json"})...)
		if slices.Contains(alone, name) {
			got.exits(t, 0).isDocument(t)
			continue
		}
		got.exits(t, 1).isError(t)
	}
}

func TestAnInterruptedVerbAnswersWithOneDocument(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, verb := range [][]string{{"list"}, {"doctor"}, {"policy", "show"}, {"gate", "-f", manifest(t, "a.yaml", shopNamespace)}} {
		got := shared(t).as(kubetest.Admin).start(ctx, strings.NewReader(""), append(verb, "-o", "json"))
		document := got.exits(t, 1).isError(t)
		assert.Equal(t, document["reason"], cli.ReasonCancelled)
	}
}
