package kubetest_test

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/icmd"
	"gotest.tools/v3/poll"
	"k8s.io/client-go/tools/clientcmd"
)

// controlplane is bin/controlplane as a person would run it.
func controlplane(args ...string) icmd.Cmd {
	return icmd.Command(filepath.Join("..", "..", "bin", "controlplane"), args...)
}

// upAndReady starts a control plane and returns its address.
func upAndReady(t *testing.T, dir string) (server string, result *icmd.Result) {
	t.Helper()
	result = icmd.StartCmd(controlplane("up", "--dir", dir))
	assert.NilError(t, result.Error)
	t.Cleanup(func() { _ = result.Cmd.Process.Kill() })
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if _, err := os.Stat(filepath.Join(dir, "kubeconfig")); err != nil {
			return poll.Continue("%v", err)
		}
		return poll.Success()
	}, poll.WithTimeout(2*time.Minute))
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	assert.NilError(t, err)
	address, err := url.Parse(config.Host)
	assert.NilError(t, err)
	return address.Host, result
}

// nothingLeft: nobody listens at the address, and etcd's data is gone.
func nothingLeft(t *testing.T, dir, server string) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		connection, err := net.Dial("tcp", server)
		if err == nil {
			connection.Close()
			return poll.Continue("%s still answers", server)
		}
		if _, err := os.Stat(filepath.Join(dir, "run", "etcd-data")); !errors.Is(err, fs.ErrNotExist) {
			return poll.Continue("etcd's data is still there: %v", err)
		}
		return poll.Success()
	}, poll.WithTimeout(30*time.Second))
}

func TestTwoControlPlanesRunAtOnceAndOneOutlivesTheOther(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	serverOne, killed := upAndReady(t, one)
	serverTwo, stopped := upAndReady(t, two)

	assert.NilError(t, killed.Cmd.Process.Kill())
	nothingLeft(t, one, serverOne)

	connection, err := net.Dial("tcp", serverTwo)
	assert.NilError(t, err)
	connection.Close()
	assert.NilError(t, stopped.Cmd.Process.Signal(os.Interrupt))
	icmd.WaitOnCmd(time.Minute, stopped).Assert(t, icmd.Success)
	nothingLeft(t, two, serverTwo)
}

func TestAComponentThatDiesEndsUpWithTheEndOfItsLog(t *testing.T) {
	assets := t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver"} {
		script := "#!/bin/sh\necho " + name + " is broken\nexit 3\n"
		assert.NilError(t, os.WriteFile(filepath.Join(assets, name), []byte(script), 0o755))
	}
	result := icmd.RunCmd(controlplane("up", "--dir", t.TempDir()),
		icmd.WithEnv("KUBEBUILDER_ASSETS="+assets), icmd.WithTimeout(time.Minute))
	assert.Equal(t, result.ExitCode, 1)
	assert.Equal(t, result.Stdout(), "")
	assert.Assert(t, is.Contains(result.Stderr(), "is broken"))
}

func TestAUserNameIsNeededOnceAndIsNotAdmin(t *testing.T) {
	for _, user := range []string{"admin:sre", ":sre", ""} {
		result := icmd.RunCmd(controlplane("up", "--dir", t.TempDir(), "--user", user))
		assert.Equal(t, result.ExitCode, 1)
		assert.Assert(t, is.Contains(result.Stderr(), "user name"))
	}
	twice := icmd.RunCmd(controlplane("up", "--dir", t.TempDir(), "--user", "a:x", "--user", "a:y"))
	assert.Assert(t, is.Contains(twice.Stderr(), "given twice"))
}
