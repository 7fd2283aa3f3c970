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

func (c *cluster) compare(ctx context.Context, size, runs int) error {
	folder, err := c.prepare(ctx, size)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	kubectl := []string{filepath.Join(c.bin, "kubectl"), "--kubeconfig", c.kubeconfig, "diff", "--server-side", "--field-manager=changeward", "-f", folder}
	once := runs
	if size >= 1000 {
		once = 1
	}
	contenders := []contender{
		{name: "floor", args: []string{self, "floor", c.kubeconfig, folder}, runs: runs, codes: []int{0}},
		{name: "changeward plan", args: []string{filepath.Join(c.bin, "kubectl-changeward"), "--kubeconfig", c.kubeconfig, "plan", "-f", folder}, runs: runs, codes: []int{0}},
		{name: "kubectl diff", args: append(slices.Clone(kubectl), "--concurrency=1"), runs: once, codes: []int{0, 1}},
		{name: "kubectl diff ×16", args: append(slices.Clone(kubectl), "--concurrency=16"), runs: once, codes: []int{0, 1}},
	}
	best := map[string]cost{}
	for _, who := range contenders {
		if best[who.name], err = c.best(ctx, who); err != nil {
			return err
		}
		b := best[who.name]
		fmt.Printf("| %d | %s | %.2f | %.2f | %d | %d | %.2f |\n", size, who.name, b.wall.Seconds(), b.cpu.Seconds(),
			b.peakKB/1024, b.requests, float64(b.requests)/float64(size))
	}
	plan, bare := best["changeward plan"], best["floor"]
	c.ratios = append(c.ratios, fmt.Sprintf(
		"%d objects: plan takes %.2f × the floor's time, %.1f and %.1f × less than kubectl diff at concurrency 1 and 16; %d MB above the floor's peak (bound %d MB)",
		size, ratio(plan, bare), ratio(best["kubectl diff"], plan), ratio(best["kubectl diff ×16"], plan),
		(plan.peakKB-bare.peakKB)/1024, 60+8*size/1024))
	return nil
}

func ratio(a, b cost) float64 { return a.wall.Seconds() / b.wall.Seconds() }

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
	cmd.Env = append(os.Environ(), "HOME="+c.dir, "XDG_CONFIG_HOME="+c.dir, "XDG_CACHE_HOME="+c.dir, "KUBECTL_EXTERNAL_DIFF=true")
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
