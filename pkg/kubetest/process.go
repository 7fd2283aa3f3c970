package kubetest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// running is a `controlplane up`. It ends when its standard input does, which
// the operating system sees to even when the test process is killed.
type running struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string // of its output
}

func launch(dir string, controllers bool, users []string) (*running, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	args := []string{"up", "--until-eof", "--dir", dir}
	for _, user := range users {
		args = append(args, "--user", user)
	}
	if controllers {
		args = append(args, "--controllers")
	}
	r := &running{dir: dir, cmd: exec.Command(path, args...), lines: make(chan string, 1)}
	var stderr bytes.Buffer
	r.cmd.Stderr = &stderr
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	go r.read(stdout)
	if !r.ready() {
		r.stop()
		return nil, fmt.Errorf("%s up did not get ready: %s", path, stderr.String())
	}
	return r, nil
}

func (r *running) read(stdout io.Reader) {
	defer close(r.lines)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		r.lines <- lines.Text()
	}
}

func (r *running) ready() bool {
	select {
	case line := <-r.lines:
		return line == "ready"
	case <-time.After(startTimeout):
		return false
	}
}

// restart kills the API server, and waits until it serves again.
func (r *running) restart() error {
	if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		return err
	}
	if !r.ready() {
		return errors.New("the API server did not come back")
	}
	return nil
}

func (r *running) stop() {
	r.stdin.Close()
	_ = r.cmd.Wait()
}

func (r *running) kubeconfig() string { return filepath.Join(r.dir, "kubeconfig") }
