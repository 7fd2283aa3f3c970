package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// CompleteTargets offers the stored targets.
func CompleteTargets(streams Streams) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		targets, err := LoadTargets(streams.Env)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var offers []string
		for _, target := range targets.List() {
			offers = append(offers, cobra.CompletionWithDesc(target.Name, strings.TrimSpace(target.Context+" "+target.Env)))
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteNothing offers neither files nor anything else.
func CompleteNothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}
