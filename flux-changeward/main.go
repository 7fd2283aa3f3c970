// Command flux-changeward is the plugin of the Flux CLI: what enters Git is
// gated as Flux would build and apply it. Put it into ~/.fluxcd/plugins, and
// `flux changeward` finds it.
package main

import "github.com/changeward/changeward/pkg/cli"

func main() { cli.Main(cli.FluxProgram, newRoot) }
