// Command controlplane runs a real Kubernetes control plane for tests: etcd,
// kube-apiserver and, when asked for, kube-controller-manager, as plain local
// processes with no node and no container.
//
// `controlplane up` is the entry. It writes certificates (pki.go), starts this
// same binary again once per component (process.go, component.go), waits until
// the API serves (ready.go), writes a kubeconfig (kubeconfig.go), prints
// "ready", and stops everything on SIGTERM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: controlplane up --dir D [--user NAME:GROUP,GROUP]... [--controllers] [--until-eof]

Runs etcd and kube-apiserver until SIGTERM or SIGINT. Prints "ready" once the
API serves, and writes D/kubeconfig with a context "admin" (system:masters) and
one per user. On SIGHUP it kills the API server, starts it again, and prints
"ready" once more. Logs are D/*.log. Where KUBEBUILDER_ASSETS names a folder with
etcd and kube-apiserver, those are run.
`

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "controlplane: "+err.Error())
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		args = []string{"help"}
	}
	switch args[0] {
	case "up":
		options, err := parseUp(args[1:])
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return up(ctx, options)
	case "component":
		return runComponent(args[1:])
	case "help", "-h", "--help":
		fmt.Print(usage)
		return nil
	}
	return fmt.Errorf("unknown command %q\n%s", args[0], usage)
}

// options of `up`.
type options struct {
	dir         string
	users       []user
	controllers bool
	untilEOF    bool
}

func parseUp(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error is printed once, by main
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flags.StringVar(&o.dir, "dir", "", "folder for kubeconfig and logs")
	flags.BoolVar(&o.controllers, "controllers", false, "run kube-controller-manager too")
	flags.BoolVar(&o.untilEOF, "until-eof", false, "stop when standard input ends, too")
	flags.Func("user", "NAME:GROUP,GROUP", func(text string) error {
		u, err := parseUser(text, o.users)
		o.users = append(o.users, u)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.dir == "" {
		return o, errors.New("--dir is needed")
	}
	return o, nil
}
