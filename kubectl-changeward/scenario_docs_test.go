package main

import (
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/state"
)

func TestAnApprovalIsVerifiedByTheCommandsOfThePageForAuditorsAndNoOther(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.approved(t)
	name := s.records(t, state.TypeDecision)[0]
	_, rest, found := strings.Cut(string(read(t, filepath.Join("..", "docs", "audit.md"))), "## One signature, without changeward")
	assert.Assert(t, found)
	_, block, found := strings.Cut(rest, "```\n")
	assert.Assert(t, found)
	block, _, _ = strings.Cut(block, "```")
	assert.Assert(t, strings.Contains(block, "cw-decision-0123456789ab"), block)
	run := func(commands string) *icmd.Result {
		return icmd.RunCmd(icmd.Cmd{Command: []string{"bash", "-euc", commands}, Env: s.as("carol").environ(t), Dir: t.TempDir()})
	}
	commands := strings.ReplaceAll(block, "cw-decision-0123456789ab", name)
	run(commands).Assert(t, icmd.Expected{Out: `Good "decision@changeward.dev" signature for alice with ED25519 key SHA256:`})
	run(strings.ReplaceAll(commands, "alice", "bob")).Assert(t, icmd.Expected{ExitCode: 255})
	run(strings.ReplaceAll(commands, "< signed", "< signed.sig")).Assert(t, icmd.Expected{ExitCode: 255})
}
