package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/changeward/changeward/pkg/reconcile/fault"
)

// git runs the user's git in a folder.
type git struct {
	dir string
	env []string
}

// inherited is the environment that git runs in: that of the caller, without
// what names another repository (a hook's, say), and with messages in English.
// Optional locks are off, so that a look at the status writes no index.
func inherited(environ []string) []string {
	local := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH"}
	kept := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(local, name)
	})
	return append(kept, "LANGUAGE=en", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1")
}

// failed is a git that ended with an error.
type failed struct {
	verb   string
	code   int
	stderr string // without credentials
}

func (f *failed) Error() string {
	if f.stderr == "" {
		return fmt.Sprintf("git %s ended with %d", f.verb, f.code)
	}
	return fmt.Sprintf("git %s: %s", f.verb, f.stderr)
}

// run is the output of git. The error is a *failed where git ended with one.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	return g.feed(ctx, "", args...)
}

// feed is run with a standard input.
func (g git) feed(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.dir, g.env, strings.NewReader(input)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // so that it removes its locks
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", fault.New(fault.NoGit, "install git", "there is no git on the PATH")
	case errors.As(err, &exit):
		text := strings.TrimSpace(stderr.String())
		if strings.HasPrefix(args[0], "push") { // with --porcelain, what was refused stands on stdout
			text = strings.TrimSpace(stdout.String() + "\n" + text)
		}
		return "", &failed{verb: args[0], code: exit.ExitCode(), stderr: withoutCredentials(text)}
	case err != nil:
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return stdout.String(), nil
}

// with is the same git with more in its environment.
func (g git) with(env ...string) git {
	return git{dir: g.dir, env: append(slices.Clip(g.env), env...)}
}

// line is run, without the newline at the end.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// answer is the output of a question that git answers with exit code 1 where
// the answer is no.
func (g git) answer(ctx context.Context, args ...string) (out string, yes bool, err error) {
	out, err = g.line(ctx, args...)
	var no *failed
	if errors.As(err, &no) && no.code == 1 {
		return "", false, nil
	}
	return out, err == nil, err
}

// withoutCredentials cuts user and password out of URLs.
func withoutCredentials(text string) string {
	return regexp.MustCompile(`([a-z][a-z0-9+.-]*://)[^/@\s']+@`).ReplaceAllString(text, "$1")
}
