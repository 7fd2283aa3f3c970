// Command flux-changeward is the Flux plugin of changeward. So far it can
// print its version; gating Kustomizations and the incident flow are to come.
package main

import (
	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

func main() { cli.Main("flux changeward", newRoot) }

const rootLong = `flux changeward will gate Flux Kustomizations, and lead through an incident: suspend, change,
bring Git in line, resume.

None of that is here yet. What works today is ` + "`kubectl changeward`" + `: its plan and gate read
rendered manifests, such as the output of ` + "`flux build kustomization`" + `.`

const rootExample = `  # today: gate what Flux would build
  flux build kustomization apps --path apps | kubectl changeward gate -f - --scope apps`

func newRoot(streams cli.Streams) *cobra.Command {
	root := cli.NewRoot("flux-changeward", streams)
	root.Short = "changeward for Flux (to come)"
	root.Long = rootLong
	root.Example = rootExample
	cli.NewClusterFlags(root)
	root.AddCommand(cli.NewCompletion(streams, ""), cli.NewVersion(streams))
	return root
}
