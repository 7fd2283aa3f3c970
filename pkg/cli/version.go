package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/render"
)

// NewVersion is the verb `version`. It reads what the Go tool stamped into the
// binary.
func NewVersion(streams Streams) *cobra.Command {
	var output OutputFlag
	cmd := &cobra.Command{
		Use: "version", Short: "print the version", Args: Args(0, 0, "no arguments"),
		Long:              "Print the version of this binary, and by which rules it makes plan hashes. It asks no cluster.",
		Example:           "  " + streams.Program + " version\n  " + streams.Program + " version -o json",
		ValidArgsFunction: CompleteNothing,
		RunE: func(*cobra.Command, []string) error {
			if err := output.Validate(); err != nil {
				return err
			}
			document := versionDocument()
			return streams.Print(output, Result{
				Text: func() string {
					return fmt.Sprintf("%s %s (%s, %s)\nplan hash: %s, rules %d\n", streams.Program, document.Version,
						document.GoVersion, document.Platform, document.PlanSchema, document.PlanRules)
				},
				JSON: func() any { return document },
			})
		},
	}
	output.AddFlag(cmd)
	return cmd
}

func versionDocument() render.Version {
	document := render.Version{Type: render.Head(render.KindVersion), Version: "unknown", GoVersion: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, PlanSchema: plan.SchemaV1, PlanRules: plan.Rules}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return document
	}
	if info.Main.Version != "" {
		document.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			document.Revision = setting.Value
		}
	}
	return document
}
