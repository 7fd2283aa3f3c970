package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/cli"
)

// verbs are all commands that do something.
func verbs(cmd *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.HasSubCommands() {
			all = append(all, verbs(sub)...)
		} else if !sub.Hidden {
			all = append(all, sub)
		}
	}
	return all
}

func TestEveryVerbExplainsItselfWithExamplesAsTyped(t *testing.T) {
	root := newRoot(cli.Streams{Program: "kubectl changeward"})
	assert.Assert(t, len(verbs(root)) > 20)
	for _, verb := range verbs(root) {
		path := verb.CommandPath()
		assert.Assert(t, strings.HasPrefix(path, "kubectl changeward "), path)
		assert.Assert(t, len(verb.Long) > len(verb.Short), path)
		assert.Assert(t, strings.Contains(verb.Example, path), "%s: %s", path, verb.Example)
		for line := range strings.SplitSeq(verb.Example, "\n") {
			assert.Assert(t, line == "" || strings.HasPrefix(line, "  "), "%s: %q", path, line)
		}
		answer := stranger(t).run(t, append(strings.Fields(path)[2:], "--help")...).exits(t, 0)
		answer.says(t, "Usage:\n  "+path)
		assert.Assert(t, !strings.Contains(answer.stdout, "--as-group"), "%s lists kubeconfig flags", path)
	}
}

func TestFlagsShowTheTypeOfTheirValueAndNoOtherWords(t *testing.T) {
	line := regexp.MustCompile(`^ +(-\w, )?--\S+( \S+)? {3}`) // words in backticks would be taken for the value's type
	for _, verb := range verbs(newRoot(cli.Streams{Program: "kubectl changeward"})) {
		for usage := range strings.Lines(verb.LocalFlags().FlagUsages()) {
			assert.Check(t, line.MatchString(usage), "%s %s", verb.CommandPath(), usage)
		}
	}
}

func TestTheRootHelpNamesEveryVerb(t *testing.T) {
	answer := stranger(t).run(t).exits(t, 0).says(t, "Usage:\n  kubectl changeward [command]", "Exit codes: 0 allowed")
	for _, cmd := range newRoot(cli.Streams{}).Commands() {
		if !cmd.Hidden {
			answer.says(t, "\n  "+cmd.Name()+" ")
		}
	}
	stranger(t).run(t, "options").exits(t, 0).says(t, "--as-group", "--kubeconfig", "--context")
}

func TestMistypedCommandsGetAnAnswer(t *testing.T) {
	for line, want := range map[string]string{
		"aprove 3":                    "unknown command aprove: did you mean approve?",
		"policy showw":                "unknown command policy showw: did you mean show?",
		"plna -f x -o json":           "unknown command plna: did you mean plan?",
		"policy shwo --version 2":     "unknown command policy shwo: did you mean show?",
		"signer extend":               "hint: see `kubectl changeward signer --help`",
		"doctor --state dir:x":        "unknown flag: --state",
		"nothing":                     "hint: see `kubectl changeward --help`",
		"help nothing":                "unknown command nothing\nhint: see `kubectl changeward --help`",
		"help policy shwo":            "unknown command policy shwo: did you mean show?",
		"connect prod --context gone": "hint: the kubeconfig has these contexts: nowhere",
		"gate":                        "which manifests? name them with -f",
		"gate -f - ":                  "say with --scope what is being changed",
		"gate -f x --again":           "--again needs a --reason",
		"gate -f x --timeout 5m":      "--timeout says how long --wait waits: say --wait, too",
		"plan -f x -o yaml":           `no output format "yaml" here: choose one of text, json, markdown`,
		"list extra":                  "kubectl changeward list wants no arguments",
		"list --watch -o json":        "--watch does not go with -o json",
		"approve":                     "kubectl changeward approve wants change requests",
		"approve 1 --emergency":       "--emergency needs a --reason",
		"approve 1 2 --confirm abcd":  "--confirm goes with a single change request",
		"show 1 --pae --signature":    "choose one of --pae and --signature",
		"token create ci":             "which role? --role is propose (a gate) or approve",
		"install --approvers sre":     "--approvers sre: want group:NAME or user:NAME",
		"connect prod --adapter x":    `no adapter "x": changeward knows kubernetes`,
		"connect prod --option a=b":   "--option a: no such option",
		"policy set":                  "name one file, as an argument or with -f",
		"completion csh":              `no completion for "csh"`,
		"gate -f x --state files:x":   "--state files:x: want dir:PATH",
		"list --executor https://old": "there is no executor",
	} {
		lost(t).run(t, strings.Fields(line)...).exits(t, 1).says(t, want)
	}
}

func TestHelpIsAVerbToo(t *testing.T) {
	for line, same := range map[string]string{"help": "--help", "help gate": "gate --help", "help policy set": "policy set --help"} {
		want := stranger(t).run(t, strings.Fields(same)...).exits(t, 0).stdout
		assert.Equal(t, stranger(t).run(t, strings.Fields(line)...).exits(t, 0).stdout, want)
	}
}

// complete is what the shell offers at the last of these words.
func (p person) complete(t *testing.T, words ...string) answer {
	t.Helper()
	return p.run(t, append([]string{"__complete", "--kubeconfig", p.kubeconfig()}, words...)...)
}

func TestWhatIsTypedIsCompleted(t *testing.T) {
	p := lost(t).with("XDG_CONFIG_HOME", t.TempDir())
	p.run(t, "connect", "prod").exits(t, 0)
	p.complete(t, "ga").exits(t, 0).says(t, "gate\tpass only if")
	all := p.complete(t, "").exits(t, 0).says(t, "help\texplain a command")
	assert.Assert(t, !strings.Contains(all.stdout, "no-help"), all.stdout)
	p.complete(t, "help", "policy", "").exits(t, 0).says(t, "show\tshow the policy in force")
	p.complete(t, "plan", "--context", "").exits(t, 0).says(t, "nowhere\n:4")
	p.complete(t, "plan", "-o", "").exits(t, 0).says(t, "text\njson\nmarkdown\n")
	p.complete(t, "plan", "--target", "").exits(t, 0).says(t, "prod\tnowhere")
	p.complete(t, "token", "create", "--role", "").exits(t, 0).says(t, "propose\napprove\n")
	p.complete(t, "completion", "").exits(t, 0).says(t, "bash", "zsh", "fish", "powershell", "kubectl")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		p.run(t, "completion", shell).exits(t, 0).says(t, "__complete")
	}
	assert.Equal(t, p.run(t, "completion", "kubectl").exits(t, 0).stdout, "#!/bin/sh\nexec kubectl-changeward __complete \"$@\"\n")
}

func TestAPolicyTestFindsTheRecordedPlanThatItNames(t *testing.T) {
	rules := manifest(t, "policy.yaml", "apiVersion: changeward.dev/v1alpha1\nkind: Policy\nspec: {clusterName: demo, default: allow}\n")
	plan := manifest(t, "plan.json", "not a plan")
	for name, want := range map[string]string{plan: "plan.file", "beside.json": string(filepath.Separator) + "beside.json: no such file"} {
		cases := manifest(t, "cases.yaml", "apiVersion: changeward.dev/v1alpha1\nkind: PolicyTest\ncases: [{name: a, plan: {file: "+name+"}, expect: {verdict: allowed}}]\n")
		got := stranger(t).run(t, "policy", "test", cases, "--policy", rules).exits(t, 1).says(t, want)
		assert.Equal(t, strings.Contains(got.stderr, "no such file"), name != plan, got.stderr)
	}
}

func TestAnUnreachableClusterIsSaidPlainly(t *testing.T) {
	p := lost(t)
	for _, line := range []string{"list", "plan -f ../testdata/demo/apps/shop", "doctor", "install --name x --env y --approvers group:z"} {
		p.run(t, strings.Fields(line)...).exits(t, 1).says(t, "the server cannot be reached", "hint: ")
	}
	p.run(t, "list", "--context", "elsewhere").exits(t, 1).says(t, `context "elsewhere" does not exist`, "the kubeconfig has these contexts: nowhere")
	p.run(t, "list", "--kubeconfig", p.home+"/none").exits(t, 1).says(t, "none: no such file")
}

// lost is someone whose kubeconfig leads nowhere.
func lost(t *testing.T) person {
	t.Helper()
	p := stranger(t)
	assert.NilError(t, os.WriteFile(p.kubeconfig(), []byte(nowhere), 0o600))
	return p
}

// stranger has neither a cluster nor a key.
func stranger(t *testing.T) person { return person{home: t.TempDir()} }

const nowhere = `apiVersion: v1
kind: Config
current-context: nowhere
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u}]
contexts: [{name: nowhere, context: {cluster: c, user: u}}]
`
