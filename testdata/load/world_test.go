package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/sign"
)

// world is a cluster with changeward in it, people who approve, and a gate.
type world struct {
	*kubetest.Cluster
	size
	bin, dir string
}

// policy asks for the quorum in the crowd's namespace, and for two people
// everywhere else.
const policy = `
apiVersion: changeward.dev/v1alpha1
kind: Policy
spec:
  clusterName: load
  env: prod
  admins: {users: [admin]}
  rules:
  - name: crowd
    match: change.namespace == %q
    decision: approval
    approvers: [{groups: [sre], count: %d}]
  - name: all
    match: "true"
    decision: approval
    approvers: [{groups: [sre], count: 2}]
`

func start(t *testing.T, s size) *world {
	t.Helper()
	users := make([]string, s.approvers)
	for i := range users {
		users[i] = person(i) + ":sre"
	}
	bin, err := filepath.Abs("../../bin/kubectl-changeward")
	assert.NilError(t, err)
	w := &world{Cluster: kubetest.Start(t, users...), size: s, bin: bin, dir: t.TempDir()}
	for _, name := range []string{kubetest.Admin, "ci"} {
		w.settle(t, name)
	}
	for i := range users {
		w.settle(t, person(i))
	}
	file := w.write(t, "policy", fmt.Sprintf(policy, crowded, s.quorum))
	admin := w.as(kubetest.Admin)
	admin.run(t.Context(), "install", "--name", "load", "--env", "prod", "--approvers", "group:sre", "--yes").exits(t, 0)
	admin.run(t.Context(), "policy", "set", file, "--yes").exits(t, 0)
	admin.run(t.Context(), "token", "create", "ci", "--role", "propose", "--out", w.as("ci").kubeconfig).exits(t, 0)
	return w
}

func person(i int) string { return fmt.Sprintf("person-%d", i+1) }

// settle gives somebody a home and a key.
func (w *world) settle(t *testing.T, name string) {
	t.Helper()
	p := w.as(name)
	assert.NilError(t, os.Mkdir(p.home, 0o700))
	_, err := sign.CreateKey(p.key, name)
	assert.NilError(t, err)
}

func (w *world) write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(w.dir, name+".yaml")
	assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// someone is a user with a home, a kubeconfig and a key.
type someone struct {
	bin, name, home, kubeconfig, key string
}

func (w *world) as(name string) someone {
	home := filepath.Join(w.dir, name)
	p := someone{bin: w.bin, name: name, home: home, key: filepath.Join(home, "key"), kubeconfig: w.Kubeconfig()}
	if name == "ci" {
		p.kubeconfig = filepath.Join(home, "kubeconfig")
	}
	return p
}

// answer is what a command said, and how it ended.
type answer struct {
	said           string
	code           int
	stdout, stderr string
}

// run runs a command of the plugin as a process. A code of -1: it was killed.
func (p someone) run(ctx context.Context, args ...string) answer {
	args = append(args, "--kubeconfig", p.kubeconfig, "--request-timeout", "5m")
	if p.name != "ci" {
		args = append(args, "--context", p.name)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.bin, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "CHANGEWARD_KEY=" + p.key}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	got := answer{said: fmt.Sprint(args), code: -1, stdout: stdout.String(), stderr: stderr.String()}
	if cmd.ProcessState != nil {
		got.code = cmd.ProcessState.ExitCode()
	} else {
		got.stderr += fmt.Sprint(err)
	}
	return got
}

func (a answer) String() string {
	return fmt.Sprintf("%s\n%s--- stderr\n%s--- exit %d", a.said, a.stdout, a.stderr, a.code)
}

func (a answer) exits(t *testing.T, code int) answer {
	t.Helper()
	assert.Equal(t, a.code, code, "%s", a)
	return a
}

func (a answer) json(t *testing.T, into any) {
	t.Helper()
	assert.NilError(t, json.Unmarshal([]byte(a.stdout), into), "%s", a)
}
