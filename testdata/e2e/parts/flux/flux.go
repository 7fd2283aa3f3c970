// Package flux runs Flux's own source-controller and kustomize-controller for
// a test, as processes beside a real API server, with Git over HTTP.
//
// Enter at Start, which installs the definitions and starts both; NewRepository
// serves a repository. Follow names a GitRepository for it, Reconcile asks for
// what would else come with time, Settled and Applied wait for it.
//
// The controllers are built by `make fluxcontrollers`. They end with the test
// process, however that ends.
package flux

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/changeward/changeward/pkg/kubetest"
)

// Namespace in which Flux is installed.
const Namespace = "flux-system"

// Flux is both controllers of a cluster.
type Flux struct {
	Cluster *kubetest.Cluster
	logs    string
}

// Start installs Flux's definitions and its namespace, and runs both
// controllers as admin until the test ends. flags are kustomize-controller's, such
// as --feature-gates=StrictPostBuildSubstitutions=false.
func Start(t testing.TB, cluster *kubetest.Cluster, flags ...string) *Flux {
	t.Helper()
	f := &Flux{Cluster: cluster, logs: t.TempDir()}
	bin := folder(t)
	definitions, err := os.ReadFile(filepath.Join(bin, "fluxcrds.yaml"))
	if err != nil {
		t.Fatalf("%v: run `make fluxcontrollers`", err)
	}
	cluster.ForceApply(t, kubetest.Admin, "flux", string(definitions),
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: "+Namespace+"}\n")
	storage := t.TempDir()
	address := "127.0.0.1:" + freePort(t)
	off := []string{"--metrics-addr=0", "--health-addr=0", "--events-addr=", "--enable-leader-election=false", "--log-level=info"}
	f.run(t, filepath.Join(bin, "source-controller"), append(off, "--storage-path="+storage, "--storage-addr="+address, "--storage-adv-addr="+address))
	f.run(t, filepath.Join(bin, "kustomize-controller"), append(append(off, "--requeue-dependency=2s", "--http-retry=1"), flags...))
	return f
}

// run starts a controller under a shell that kills it once its own standard
// input ends, which the operating system sees to even if the test is killed. Its
// temporary folder is its own: one that starts removes what others left in it.
func (f *Flux) run(t testing.TB, path string, args []string) {
	t.Helper()
	name := filepath.Base(path)
	log, err := os.Create(filepath.Join(f.logs, name))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{"-c", `"$@" </dev/null & pid=$!; cat >/dev/null; kill $pid; wait $pid`, "sh", path}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+f.Cluster.Kubeconfig(), "RUNTIME_NAMESPACE="+Namespace, "TMPDIR="+t.TempDir())
	cmd.Stdout, cmd.Stderr = log, log
	var stdin io.Closer
	if stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
		log.Close()
		if t.Failed() {
			t.Logf("%s ended with:\n%s", name, tail(log.Name()))
		}
	})
}

// tail is the end of a log.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(data), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

// folder is bin/ of the repository.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "bin")
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// freePort is one that nobody listens at a moment ago.
func freePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
}
