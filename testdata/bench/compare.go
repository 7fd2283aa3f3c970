package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// contender is a process to be measured.
type contender struct {
	name string
	args []string
	runs int
	// codes are the exit codes of a run that did its work.
	codes []int
}

// cost of one run.
type cost struct {
	wall, cpu time.Duration
	peakKB    int64
	requests  int
}

// The contenders. A set is one file, as `helm template` and `kubectl kustomize`
// write it, but for the last, to whom each object is a file of its own: only
// then does --concurrency of kubectl change anything.
const (
	bare        = "floor"
	ours        = "changeward plan"
	theirs      = "kubectl diff"
	theirs16    = "kubectl diff ×16"
	theirsFiles = "kubectl diff ×16, a file an object"
)

func (c *cluster) contenders(set manifests, runs int) ([]contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	once := runs
	if set.size >= 1000 {
		once = 1
	}
	diff := func(name, input string, more ...string) contender {
		args := []string{filepath.Join(c.bin, "kubectl"), "--kubeconfig", c.via, "diff", "--server-side", "--field-manager=changeward", "-f", input}
		return contender{name: name, args: append(args, more...), runs: once, codes: []int{0, 1}}
	}
	return []contender{
		{name: bare, args: []string{self, "floor", c.via, set.file}, runs: runs, codes: []int{0}},
		{name: ours, args: []string{filepath.Join(c.bin, "kubectl-changeward"), "--kubeconfig", c.via, "plan", "-f", set.file}, runs: runs, codes: []int{0}},
		diff(theirs, set.file),
		diff(theirs16, set.file, "--concurrency=16"),
		diff(theirsFiles, set.folder, "--concurrency=16"),
	}, nil
}

// compare measures all contenders on one set, and prints a row each.
func (c *cluster) compare(ctx context.Context, set manifests, runs int) (map[string]cost, error) {
	contenders, err := c.contenders(set, runs)
	if err != nil {
		return nil, err
	}
	warm := contender{args: append(slices.Clone(contenders[2].args[:len(contenders[2].args)-1]), filepath.Join(set.folder, "o0001.yaml")), codes: []int{0, 1}}
	if _, err := c.run(ctx, warm); err != nil { // kubectl may run once only: it gets its cache first
		return nil, err
	}
	best := map[string]cost{}
	for _, who := range contenders {
		b, err := c.best(ctx, who)
		if err != nil {
			return nil, err
		}
		best[who.name] = b
		fmt.Printf("| %s | %s | %.2f | %.2f | %d | %d | %.2f |\n", label(set.size, c.away), who.name, b.wall.Seconds(), b.cpu.Seconds(),
			b.peakKB/1024, b.requests, float64(b.requests)/float64(set.size))
	}
	return best, nil
}

// best is the fastest of some runs.
func (c *cluster) best(ctx context.Context, who contender) (cost, error) {
	var best cost
	for i := range who.runs {
		now, err := c.run(ctx, who)
		if err != nil {
			return best, fmt.Errorf("%s: %w", who.name, err)
		}
		if i == 0 || now.wall < best.wall {
			best = now
		}
	}
	return best, nil
}

func (c *cluster) run(ctx context.Context, who contender) (cost, error) {
	before, err := c.requests(ctx)
	if err != nil {
		return cost{}, err
	}
	cmd := exec.CommandContext(ctx, who.args[0], who.args[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir} // nothing of this machine's that would change kubectl
	begun := time.Now()
	var exit *exec.ExitError
	out, err := cmd.CombinedOutput()
	wall := time.Since(begun)
	if err != nil && !errors.As(err, &exit) || !slices.Contains(who.codes, cmd.ProcessState.ExitCode()) {
		return cost{}, fmt.Errorf("%w: %.2000s", err, out)
	}
	after, err := c.requests(ctx)
	if err != nil {
		return cost{}, err
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peakKB: usage.Maxrss,
		requests: after - before - 1}, nil
}
