// Package flux runs Flux's own source-controller and kustomize-controller for
// a test, as processes beside a real API server.
//
// Enter at Start, which installs the definitions and starts both. Follow names a
// GitRepository for a repository of package gitserver, Reconcile asks for what
// would else come with time, Settled and Applied wait for it.
//
// The controllers are built by `make fluxcontrollers`. They end with the test
// process, however that ends.
package flux

import (
	"fmt"
	"os"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/testdata/e2e/parts"
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
	definitions, err := os.ReadFile(parts.Binary(t, "fluxcrds.yaml", "fluxcontrollers"))
	assert.NilError(t, err)
	cluster.ForceApply(t, kubetest.Admin, "flux", string(definitions),
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: "+Namespace+"}\n")
	storage := t.TempDir()
	address := fmt.Sprintf("127.0.0.1:%d", parts.FreePort(t))
	off := []string{"--metrics-addr=0", "--health-addr=0", "--events-addr=", "--enable-leader-election=false", "--log-level=info"}
	f.run(t, "source-controller", append(off, "--storage-path="+storage, "--storage-addr="+address, "--storage-adv-addr="+address))
	f.run(t, "kustomize-controller", append(append(off, "--requeue-dependency=2s", "--http-retry=1"), flags...))
	return f
}

// run starts a controller. Its temporary folder is its own: one that starts
// removes what others left in it.
func (f *Flux) run(t testing.TB, name string, args []string) {
	t.Helper()
	env := []string{"KUBECONFIG=" + f.Cluster.Kubeconfig(), "RUNTIME_NAMESPACE=" + Namespace, "TMPDIR=" + t.TempDir()}
	parts.Run(t, name, f.logs, env, append([]string{parts.Binary(t, name, "fluxcontrollers")}, args...)...)
}
