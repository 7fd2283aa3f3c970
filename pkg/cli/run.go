package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/render"
)

// Main runs a binary on its process: its arguments, streams and signals. The
// first interrupt ends the command in order, the second one at once.
func Main(program string, build func(Streams) *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	streams := OSStreams(program)
	os.Exit(Run(ctx, build(streams), os.Args[1:], streams))
}

// Run runs one command line in this process and returns its exit code. With
// -o json stdout gets exactly one document, whatever happens; --out FILE is
// replaced in every outcome. A panic becomes an error.
func Run(ctx context.Context, root *cobra.Command, args []string, streams Streams) int {
	cmd, err := execute(ctx, root, args, streams)
	if err == nil {
		return ExitOK
	}
	failure := Explain(err, streams.Advice())
	if ctx.Err() != nil && failure.Reason != ReasonTimeout {
		failure = Fail(ReasonCancelled, errors.New("interrupted"))
	}
	if !failure.Reported {
		if outErr := report(failure, cmd, args, streams); outErr != nil {
			failure = Fail(ReasonFailed, errors.Join(failure.Err, outErr), failure.Hints...)
		}
	}
	if err := lastWords(failure, cmd, args, streams); err != nil {
		streams.Note("note: " + err.Error())
	}
	_, _ = io.WriteString(streams.ErrOut, streams.ErrStyle().Failure(messages(failure.Err), failure.Hints))
	return max(failure.Code, ExitError)
}

func execute(ctx context.Context, root *cobra.Command, args []string, streams Streams) (cmd *cobra.Command, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = Fail(ReasonInternal, fmt.Errorf("internal error: %v", fault), "this is a fault of changeward: please report it")
		}
	}()
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagFailure)
	return root.ExecuteContextC(ctx)
}

// report puts a failure where results go: the JSON document on stdout, and the
// file of --out. The command line is read as it was typed, since it may not
// have parsed.
func report(failure *Failure, cmd *cobra.Command, args []string, streams Streams) error {
	document := render.Error{Type: render.Head(render.KindError), Reason: failure.Reason, Message: failure.Err.Error(),
		ExitCode: max(failure.Code, ExitError), Hints: append([]string{}, failure.Hints...), Errors: append([]render.Problem{}, failure.Problems...)}
	var problems []error
	if typed(args, "output", "o") == "json" {
		problems = append(problems, render.JSON(streams.Out, document))
	}
	if file := typed(args, "out", ""); file != "" && takesAnswers(cmd) && !errors.As(failure.Err, new(*outError)) {
		content := render.ErrorComment(messages(failure.Err), failure.Hints)
		problems = append(problems, WriteOut(file, content, streams.Style().Failure(messages(failure.Err), failure.Hints), document))
	}
	return errors.Join(problems...)
}

// typed is the last value of a flag on a command line, "" if it is not there.
func typed(args []string, long, short string) string {
	value := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		switch {
		case arg == "--"+long || short != "" && arg == "-"+short:
			if i+1 < len(args) {
				value = args[i+1]
			}
		case strings.HasPrefix(arg, "--"+long+"="):
			value = strings.TrimPrefix(arg, "--"+long+"=")
		case short != "" && strings.HasPrefix(arg, "-"+short) && !strings.HasPrefix(arg, "--"):
			value = strings.TrimPrefix(strings.TrimPrefix(arg, "-"+short), "=")
		}
	}
	return value
}
