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
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts"
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
	home := homes{dir: t.TempDir(), module: module(t), argocd: parts.Binary(t, "argocd", "argocdserver")}
	parts.Binary(t, "kustomize", "argocdserver")
	home.make(t)
	i := &Install{Cluster: cluster, Logs: home.dir}
	i.objects(t, home.module, settings)
	redis, repo := port(t), port(t)
	parts.Run(t, "redis", home.dir, nil, "redis-server", "--bind", "127.0.0.1", "--port", redis, "--save", "", "--appendonly", "no", "--dir", home.dir)
	listens(t, redis)
	i.RepoServer = "127.0.0.1:" + repo
	parts.Run(t, "repo-server", home.dir, home.env(cluster, "argocd-repo-server"), home.argocd, "--redis", "127.0.0.1:"+redis,
		"--address", "127.0.0.1", "--port", repo, "--metrics-address", "127.0.0.1", "--metrics-port", port(t), "--disable-tls", "--client-ca-path", "")
	listens(t, repo)
	parts.Run(t, "application-controller", home.dir, home.env(cluster, "argocd-application-controller"), home.argocd, "--redis", "127.0.0.1:"+redis,
		"--repo-server", i.RepoServer, "--repo-server-plaintext", "--namespace", Namespace, "--app-resync", "10", "--app-resync-jitter", "0",
		"--metrics-port", port(t))
	return i
}

// homes are the folders that the processes share.
type homes struct{ dir, module, argocd string }

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
	path := strings.Join([]string{in("path"), filepath.Dir(h.argocd), os.Getenv("PATH")}, string(os.PathListSeparator))
	return []string{"PATH=" + path, "HOME=" + h.dir, "TMPDIR=" + in("tmp"), "KUBECONFIG=" + cluster.Kubeconfig(), "KUBECACHEDIR=" + in("cache"),
		"ARGOCD_BINARY_NAME=" + server, "ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false", "GNUPGHOME=" + in("gpg"),
		"ARGOCD_GNUPGHOME=" + in("gpg"), "ARGOCD_TLS_DATA_PATH=" + in("tls"), "ARGOCD_SSH_DATA_PATH=" + in("ssh"),
		"ARGOCD_PLUGINSOCKFILEPATH=" + in("plugins"), "ARGOCD_SYNC_WAVE_DELAY=0"}
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

// root is the folder of this module.
func root(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	assert.NilError(t, err)
	return strings.TrimSpace(string(out))
}

// port is a free one.
func port(t testing.TB) string { return strconv.Itoa(parts.FreePort(t)) }

// listens waits until something listens on a port.
func listens(t testing.TB, port string) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		connection, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			return poll.Continue("%v", err)
		}
		connection.Close()
		return poll.Success()
	}, poll.WithTimeout(4*time.Minute))
}
