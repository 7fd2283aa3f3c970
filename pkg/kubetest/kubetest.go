// Package kubetest gives tests a real Kubernetes API server with real users.
//
// Enter at Start for a cluster of one test's own, or at Main (from TestMain)
// and Shared for one cluster per package, which takes about four seconds once.
// Each test then takes a fresh namespace (Cluster.Namespace) and acts as admin
// or as one of the users given at the start: Client, Dynamic, Apply, Token, or a
// kubeconfig for a command (Kubeconfig, KubeconfigAs).
//
// The server is bin/controlplane, built by `make controlplane`. It ends with the
// test process, however that ends.
package kubetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Admin is the user of group system:masters that every cluster has.
const Admin = "admin"

// sharedKubeconfig names the environment variable by which Main tells Shared
// where the package's cluster is. The environment, not a package-level variable,
// holds it.
const sharedKubeconfig = "CHANGEWARD_TEST_KUBECONFIG"

// Cluster is a running API server. Safe for use by several tests at once.
type Cluster struct {
	kubeconfig string
	running    *running // nil for a shared one
}

// Start runs an API server for this test alone and stops it when the test ends.
// A user is "name:group,group"; it is split at the first colon.
func Start(t testing.TB, users ...string) *Cluster {
	t.Helper()
	return startFor(t, false, users)
}

// StartWithControllers is Start with the controller manager beside it, which
// deletes namespaces, collects garbage, runs Jobs, makes service accounts, and
// aggregates roles.
func StartWithControllers(t testing.TB, users ...string) *Cluster {
	t.Helper()
	return startFor(t, true, users)
}

func startFor(t testing.TB, controllers bool, users []string) *Cluster {
	t.Helper()
	running, err := launch(t.TempDir(), controllers, users)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.stop)
	return &Cluster{kubeconfig: running.kubeconfig(), running: running}
}

// Restart kills the API server as a crash would, starts it again in the same
// place with all that it stored, and returns when it serves. Only a cluster
// that Start made can be restarted, and not by two tests at once.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	if c.running == nil {
		t.Fatal("a shared cluster is not restarted: use Start")
	}
	if err := c.running.restart(); err != nil {
		t.Fatal(err)
	}
}

// Main is for TestMain: it starts the cluster that Shared returns, runs the
// tests, stops the cluster, and returns the exit code for os.Exit.
func Main(m *testing.M, users ...string) int {
	return MainAfter(m, func(*Cluster) error { return nil }, users...)
}

// MainAfter is Main for a package whose tests share more than the cluster:
// prepare makes that once, before the first test.
func MainAfter(m *testing.M, prepare func(*Cluster) error, users ...string) int {
	dir, err := os.MkdirTemp("", "kubetest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	running, err := launch(dir, false, users)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer running.stop()
	err = os.Setenv(sharedKubeconfig, running.kubeconfig())
	if err == nil {
		err = prepare(&Cluster{kubeconfig: running.kubeconfig()})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Shared returns the cluster that Main started. Tests share its cluster-scoped
// objects: whoever makes such an object gives it a name of its own.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	path := os.Getenv(sharedKubeconfig)
	if path == "" {
		t.Fatal("no shared cluster: this package needs a TestMain that calls kubetest.Main")
	}
	return &Cluster{kubeconfig: path}
}

// Kubeconfig is a file with a context per user, named as the user; admin's is
// current.
func (c *Cluster) Kubeconfig() string { return c.kubeconfig }

// KubeconfigAs writes a kubeconfig whose current context is the user's.
func (c *Cluster) KubeconfigAs(t testing.TB, user string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := config.Contexts[user]; !ok {
		t.Fatalf("user %q was not given when the cluster was started", user)
	}
	config.CurrentContext = user
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Config is the user's client configuration, without a client-side limit of
// requests. It panics where the user was not given at the start.
func (c *Cluster) Config(user string) *rest.Config {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: c.kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: user}).ClientConfig()
	if err != nil {
		panic(fmt.Sprintf("kubetest: user %q: %v", user, err))
	}
	config.QPS = -1
	return config
}

// Client is a typed client that acts as the user.
func (c *Cluster) Client(user string) kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(c.Config(user))
}

// Dynamic is an untyped client that acts as the user.
func (c *Cluster) Dynamic(user string) dynamic.Interface {
	return dynamic.NewForConfigOrDie(c.Config(user))
}

// binary finds bin/controlplane of this repository, or what
// $CHANGEWARD_CONTROLPLANE names.
func binary() (string, error) {
	if path := os.Getenv("CHANGEWARD_CONTROLPLANE"); path != "" {
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			path := filepath.Join(dir, "bin", "controlplane")
			if _, err := os.Stat(path); err != nil {
				return "", fmt.Errorf("no %s: run `make controlplane`", path)
			}
			return path, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the test: set CHANGEWARD_CONTROLPLANE")
		}
		dir = parent
	}
}

// startTimeout bounds the whole start; a component that dies is noticed at once.
const startTimeout = 4 * time.Minute
