// Command bench measures what a plan costs beside two others who ask the same
// server about the same objects, in one run: `kubectl diff --server-side`, and
// a bare client that fires the requests a plan cannot do without (the floor).
//
// Steps: start a control plane; for each size, apply a set of objects and
// change a twentieth of the manifests; run each contender as a process of its
// own, some times over; print the best run of each, and which targets are
// reached. Times are worth comparing within one run only, and only if nothing
// else keeps the machine busy.
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
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "floor" { // the bare client, as its own process
		exitOn(floor(context.Background(), os.Args[2], os.Args[3]))
		return
	}
	sizes := flag.String("sizes", "100,1000,5000", "numbers of objects")
	runs := flag.Int("runs", 3, "runs of plan and of the floor; kubectl runs once where it takes long")
	large := flag.Bool("large", false, "Deployments of three containers, ConfigMaps of 2 KB")
	far := flag.String("far", "1ms,10ms", "measure 1,000 objects, or the only size, again with a server that is so far away: a LAN, a WAN; \"\" does not")
	bin := flag.String("bin", "bin", "folder of controlplane, kubectl and kubectl-changeward")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exitOn(bench(ctx, *bin, *sizes, *runs, *far, *large))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, bin, sizes string, runs int, far string, large bool) error {
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
	defer c.server.Stop()
	c.large = large
	fmt.Println(machine(ctx, bin))
	results, err := c.measure(ctx, sizes, runs, far)
	if err != nil {
		return err
	}
	fmt.Println("\n| objects | target | measured | |")
	fmt.Println("|---|---|---|---|")
	for _, t := range targets(results) {
		fmt.Println(t)
	}
	fmt.Println("\nload of the machine at the end:", load())
	return nil
}

func (c *cluster) measure(ctx context.Context, sizes string, runs int, far string) ([]result, error) {
	distances, err := durations(far)
	if err != nil {
		return nil, err
	}
	fmt.Println("\n| objects | who | wall s | CPU s | peak MB | requests | an object |")
	fmt.Println("|---|---|---|---|---|---|---|")
	var all, again []result
	for text := range strings.SplitSeq(sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("-sizes: %w", err)
		}
		set, err := c.prepare(ctx, size)
		if err != nil {
			return nil, fmt.Errorf("%d objects: %w", size, err)
		}
		c.via, c.away = c.kubeconfig, 0
		costs, err := c.compare(ctx, set, runs)
		if err != nil {
			return nil, fmt.Errorf("%d objects: %w", size, err)
		}
		all = append(all, result{size, 0, costs})
		if size != 1000 && text != sizes {
			continue
		}
		measured, err := c.measureFar(ctx, set, runs, distances)
		if err != nil {
			return nil, err
		}
		again = append(again, measured...)
	}
	return append(all, again...), nil
}

// measureFar measures a set again from each distance.
func (c *cluster) measureFar(ctx context.Context, set manifests, runs int, distances []time.Duration) (out []result, err error) {
	for _, away := range distances {
		if c.via, err = c.remove(ctx, away); err != nil {
			return nil, err
		}
		c.away = away
		costs, err := c.compare(ctx, set, runs)
		if err != nil {
			return nil, fmt.Errorf("%d objects, %s away: %w", set.size, away, err)
		}
		out = append(out, result{set.size, away, costs})
	}
	return out, nil
}

func durations(list string) (out []time.Duration, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("-far: %w", err)
		}
		out = append(out, d)
	}
	return out, nil
}
