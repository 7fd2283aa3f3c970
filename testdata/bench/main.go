// Command bench measures what a plan costs beside two others who ask the same
// server about the same objects, in one run: `kubectl diff --server-side`, and
// a bare client that fires the requests a plan cannot do without (the floor).
//
// Steps: start a control plane; for each size, apply a set of objects and
// change a twentieth of the manifests; run each contender as a process of its
// own, some times over; print the best run of each, and the ratios. Times are
// worth comparing within one run only.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "floor" { // the bare client, as its own process
		exitOn(floor(context.Background(), os.Args[2], os.Args[3]))
		return
	}
	sizes := flag.String("sizes", "100,1000,5000", "numbers of objects")
	runs := flag.Int("runs", 3, "runs of plan and of the floor; kubectl runs once where it takes long")
	bin := flag.String("bin", "bin", "folder of controlplane, kubectl and kubectl-changeward")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exitOn(bench(ctx, *bin, *sizes, *runs))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, bin, sizes string, runs int) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "changeward-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := start(ctx, bin, dir)
	if err != nil {
		return err
	}
	defer c.stop()
	fmt.Println("| objects | who | wall s | CPU s | peak MB | requests | an object |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, text := range strings.Split(sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-sizes: %w", err)
		}
		if err := c.compare(ctx, size, runs); err != nil {
			return fmt.Errorf("%d objects: %w", size, err)
		}
	}
	fmt.Println()
	for _, line := range c.ratios {
		fmt.Println(line)
	}
	return nil
}
