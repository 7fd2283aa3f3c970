package main

import (
	"bytes"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/cli"
)

func run(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr, Env: func(string) string { return "" }, Program: "flux changeward"}
	code = cli.Run(t.Context(), newRoot(streams), args, streams)
	return code, stdout.String(), stderr.String()
}

func TestTheHelpSaysThatItIsToCome(t *testing.T) {
	code, out, _ := run(t)
	assert.Equal(t, code, 0)
	assert.Assert(t, strings.Contains(out, "None of that is here yet"), out)
	assert.Assert(t, strings.Contains(out, "Usage:\n  flux changeward [command]"), out)
}

func TestAVerbThatIsToComeIsAnErrorNotASuccess(t *testing.T) {
	code, _, errOut := run(t, "gate", "kustomization", "apps")
	assert.Equal(t, code, 1)
	assert.Assert(t, strings.Contains(errOut, "unknown command gate"), errOut)
}

func TestVersionAndCompletionWork(t *testing.T) {
	code, out, _ := run(t, "version", "-o", "json")
	assert.Equal(t, code, 0)
	assert.Assert(t, strings.Contains(out, `"kind": "Version"`), out)
	code, out, _ = run(t, "completion", "bash")
	assert.Equal(t, code, 0)
	assert.Assert(t, strings.Contains(out, "flux-changeward"), out)
}
