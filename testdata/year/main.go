// Command year measures what a year of changes costs: how many objects and
// bytes lie in the cluster, how long a gate's look-up takes beside reading
// everything, and what an archive brings back.
//
// Steps: start a control plane; install; write the records of so many changes
// of so many applications, signed as gates and people would; measure; archive;
// measure again. Times are worth comparing within one run only.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	apps := flag.Int("apps", 40, "applications, each a scope")
	changes := flag.Int("changes", 50, "changes of each application")
	bin := flag.String("bin", "bin", "folder of controlplane and kubectl-changeward")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, *bin, *apps, *changes); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, bin string, apps, changes int) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "changeward-year-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := start(ctx, bin, dir)
	if err != nil {
		return err
	}
	defer c.Stop()
	y, err := c.install(ctx)
	if err != nil {
		return err
	}
	fmt.Println("| records | MB | look-up s | requests | MB read | all records s | requests | MB read | gate s | show s | list s |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, n := range []int{1, changes} {
		if err := y.write(ctx, apps, n); err != nil {
			return err
		}
		if err := y.row(ctx, fmt.Sprintf("%d changes of %d applications", y.written, apps)); err != nil {
			return err
		}
	}
	took, err := c.run(ctx, "admin", "audit", "archive", "--older-than", "1ms", "--out", filepath.Join(dir, "year.bundle"), "--yes")
	if err != nil {
		return err
	}
	if err := y.row(ctx, fmt.Sprintf("after an archive (%.1f s)", took.Seconds())); err != nil {
		return err
	}
	took, err = c.run(ctx, "admin", "audit", "verify")
	fmt.Printf("\naudit verify of what is left: %.1f s\n", took.Seconds())
	return err
}
