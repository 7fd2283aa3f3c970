package fidelity_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/kubetest"
)

func TestMain(m *testing.M) {
	os.Exit(kubetest.MainAfter(m, prepare))
}

// crates is a kind of custom resources with every kind of list.
const crates = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crates.fidelity.example.com}
spec:
  group: fidelity.example.com
  scope: Namespaced
  names: {kind: Crate, plural: crates}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            properties:
              size: {type: integer, default: 1}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              words: {type: array, items: {type: string}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: integer, default: 7}}}
`

func prepare(*kubetest.Cluster) error {
	file, err := os.CreateTemp("", "crates")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(crates); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"apply", "-f", file.Name()},
		{"wait", "--for=condition=Established", "crd/crates.fidelity.example.com"},
		{"create", "namespace", "team-a"},
		{"create", "serviceaccount", "default", "-n", "team-a"},
	} {
		if result := icmd.RunCmd(command(os.Getenv("CHANGEWARD_TEST_KUBECONFIG"), args...)); result.ExitCode != 0 {
			return fmt.Errorf("kubectl %v: %s", args, result.Combined())
		}
	}
	return nil
}

// command is the real kubectl.
func command(kubeconfig string, args ...string) icmd.Cmd {
	return icmd.Command(filepath.Join("..", "..", "..", "bin", "kubectl"), append([]string{
		"--kubeconfig", kubeconfig, "--cache-dir", filepath.Join(filepath.Dir(kubeconfig), "cache")}, args...)...)
}

// kubectl runs kubectl as admin, and fails the test if it fails.
func kubectl(t *testing.T, args ...string) *icmd.Result {
	t.Helper()
	result := try(t, "", args...)
	assert.Equal(t, result.ExitCode, 0, "kubectl %v: %s", args, result.Combined())
	return result
}

// kubectlApply applies a text, and fails the test if any of it is refused.
func kubectlApply(t *testing.T, text string, flags ...string) {
	t.Helper()
	result := try(t, text, append([]string{"apply", "-f", "-"}, flags...)...)
	assert.Equal(t, result.ExitCode, 0, result.Combined())
}

// try runs kubectl as admin, with standard input.
func try(t *testing.T, stdin string, args ...string) *icmd.Result {
	t.Helper()
	cmd := command(kubetest.Shared(t).Kubeconfig(), args...)
	cmd.Stdin = strings.NewReader(stdin)
	return icmd.RunCmd(cmd)
}

// edit is `kubectl edit` by somebody whose editor is sed.
func edit(t *testing.T, script string, args ...string) {
	t.Helper()
	editor := filepath.Join(t.TempDir(), "editor")
	assert.NilError(t, os.WriteFile(editor, []byte("#!/bin/sh\nexec sed -i -e '"+script+"' \"$1\"\n"), 0o700))
	cmd := command(kubetest.Shared(t).Kubeconfig(), append([]string{"edit"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBE_EDITOR="+editor)
	result := icmd.RunCmd(cmd)
	assert.Equal(t, result.ExitCode, 0, result.Combined())
	assert.Assert(t, strings.Contains(result.Stdout(), "edited"), result.Combined())
}

// caseFile is the text of a shared case.
func caseFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "cases", name))
	assert.NilError(t, err)
	return string(data)
}

// versions of the objects in a file: lines that end in #1 are in the first
// only, those in #2 in the second only.
func versions(t *testing.T, file, namespace string) (first, second string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	assert.NilError(t, err)
	var out [2]strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(string(data), "NS", namespace)) {
		line = strings.TrimRight(line, "\n")
		text, only1 := strings.CutSuffix(line, " #1")
		text, only2 := strings.CutSuffix(text, " #2")
		if !only2 {
			fmt.Fprintln(&out[0], text)
		}
		if !only1 {
			fmt.Fprintln(&out[1], text)
		}
	}
	return out[0].String(), out[1].String()
}

// settle waits until kubectl knows the test's kinds: its discovery is cached.
func settle(t *testing.T) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if result := try(t, "", "get", "crates", "-A"); result.ExitCode != 0 {
			return poll.Continue("%s", result.Combined())
		}
		return poll.Success()
	})
}
