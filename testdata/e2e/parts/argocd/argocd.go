// Package argocd runs a real Argo CD for tests: its repository server, its
// application controller and Redis are processes of this machine, and work on a
// test's API server.
//
// Enter at Start, then Repository for what it may read, and Application to
// follow one through its operations. The binaries are made by
// `make argocdserver`.
package argocd

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
)

// Namespace is where it is installed.
const Namespace = "argocd"

// Install is a running Argo CD. Safe for use by several tests at once.
type Install struct {
	Cluster *kubetest.Cluster
	// RepoServer is the address of the repository server, host:port, without TLS.
	RepoServer string
	// Logs is the folder of what each process says.
	Logs string
}

// Start installs Argo CD on a cluster and runs it until the test ends.
// settings are the data of ConfigMap argocd-cm. A cluster with controllers is
// needed for hooks: their old Jobs are deleted by its garbage collector.
func Start(t testing.TB, cluster *kubetest.Cluster, settings map[string]string) *Install {
	t.Helper()
	home := homes{dir: t.TempDir(), module: module(t), bin: bin(t)}
	home.make(t)
	i := &Install{Cluster: cluster, Logs: home.dir}
	i.objects(t, home.module, settings)
	redis, repo := freePort(t), freePort(t)
	run(t, home.dir, "redis", nil, "redis-server", "--bind", "127.0.0.1", "--port", redis, "--save", "", "--appendonly", "no", "--dir", home.dir)
	waitForPort(t, redis)
	i.RepoServer = "127.0.0.1:" + repo
	run(t, home.dir, "repo-server", home.env(cluster, "argocd-repo-server"), home.argocd(), "--redis", "127.0.0.1:"+redis,
		"--address", "127.0.0.1", "--port", repo, "--metrics-address", "127.0.0.1", "--metrics-port", freePort(t), "--disable-tls", "--client-ca-path", "")
	waitForPort(t, repo)
	run(t, home.dir, "application-controller", home.env(cluster, "argocd-application-controller"), home.argocd(), "--redis", "127.0.0.1:"+redis,
		"--repo-server", i.RepoServer, "--repo-server-plaintext", "--namespace", Namespace, "--app-resync", "10", "--app-resync-jitter", "0",
		"--metrics-port", freePort(t))
	return i
}

// homes are the folders that the processes share.
type homes struct{ dir, module, bin string }

func (h homes) argocd() string { return filepath.Join(h.bin, "argocd") }

func (h homes) make(t testing.TB) {
	t.Helper()
	for _, name := range []string{"gpg", "tls", "ssh", "tmp", "path", "plugins"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(h.dir, name), 0o700))
	}
	assert.NilError(t, os.WriteFile(filepath.Join(h.dir, "ssh", "ssh_known_hosts"), nil, 0o600))
	// A file of the module cache cannot be run.
	wrapper, err := os.ReadFile(filepath.Join(h.module, "hack", "git-verify-wrapper.sh"))
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(h.dir, "path", "git-verify-wrapper.sh"), wrapper, 0o700))
}

// env is the environment of one of the servers that the binary holds.
func (h homes) env(cluster *kubetest.Cluster, server string) []string {
	in := func(name string) string { return filepath.Join(h.dir, name) }
	path := strings.Join([]string{in("path"), h.bin, os.Getenv("PATH")}, string(os.PathListSeparator))
	return []string{"PATH=" + path, "HOME=" + h.dir, "TMPDIR=" + in("tmp"), "KUBECONFIG=" + cluster.Kubeconfig(), "KUBECACHEDIR=" + in("cache"),
		"ARGOCD_BINARY_NAME=" + server, "ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false", "GNUPGHOME=" + in("gpg"),
		"ARGOCD_GNUPGHOME=" + in("gpg"), "ARGOCD_TLS_DATA_PATH=" + in("tls"), "ARGOCD_SSH_DATA_PATH=" + in("ssh"),
		"ARGOCD_PLUGINSOCKFILEPATH=" + in("plugins"), "ARGOCD_SYNC_WAVE_DELAY=0"}
}

// bin is the folder of the repository's own binaries.
func bin(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(root(t), "bin")
	for _, name := range []string{"argocd", "kustomize"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.NilError(t, err, "run `make argocdserver`")
	}
	return dir
}

// root is the folder of this module.
func root(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	assert.NilError(t, err)
	return strings.TrimSpace(string(out))
}

// module is the folder of Argo CD's sources, which hold the definitions of its
// kinds. It is fetched where only the binary is at hand.
func module(t testing.TB) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", "github.com/argoproj/argo-cd/v3")
	cmd.Dir = filepath.Join(root(t), "testdata", "argocd")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=go1.27.3", "GOWORK=off")
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	assert.NilError(t, err, "%s", out)
	assert.NilError(t, json.Unmarshal(out, &found))
	assert.Assert(t, found.Dir != "", found.Error)
	return found.Dir
}

func freePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer listener.Close()
	return fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
}

// startTimeout is how long a process may take to listen, on a busy machine.
const startTimeout = 4 * time.Minute
