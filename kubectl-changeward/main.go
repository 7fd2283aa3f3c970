// Command kubectl-changeward is the kubectl plugin: plans for Kubernetes
// changes, and approvals that bind to exactly that plan. Put it on PATH, and
// `kubectl changeward` finds it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/changeward/changeward/pkg/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	streams := cli.OSStreams("kubectl changeward")
	code := cli.Run(ctx, newRoot(streams), os.Args[1:], streams)
	stop()
	os.Exit(code)
}
