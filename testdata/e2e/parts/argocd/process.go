package argocd

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// run starts a process and kills it when the test ends, or with the test's own
// process. What it says is in NAME.log of the folder, and is shown, its end at
// least, where the test failed.
func run(t testing.TB, dir, name string, env []string, command string, args ...string) {
	t.Helper()
	path := filepath.Join(dir, name+".log")
	log, err := os.Create(path)
	assert.NilError(t, err)
	cmd := exec.Command(command, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if said, err := os.ReadFile(path); err == nil && t.Failed() {
			t.Logf("%s:\n%s", name, said[max(0, len(said)-4000):])
		}
	})
}

func waitForPort(t testing.TB, port string) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		connection, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			return poll.Continue("%v", err)
		}
		connection.Close()
		return poll.Success()
	}, poll.WithTimeout(startTimeout))
}
