package flux_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts/flux"
)

// The Flux CLI looks for flux-changeward in one folder, and replaces itself by
// it, with all that was typed behind `flux changeward`. For completion it runs it
// with __complete in front.
func TestThePluginWorksFromThePluginFolderOfTheFluxCLI(t *testing.T) {
	s := newStage(t)
	s.repository.Write(t, map[string]string{"plugged/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {a: b}\n"})
	s.Cluster.Apply(t, kubetest.Admin, "test", "apiVersion: v1\nkind: Namespace\nmetadata: {name: gitops}\n")
	s.Follow(t, "repository", s.repository)
	c := scenario{name: "plugged", spec: "prune: true\nsuspend: true"}
	s.Cluster.Apply(t, kubetest.Admin, "test", c.text(), strings.ReplaceAll(c.text(), flux.Namespace, "gitops"))

	folder := filepath.Join(s.home, ".fluxcd", "plugins")
	assert.NilError(t, os.MkdirAll(folder, 0o700))
	plugin := filepath.Join(folder, "flux-changeward")
	copyBinary(t, bin("flux-changeward"), plugin)
	run := func(env []string, line string) answer {
		return s.within(t, s.repository.Dir, env, plugin, strings.Fields(line)...)
	}
	got := run(nil, "diff kustomization plugged -f . -o json")
	assert.Assert(t, got.code == 0 && strings.Contains(got.stdout, `"scope": "kustomization/flux-system/plugged"`), "%s", got)
	elsewhere := run([]string{"FLUX_SYSTEM_NAMESPACE=gitops"}, "diff ks plugged -f .")
	assert.Assert(t, elsewhere.code == 1 && strings.Contains(elsewhere.stderr, "its source gitrepository/gitops/repository does not exist"), "%s", elsewhere)
	wrong := run(nil, "diff kustomization plugged -f . -n default")
	assert.Assert(t, strings.Contains(wrong.stderr, "it does not exist in namespace default, but in flux-system, gitops"), "%s", wrong)
	context := run(nil, "diff kustomization plugged -f . --context nowhere")
	assert.Assert(t, context.code == 1 && strings.Contains(context.stderr, `context "nowhere" does not exist`), "%s", context)

	for line, want := range map[string]string{
		"__complete ga": "gate\t", "__complete gate ": "kustomization\t", "__complete gate kustomization pl": "plugged\n", "__complete diff kustomization plugged -o ": "json\n",
	} {
		words := strings.Split(line, " ")
		got := s.within(t, "", nil, plugin, words...)
		assert.Assert(t, got.code == 0 && strings.Contains(got.stdout, want), "%s: %s", line, got)
	}
}

func copyBinary(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	assert.NilError(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	assert.NilError(t, err)
	_, err = io.Copy(out, in)
	assert.NilError(t, err)
	assert.NilError(t, out.Close())
}
