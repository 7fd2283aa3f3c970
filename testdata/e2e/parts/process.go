// Package parts runs real parts of a delivery, each a process of its own, for
// the tests that need them: Run for a process, FreePort for where it listens,
// Ready to wait until it answers. The packages below know one part each.
package parts

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// wrapper runs a command until it ends or the wrapper's standard input does,
// which the operating system sees to even when the test process is killed.
const wrapper = `"$@" </dev/null 3<&- & part=$!
{ cat >/dev/null; kill $part 2>/dev/null; } <&3 &
wait $part`

// Process is a running part.
type Process struct {
	// Log is the file that has its output.
	Log   string
	cmd   *exec.Cmd
	ended chan struct{}
}

// Run starts a command until the test ends; its output is shown where the test
// has failed. dir is its working directory, name that of its log there. env is
// added to the environment of the test.
func Run(t testing.TB, name, dir string, env []string, command ...string) *Process {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, name+".log"))
	assert.NilError(t, err)
	defer log.Close()
	alive, stop, err := os.Pipe()
	assert.NilError(t, err)
	defer alive.Close()
	p := &Process{Log: log.Name(), ended: make(chan struct{})}
	p.cmd = exec.Command("sh", append([]string{"-c", wrapper, name}, command...)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, log, log
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.ExtraFiles = []*os.File{alive}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	assert.NilError(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() { p.stop(t, stop) })
	return p
}

// stop asks the process to end, and after a minute no longer asks.
func (p *Process) stop(t testing.TB, stop io.Closer) {
	stop.Close()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.ended
	}
	if t.Failed() {
		out, _ := os.ReadFile(p.Log)
		t.Logf("%s:\n%s", p.Log, out[max(0, len(out)-8000):])
	}
}

// Ready waits until a GET of the address answers 200; a process that ends
// before fails the test.
func (p *Process) Ready(t testing.TB, url string) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		select {
		case <-p.ended:
			return poll.Error(fmt.Errorf("it has ended: see %s", p.Log))
		default:
		}
		response, err := http.Get(url)
		if err != nil {
			return poll.Continue("%v", err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return poll.Continue("%s answers %s", url, response.Status)
		}
		return poll.Success()
	}, poll.WithTimeout(5*time.Minute), poll.WithDelay(200*time.Millisecond))
}

// FreePort is a port of the loopback that was free a moment ago.
func FreePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// Binary is the path of bin/name, or the test fails and says which make target
// builds it.
func Binary(t testing.TB, name, target string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(file), "..", "..", "..", "bin", name)
	_, err := os.Stat(path)
	assert.NilError(t, err, "run `make %s`", target)
	return path
}
