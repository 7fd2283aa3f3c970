package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// NewCompletion is the verb `completion`. host is the program that finds this
// binary as its plugin, such as kubectl.
func NewCompletion(streams Streams, host string) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	if host != "" {
		shells = append(shells, host)
	}
	cmd := &cobra.Command{
		Use: "completion SHELL", Short: "print the completion script of a shell", Args: Args(1, 1, "one shell: "+strings.Join(shells, ", ")),
		Long:                  completionLong(streams.Program, host),
		Example:               completionExample(streams.Program, host),
		DisableFlagsInUseLine: true,
		ValidArgs:             shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), streams.Out
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			case host:
				return streams.write("#!/bin/sh\nexec " + root.Name() + " __complete \"$@\"\n")
			}
			return Usage(fmt.Sprintf("no completion for %q: choose one of %s", args[0], strings.Join(shells, ", ")))
		},
	}
	return cmd
}

func completionLong(program, host string) string {
	long := "Print the completion script of a shell. Targets and change requests are completed, too."
	if host == "" {
		return long
	}
	plugin := strings.TrimPrefix(program, host+" ")
	return long + fmt.Sprintf("\n\n%s completes its plugins through an executable %s_complete-%s on PATH, which\n`completion %s` prints.",
		host, host, plugin, host)
}

func completionExample(program, host string) string {
	binary := strings.ReplaceAll(program, " ", "-")
	example := fmt.Sprintf("  source <(%s completion bash)", program)
	if host == "" {
		return example
	}
	file := "/usr/local/bin/" + host + "_complete-" + strings.TrimPrefix(binary, host+"-")
	return example + fmt.Sprintf("\n\n  # for %s TAB\n  %s completion %s > %s && chmod +x %s", program, program, host, file, file)
}
