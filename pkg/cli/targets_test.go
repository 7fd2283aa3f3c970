package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/render"
)

func envOf(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestTargetsAreKeptByName(t *testing.T) {
	env := envOf(map[string]string{"XDG_CONFIG_HOME": t.TempDir()})
	targets, err := LoadTargets(env)
	assert.NilError(t, err)
	assert.Equal(t, len(targets.List()), 0)
	replaced, err := targets.Put(render.Target{Name: "prod", Context: "a"})
	assert.NilError(t, err)
	assert.Assert(t, !replaced)
	_, err = targets.Put(render.Target{Name: "dev", Context: "b", Env: "dev"})
	assert.NilError(t, err)
	replaced, err = targets.Put(render.Target{Name: "prod", Context: "c"})
	assert.NilError(t, err)
	assert.Assert(t, replaced)

	again, err := LoadTargets(env)
	assert.NilError(t, err)
	assert.DeepEqual(t, again.List(), []render.Target{{Name: "dev", Context: "b", Env: "dev"}, {Name: "prod", Context: "c"}})
	info, err := os.Stat(again.path)
	assert.NilError(t, err)
	assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
}

func TestATargetsFileIsReadStrictlyOrNotAtAll(t *testing.T) {
	head := "apiVersion: changeward.dev/v1alpha1\nkind: Targets\n"
	for name, c := range map[string]struct{ content, want string }{
		"unknown key":   {head + "targets:\n- name: a\n  contxt: b\n", `unknown field "targets[0].contxt"`},
		"other case":    {head + "targets:\n- name: a\n  Context: b\n  context: c\n", `unknown field "targets[0].Context"`},
		"twice":         {head + "targets:\n- name: a\n- name: a\n", `"a" is there twice`},
		"bad name":      {head + "targets:\n- name: --x\n", `"--x" is no name for a target`},
		"other version": {"apiVersion: changeward.dev/v9\nkind: Targets\n", "is changeward.dev/v9 Targets"},
		"no YAML":       {"\t{", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			assert.NilError(t, os.MkdirAll(filepath.Join(folder, "changeward"), 0o700))
			assert.NilError(t, os.WriteFile(filepath.Join(folder, "changeward", "targets.yaml"), []byte(c.content), 0o600))
			_, err := LoadTargets(envOf(map[string]string{"XDG_CONFIG_HOME": folder}))
			assert.ErrorContains(t, err, c.want)
		})
	}
}

const twoContexts = `apiVersion: v1
kind: Config
current-context: one
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u}]
contexts:
- {name: one, context: {cluster: c, user: u, namespace: team}}
- {name: two, context: {cluster: c, user: u}}
`

// clusterFlags are flags as they were typed, over a kubeconfig with two contexts.
func clusterFlags(t *testing.T, args ...string) *ClusterFlags {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	assert.NilError(t, os.WriteFile(file, []byte(twoContexts), 0o600))
	root := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	flags := NewClusterFlags(root)
	flags.AddFlags(root, newConsole(nil, "").Streams)
	root.SetArgs(append([]string{"--kubeconfig", file}, args...))
	assert.NilError(t, root.ExecuteContext(context.Background()))
	return flags
}

func TestATargetStandsForKubeconfigFlags(t *testing.T) {
	env := map[string]string{"XDG_CONFIG_HOME": t.TempDir()}
	targets, err := LoadTargets(envOf(env))
	assert.NilError(t, err)
	_, err = targets.Put(render.Target{Name: "prod", Context: "two", Namespace: "shop"})
	assert.NilError(t, err)

	at, err := clusterFlags(t, "--target", "prod").resolve(newConsole(env, "").Streams)
	assert.NilError(t, err)
	assert.Equal(t, at.context, "two")
	assert.Equal(t, at.namespace, "shop")

	at, err = clusterFlags(t).resolve(newConsole(env, "").Streams)
	assert.NilError(t, err)
	assert.Equal(t, at.context, "one")
	assert.Equal(t, at.namespace, "team")

	_, err = clusterFlags(t, "--target", "prod", "--context", "one").resolve(newConsole(env, "").Streams)
	assert.Error(t, err, "--context one contradicts target prod, which has two")

	at, err = clusterFlags(t, "--target", "prod", "-n", "other").resolve(newConsole(env, "").Streams)
	assert.NilError(t, err)
	assert.Equal(t, at.namespace, "other")
}

func TestAnExecutorFromElsewhereGetsAClearAnswer(t *testing.T) {
	_, err := clusterFlags(t, "--executor", "https://x").resolve(newConsole(nil, "").Streams)
	assert.ErrorContains(t, err, "--executor: there is no executor: plans and approvals are records in the cluster itself")
	_, err = clusterFlags(t).resolve(newConsole(map[string]string{"CHANGEWARD_EXECUTOR_URL": "https://x"}, "").Streams)
	assert.ErrorContains(t, err, "CHANGEWARD_EXECUTOR_URL: there is no executor")
}

func TestAPinnedTargetNamesItsContext(t *testing.T) {
	flags := clusterFlags(t)
	target, err := flags.PinTarget(render.Target{Name: "prod"})
	assert.NilError(t, err)
	assert.Equal(t, target.Context, "one")
	assert.Assert(t, filepath.IsAbs(target.Kubeconfig))
	_, err = clusterFlags(t, "--context", "three").PinTarget(render.Target{Name: "prod"})
	assert.Error(t, err, `the kubeconfig has no context "three"`)
}

func FuzzTargetsAreReadStrictly(f *testing.F) {
	f.Add("apiVersion: changeward.dev/v1alpha1\nkind: Targets\ntargets:\n- name: a\n  context: b\n")
	f.Add("\t{")
	f.Fuzz(func(t *testing.T, text string) {
		targets, err := parseTargets([]byte(text))
		for _, target := range targets {
			assert.Assert(t, err != nil || checkTargetName(target.Name) == nil)
		}
	})
}
