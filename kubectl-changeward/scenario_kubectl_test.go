package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/icmd"
)

// kubectl runs the real kubectl as the person, with bin on PATH.
func (p person) kubectl(t *testing.T, args ...string) answer {
	t.Helper()
	result := icmd.RunCmd(icmd.Cmd{Command: append([]string{filepath.Join(bin(t), "kubectl")}, args...), Env: p.environ(t), Stdin: strings.NewReader(p.stdin)})
	got := answer{args: args, code: result.ExitCode, stdout: result.Stdout(), stderr: result.Stderr()}
	got.isCivil(t)
	return got
}

func TestThroughKubectlExitCodesAndOutputComeThrough(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	ci, alice := s.as("ci"), s.as("alice")
	got := ci.kubectl(t, "changeward", "plan", "-f", s.dir).exits(t, 0).prints(t, `data.feature_new_cart: "false" → "true"`)
	assert.Equal(t, got.stderr, "")
	got = ci.kubectl(t, "changeward", "gate", "-f", s.dir).exits(t, 2)
	id := idOf(t, got)
	got.tells(t, "hint: approve with `kubectl changeward approve "+id+"`, then run the gate again\n")
	alice.kubectl(t, "changeward", "reject", id, "--yes").exits(t, 0)
	ci.kubectl(t, "changeward", "gate", "-f", s.dir, "-o", "json").exits(t, 4)
	ci.kubectl(t, "changeward", "gate", "-f", s.dir, "--again", "--reason", "once more").exits(t, 2)
	id = idOf(t, ci.kubectl(t, "changeward", "gate", "-f", s.dir).exits(t, 2))
	alice.kubectl(t, "changeward", "approve", id, "--yes").exits(t, 0).prints(t, "now approved")
	ci.kubectl(t, "changeward", "gate", "-f", s.dir).exits(t, 0)
	ci.kubectl(t, "changeward", "gate", "-f", filepath.Join(s.dir, "missing.yaml")).exits(t, 1).tells(t, "error: ")
	ci.piping(s.config("true")).kubectl(t, "changeward", "plan", "-f", "-").exits(t, 0).prints(t, "shop-config (update)")
}

func TestThroughKubectlItCallsItselfWhatPeopleType(t *testing.T) {
	t.Parallel()
	p := shared(t).as("alice")
	p.kubectl(t, "changeward", "version").exits(t, 0).prints(t, "kubectl changeward ", "plan hash: changeward.dev/plan/v1, rules 1\n")
	p.kubectl(t, "changeward").exits(t, 0).prints(t, "Usage:\n  kubectl changeward", "kubectl changeward approve '#3'")
	help := p.kubectl(t, "changeward", "gate", "--help").exits(t, 0).prints(t, "Usage:\n  kubectl changeward gate [flags]", "--manifests", "Exit codes: 0 allowed")
	assert.Assert(t, !strings.Contains(help.stdout, "kubectl-changeward"), "%s", help)
	p.kubectl(t, "changeward", "gaet").exits(t, 1).tells(t, "error: unknown command gaet: did you mean gate?")
	p.kubectl(t, "changeward", "gate", "--nonsense").exits(t, 1).tells(t, "error: unknown flag: --nonsense", "hint: see `kubectl changeward gate --help`")
	p.kubectl(t, "changeward", "policy", "sett").exits(t, 1).tells(t, "did you mean set, test?")
	p.kubectl(t, "plugin", "list").exits(t, 0).prints(t, "kubectl-changeward")
}

func TestThroughKubectlTheTabKeyCompletesVerbsAndRequests(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	id := s.proposed(t).ID
	script := s.as("alice").kubectl(t, "changeward", "completion", "kubectl").exits(t, 0)
	folder := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "kubectl_complete-changeward"), []byte(script.stdout), 0o700))
	alice := s.as("alice").with("PATH", folder+string(os.PathListSeparator)+bin(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	alice.kubectl(t, "__complete", "changeward", "ga").exits(t, 0).prints(t, "gate\t")
	alice.kubectl(t, "__complete", "changeward", "approve", "").exits(t, 0).prints(t, id+"\t#")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		got := alice.run(t, "completion", shell).exits(t, 0)
		assert.Assert(t, cmp.Contains(got.stdout, "kubectl"))
		assert.Equal(t, got.stderr, "")
	}
	alice.run(t, "completion", "tcsh").exits(t, 1).tells(t, `no completion for "tcsh": choose one of bash, zsh, fish, powershell, kubectl`)
}
