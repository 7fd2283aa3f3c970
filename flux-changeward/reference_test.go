package main

import (
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/changeward/changeward/pkg/cli"
)

func TestThePageOfTheCommandsIsAsTheCommandsAre(t *testing.T) {
	page, err := filepath.Abs("../docs/cli/flux-changeward.md")
	assert.NilError(t, err)
	golden.Assert(t, cli.Reference(newRoot(cli.Streams{Program: cli.FluxProgram})), page)
}
