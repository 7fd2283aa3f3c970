package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is one running component. It holds the read end of a pipe as its
// standard input and ends when the pipe does, so that it cannot outlive us,
// even after kill -9.
type process struct {
	name     string
	lifeline io.Closer
	log      string
	cmd      *exec.Cmd
	done     chan struct{}
	err      error // why it ended; read it after done is closed
}

// startProcess runs `controlplane component NAME ARGS` in dir/run and writes
// its output to dir/NAME.log.
func startProcess(dir, name string, args []string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(self, append([]string{"component", name}, args...)...)
	p.cmd.Dir = filepath.Join(dir, runDir)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	// A group of its own: Ctrl-C in a terminal reaches us alone.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.lifeline, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) stop() {
	p.lifeline.Close()
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// failure says how the process ended, with the last lines of its log.
func (p *process) failure() error {
	cause := "exit status 0"
	if p.err != nil {
		cause = p.err.Error()
	}
	return fmt.Errorf("%s stopped: %s; the end of %s:\n%s", p.name, cause, p.log, p.tail(20))
}

func (p *process) tail(lines int) []byte {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	all := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return bytes.Join(all[max(0, len(all)-lines):], []byte("\n"))
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
