package cli

import (
	"context"
	"io"
	"testing"

	"gotest.tools/v3/assert"
)

func TestOnlyYesIsYes(t *testing.T) {
	for answer, confirmed := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yep\n": false, "y": true} {
		console := newConsole(nil, answer)
		console.Interactive = true
		err := console.Asker(t.Context()).Confirm("sure?", false)
		assert.Equal(t, err == nil, confirmed, "%q: %v", answer, err)
		assert.Equal(t, console.err.String(), "sure? [y/N] ")
	}
}

func TestWithoutATerminalNothingIsAsked(t *testing.T) {
	console := newConsole(nil, "y\n")
	assert.ErrorContains(t, console.Asker(t.Context()).Confirm("sure?", false), "there is no terminal to ask on")
	assert.NilError(t, console.Asker(t.Context()).Confirm("sure?", true))
	assert.Equal(t, console.err.String(), "")
}

func TestDigitsMustBeThoseOfThisPlan(t *testing.T) {
	console := newConsole(nil, "beef\n6592\n")
	assert.ErrorContains(t, console.Asker(t.Context()).Digits("which?", "6592", "", true), "the last four digits of the plan hash are needed")
	assert.ErrorContains(t, console.Asker(t.Context()).Digits("which?", "6592", "beef", true), `"beef" is not the end`)
	assert.NilError(t, console.Asker(t.Context()).Digits("which?", "6592", "6592", true))
	console.Interactive = true
	asker := console.Asker(t.Context())
	assert.ErrorContains(t, asker.Digits("which?", "6592", "", false), "not the end")
	assert.NilError(t, asker.Digits("which?", "6592", "", false))
}

func TestOneOfSeveralIsChosenByNumber(t *testing.T) {
	for answer, want := range map[string]int{"2\n": 1, "1\n": 0} {
		console := newConsole(nil, answer)
		chosen, err := console.Asker(t.Context()).Choose("which?", []string{"a", "b"})
		assert.NilError(t, err)
		assert.Equal(t, chosen, want)
	}
	console := newConsole(nil, "3\n")
	_, err := console.Asker(t.Context()).Choose("which?", []string{"a", "b"})
	assert.ErrorContains(t, err, `"3" is not one of 1 to 2`)
}

func TestAnInterruptEndsTheWaitingForAnAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	console := newConsole(nil, "")
	nothing, hold := io.Pipe()
	defer hold.Close()
	console.In, console.Interactive = nothing, true
	cancel()
	err := console.Asker(ctx).Confirm("sure?", false)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, console.err.String(), "sure? [y/N] \n")
}
