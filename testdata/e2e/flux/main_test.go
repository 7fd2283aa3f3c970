// Package flux_test plans Kustomizations with the built plugin, lets Flux's own
// controllers apply them, and compares.
package flux_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts/flux"
	"github.com/changeward/changeward/testdata/e2e/parts/gitserver"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

// stage is a cluster with Flux in it, that follows a repository.
type stage struct {
	*flux.Flux
	repository gitserver.Repository
	home       string
}

func newStage(t *testing.T, flags ...string) stage {
	t.Helper()
	return stageIn(t, kubetest.Shared(t), flags...)
}

func stageIn(t *testing.T, cluster *kubetest.Cluster, flags ...string) stage {
	t.Helper()
	return stage{flux.Start(t, cluster, flags...), gitserver.Public(t), t.TempDir()}
}

// bin is a binary of the repository.
func bin(name string) string { return filepath.Join("..", "..", "..", "bin", name) }

// answer is what a process said, and how it ended.
type answer struct {
	code           int
	stdout, stderr string
}

// plugin runs the plugin as the Flux CLI would: the binary itself, its
// arguments as they were typed.
func (s stage) plugin(t *testing.T, args ...string) answer {
	t.Helper()
	return s.start(t, bin("flux-changeward"), args...)
}

func (s stage) start(t *testing.T, path string, args ...string) answer {
	t.Helper()
	return s.within(t, "", nil, path, args...)
}

// within starts a process in a folder, with more in its environment.
func (s stage) within(t *testing.T, dir string, env []string, path string, args ...string) answer {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append([]string{"HOME=" + s.home, "KUBECONFIG=" + s.Cluster.Kubeconfig(), "PATH=" + os.Getenv("PATH")}, env...)
	_ = cmd.Run() // the exit code says it
	assert.Assert(t, !strings.Contains(stdout.String()+stderr.String(), "marker-of"), "the value of a Secret is shown\n%s%s", &stdout, &stderr)
	return answer{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (a answer) String() string { return a.stdout + "--- stderr\n" + a.stderr }

// kubectl is a person who writes past Flux.
func (s stage) kubectl(t *testing.T, args ...string) {
	t.Helper()
	got := s.start(t, bin("kubectl"), args...)
	assert.Equal(t, got.code, 0, "kubectl %v: %s", args, got)
}

// document is what of a plan's JSON is compared.
type document struct {
	Complete bool
	Changes  []change
	Errors   []struct{ Kind, Namespace, Name, Reason, Message string }
	Notes    []string
}

type change struct {
	Operation, Group, Version, Kind, Namespace, Name, Skipped string
	Unverified                                                bool
	Fields                                                    []field
	Object                                                    map[string]any
	Notes                                                     []string
}

type field struct {
	Path, Action string
	Old, New     any
}

// diff plans a Kustomization, and reads the plan.
func (s stage) diff(t *testing.T, name string, args ...string) document {
	t.Helper()
	got := s.plugin(t, append([]string{"diff", "kustomization", name, "-o", "json", "--show-unchanged"}, args...)...)
	var d document
	assert.NilError(t, json.Unmarshal([]byte(got.stdout), &d), "%s", got)
	return d
}
