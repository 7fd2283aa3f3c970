package flux_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts"
	"github.com/changeward/changeward/testdata/e2e/parts/flux"
)

// documented are the commands of docs/flux.md, block by block.
func documented(t *testing.T) []string {
	t.Helper()
	out := parts.Commands(t, "flux.md")
	assert.Equal(t, len(out), 3)
	return out
}

// shell runs lines as typed, in the checkout, with kubectl, its plugin and the
// plugin of the Flux CLI on the path. The Flux CLI itself is a shim that starts
// its plugin.
func (s stage) shell(t *testing.T, lines string) answer {
	t.Helper()
	folder := filepath.Join(s.home, "bin")
	assert.NilError(t, os.MkdirAll(folder, 0o700))
	for name, target := range map[string]string{"kubectl": "kubectl", "kubectl-changeward": "kubectl-changeward", "flux-changeward": "flux-changeward"} {
		absolute, err := filepath.Abs(bin(target))
		assert.NilError(t, err)
		if err := os.Symlink(absolute, filepath.Join(folder, name)); !os.IsExist(err) {
			assert.NilError(t, err)
		}
	}
	shim := "#!/bin/sh\nname=$1\nshift\nexec \"flux-$name\" \"$@\"\n"
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "flux"), []byte(shim), 0o700))
	env := []string{"PATH=" + folder + ":" + os.Getenv("PATH")}
	return s.within(t, s.repository.Dir, env, "sh", "-ec", lines)
}

func (s stage) runs(t *testing.T, lines string) answer {
	t.Helper()
	got := s.shell(t, lines)
	assert.Equal(t, got.code, 0, "%s\n%s", lines, got)
	return got
}

func TestTheRecipesOfTheDocsWorkAsWritten(t *testing.T) {
	s, recipes := stageIn(t, kubetest.Start(t, "alice:sre")), documented(t)
	config := func(value string) map[string]string {
		return map[string]string{"docs/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: documented}\ndata: {a: \"" + value + "\"}\n"}
	}
	s.kubectl(t, "create", "namespace", "documented")
	s.repository.Write(t, config("1"))
	first := s.repository.Push(t, "one")
	s.Follow(t, "apps", s.repository)
	c := scenario{name: "apps", spec: "prune: true\npath: ./docs"}
	s.Cluster.Apply(t, kubetest.Admin, "test", strings.Replace(c.text(), "name: repository", "name: apps", 1))
	s.Applied(t, "apps", first)
	s.Patch(t, flux.GitRepositories(), "apps", map[string]any{"spec": map[string]any{"ref": map[string]any{"commit": first}}})
	s.runs(t, "mkdir -m 700 ~/.ssh && kubectl changeward signer create --file ~/.ssh/id_ed25519\nkubectl changeward signer create --file ~/.ssh/alice\n"+
		"kubectl changeward install --name demo --env prod --approvers group:sre --proposers user:admin --yes\n"+
		"kubectl changeward signer enroll --context alice --key ~/.ssh/alice --yes")

	s.repository.Write(t, config("2"))
	second := s.repository.Push(t, "two")
	waiting := s.shell(t, recipes[0])
	assert.Equal(t, waiting.code, 2, "%s", waiting)
	comment, err := os.ReadFile(filepath.Join(s.repository.Dir, "plan.md"))
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(comment), "settings"), string(comment))
	assert.Equal(t, s.shell(t, recipes[1]).code, 2, "nothing is moved before an approval")

	id := regexp.MustCompile(`c_[0-9a-f]{12}`).FindString(waiting.stdout)
	s.runs(t, "kubectl changeward approve "+id+" --context alice --key ~/.ssh/alice --yes")
	s.runs(t, recipes[0])
	s.runs(t, recipes[1])
	s.Applied(t, "apps", second)
	assert.Assert(t, !strings.Contains(s.runs(t, recipes[2]).stdout, "settings"), "Flux has done what was approved")
}
