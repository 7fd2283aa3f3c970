package argocd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/testdata/e2e/parts/argocd"
	"github.com/changeward/changeward/testdata/e2e/parts/gitserver"
	"github.com/changeward/changeward/testdata/e2e/parts/kubelet"
)

// image is what the Job of integrations/argocd names.
const image = "ghcr.io/changeward/changeward:v1"

// world is a cluster with Argo CD and changeward in it, a private repository,
// and the people who use them: alice approves, dave proposes.
type world struct {
	*kubetest.Cluster
	argo       *argocd.Install
	kubelet    *kubelet.Kubelet
	repository gitserver.Repository
	homes      string
}

// namespace is where the Application of a world lives. Its Pods must be
// harmless.
const namespace = "shop"

func newWorld(t *testing.T, settings map[string]string) world {
	t.Helper()
	w := world{Cluster: kubetest.StartWithControllers(t, "alice:sre", "dave:dev"), repository: gitserver.Start(t), homes: t.TempDir()}
	built := kubelet.Build(t, filepath.Join("..", "..", "..", "Dockerfile"))
	w.argo = argocd.Start(t, w.Cluster, settings)
	w.kubelet = kubelet.Start(t, w.Cluster, map[string]kubelet.Image{image: built})
	w.argo.Repository(t, w.repository.URL, "git", gitserver.Token)
	core := w.Client(kubetest.Admin).CoreV1()
	_, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = core.Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "changeward-git"},
		StringData: map[string]string{"token": gitserver.Token}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	for _, who := range []string{kubetest.Admin, "alice", "dave"} {
		w.house(t, who)
	}
	w.as(kubetest.Admin).run(t, 0, "install", "--name", "demo", "--env", "prod", "--approvers", "group:sre", "--proposers", "group:dev",
		"--scope", namespace, "--argocd", "--yes")
	w.as("alice").run(t, 0, "signer", "enroll", "--yes")
	return w
}

// house gives somebody a home with an SSH key.
func (w world) house(t *testing.T, who string) {
	t.Helper()
	p := w.as(who)
	assert.NilError(t, os.MkdirAll(p.home, 0o700))
	_, err := sign.CreateKey(p.key(), who)
	assert.NilError(t, err)
	config, err := os.ReadFile(w.KubeconfigAs(t, who))
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(p.home, "kubeconfig"), config, 0o600))
}

// person is somebody at a terminal of their own.
type person struct{ home string }

func (w world) as(who string) person { return person{filepath.Join(w.homes, who)} }

func (p person) key() string { return filepath.Join(p.home, "key") }

// run runs the plugin as the person, and returns what it printed.
func (p person) run(t *testing.T, code int, args ...string) string {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("..", "..", "..", "bin", "kubectl-changeward"))
	assert.NilError(t, err)
	result := icmd.RunCmd(icmd.Cmd{Command: append([]string{program}, args...), Env: []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"),
		"CHANGEWARD_KEY=" + p.key(), "KUBECONFIG=" + filepath.Join(p.home, "kubeconfig")}})
	assert.Equal(t, result.ExitCode, code, "%v: %s", args, result.Combined())
	assert.Assert(t, !strings.Contains(result.Combined(), "marker-"), result.Combined())
	return result.Stdout()
}

// approve reads a change request and approves it.
func (p person) approve(t *testing.T, id string) {
	t.Helper()
	var request struct{ Plan struct{ Hash string } }
	assert.NilError(t, json.Unmarshal([]byte(p.run(t, 0, "show", id, "-o", "json")), &request))
	hash := request.Plan.Hash
	p.run(t, 0, "approve", id, "--yes", "--confirm", hash[len(hash)-4:])
}
