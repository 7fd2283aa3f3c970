package kubetest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"
)

// running is a `controlplane up`. It ends when its standard input does, which
// the operating system sees to even when the test process is killed.
type running struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
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
	r := &running{dir: dir, cmd: exec.Command(path, args...)}
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
	if !ready(stdout) {
		r.stop()
		return nil, fmt.Errorf("%s up did not get ready: %s", path, stderr.String())
	}
	return r, nil
}

func ready(stdout io.Reader) bool {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		return text == "ready\n"
	case <-time.After(startTimeout):
		return false
	}
}

func (r *running) stop() {
	r.stdin.Close()
	_ = r.cmd.Wait()
}

func (r *running) kubeconfig() string { return filepath.Join(r.dir, "kubeconfig") }
