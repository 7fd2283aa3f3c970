package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/changeward/changeward/pkg/render"
)

// Asker asks a person. It is made once per command, since it reads ahead.
type Asker struct {
	ctx     context.Context // of the command: an interrupt ends the waiting
	streams Streams
	in      *bufio.Reader
}

// Asker of these streams, until ctx ends.
func (s Streams) Asker(ctx context.Context) *Asker {
	return &Asker{ctx: ctx, streams: s, in: bufio.NewReader(s.In)}
}

// Confirm asks a yes-or-no question, unless yes says that the answer was given
// as a flag. Anything but y or yes is a no, and a Failure.
func (a *Asker) Confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	if !a.streams.Interactive {
		return Fail(ReasonNotConfirmed, errors.New("not confirmed: there is no terminal to ask on"), "say --yes to answer all questions with yes")
	}
	answer, err := a.Line(question + " [y/N] ")
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return Fail(ReasonNotConfirmed, errors.New("not confirmed: nothing was done"))
	}
	return nil
}

// Digits asks for the last four digits of a hash; given is what a flag said.
func (a *Asker) Digits(question, want, given string, yes bool) error {
	if given == "" && a.streams.Interactive && !yes {
		answer, err := a.Line(question + " ")
		if err != nil {
			return err
		}
		given = answer
	}
	switch given {
	case want:
		return nil
	case "":
		return Fail(ReasonNotConfirmed, fmt.Errorf("not confirmed: the last four digits of the plan hash are needed"),
			"this plan is dangerous: read it, then say --confirm with the last four digits of its hash")
	}
	return Fail(ReasonNotConfirmed, fmt.Errorf("not confirmed: %q is not the end of this plan's hash", given))
}

// Choose asks for one of several lines, and returns its index.
func (a *Asker) Choose(question string, lines []string) (int, error) {
	for i, line := range lines {
		a.streams.Note(fmt.Sprintf("  %d  %s", i+1, line))
	}
	answer, err := a.Line(question + " ")
	if err != nil {
		return 0, err
	}
	var chosen int
	if _, err := fmt.Sscanf(answer, "%d", &chosen); err != nil || chosen < 1 || chosen > len(lines) {
		return 0, Fail(ReasonNotConfirmed, fmt.Errorf("%q is not one of 1 to %d", answer, len(lines)))
	}
	return chosen - 1, nil
}

// Line asks for one line of text.
func (a *Asker) Line(question string) (string, error) {
	if _, err := io.WriteString(a.streams.ErrOut, render.EscapeBlock(question)); err != nil {
		return "", fmt.Errorf("ask: %w", err)
	}
	answer, err := await(a.ctx, func() (string, error) { return a.in.ReadString('\n') })
	if errors.Is(err, context.Canceled) {
		a.streams.Note("") // what comes next has a line of its own
		return "", err
	}
	if err != nil && (!errors.Is(err, io.EOF) || answer == "") {
		return "", Fail(ReasonNotConfirmed, errors.New("not confirmed: no answer"))
	}
	return strings.TrimSpace(answer), nil
}

// Secret asks for a passphrase without showing it.
func (a *Asker) Secret(question string) ([]byte, error) {
	file, ok := a.streams.In.(interface{ Fd() uintptr })
	if !a.streams.Interactive || !ok {
		return nil, errors.New("the key has a passphrase, and there is no terminal to ask on")
	}
	a.streams.Note(question)
	if before, err := term.GetState(int(file.Fd())); err == nil {
		stop := context.AfterFunc(a.ctx, func() { _ = term.Restore(int(file.Fd()), before) })
		defer stop()
	}
	secret, err := await(a.ctx, func() ([]byte, error) { return term.ReadPassword(int(file.Fd())) })
	if errors.Is(err, context.Canceled) {
		a.streams.Note("")
	}
	if err != nil {
		return nil, fmt.Errorf("read the passphrase: %w", err)
	}
	return secret, nil
}

// await waits for an answer or the end of ctx. A read of a terminal cannot be
// stopped; it ends with the process.
func await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case r := <-done:
		return r.value, r.err
	}
}
