package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// usage is cobra's template without the kubeconfig flags, which `options`
// lists.
const usage = `Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{else}}
  {{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if eq (len .Groups) 0}}

Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{else}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalNonPersistentFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

Use "{{.CommandPath}} [command] --help" for more about a command.{{end}}

Use "{{.Root.CommandPath}} options" for the kubeconfig flags, which every command takes.
`

// NewRoot makes the root of a binary. use is the binary's name; streams say
// how people call it.
func NewRoot(use string, streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use: use, Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: streams.Program},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return Usage("unknown command " + args[0] + suggestions(cmd, args[0]))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetUsageTemplate(usage)
	root.AddCommand(newOptions())
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	return root
}

func suggestions(cmd *cobra.Command, typed string) string {
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(typed)
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(near, ", ") + "?"
}

func newOptions() *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "list the kubeconfig flags, which every command takes", Args: cobra.NoArgs, Hidden: true,
		ValidArgsFunction: CompleteNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write([]byte(cmd.InheritedFlags().FlagUsages()))
			return err
		},
	}
}

// Group is a command that only holds others, such as `policy`.
func Group(use, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: strings.ToUpper(short[:1]) + short[1:] + ".",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return Usage("unknown command " + cmd.Name() + " " + args[0] + suggestions(cmd, args[0]))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(verbs...)
	return cmd
}

// Args is cobra's check of the number of arguments, as a usage failure that
// says what is wanted.
func Args(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return Usage(cmd.CommandPath()+" wants "+want, "see `"+cmd.CommandPath()+" --help`")
		}
		return nil
	}
}
