// Package server starts a control plane for one run of a measurement.
package server

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Server is a control plane as a process of its own.
type Server struct {
	// Kubeconfig leads to it, as its admin and as everyone it was started with.
	Kubeconfig string
	process    *exec.Cmd
}

// Start runs the controlplane of a folder of binaries until Stop, or until ctx
// ends, with its files in dir. people are as its flag --user has them. The error
// is that of a process that does not come up.
func Start(ctx context.Context, bin, dir string, people ...string) (*Server, error) {
	home := filepath.Join(dir, "cluster")
	args := []string{"up", "--dir", home}
	for _, who := range people {
		args = append(args, "--user", who)
	}
	s := &Server{Kubeconfig: filepath.Join(home, "kubeconfig"), process: exec.CommandContext(ctx, filepath.Join(bin, "controlplane"), args...)}
	s.process.Cancel = func() error { return s.process.Process.Signal(os.Interrupt) }
	s.process.Stderr = os.Stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("%w: run `make controlplane`", err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "ready" {
		return nil, fmt.Errorf("the control plane did not come up: %q, %v", line, err)
	}
	return s, nil
}

// Stop ends the process, and waits for that.
func (s *Server) Stop() {
	_ = s.process.Process.Signal(os.Interrupt)
	_ = s.process.Wait()
}
