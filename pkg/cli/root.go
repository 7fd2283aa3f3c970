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
			return unknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetUsageTemplate(usage)
	root.AddCommand(newOptions())
	root.SetHelpCommand(newHelp())
	return root
}

// unknownCommand is the failure of a word that is no verb of cmd.
func unknownCommand(cmd *cobra.Command, typed string) error {
	path := strings.TrimPrefix(cmd.CommandPath()+" "+typed, cmd.Root().CommandPath()+" ")
	if near := suggestions(cmd, typed); near != "" {
		return Usage("unknown command " + path + near)
	}
	return Usage("unknown command "+path, "see `"+cmd.CommandPath()+" --help`")
}

// flagFailure is the failure of flags that cannot be read. Where the verb
// before them does not exist, that is what is wrong.
func flagFailure(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		return unknownCommand(cmd, words[0])
	}
	return Usage(err.Error(), "see `"+cmd.CommandPath()+" --help`")
}

// newHelp is the verb `help`, the same as --help.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "explain a command", Hidden: true,
		ValidArgsFunction: func(cmd *cobra.Command, words []string, _ string) ([]string, cobra.ShellCompDirective) {
			var offers []string
			if verb, rest, err := cmd.Root().Find(words); err == nil && len(rest) == 0 {
				for _, sub := range verb.Commands() {
					if sub.IsAvailableCommand() {
						offers = append(offers, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return offers, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			verb, rest, err := cmd.Root().Find(words)
			if err != nil {
				return err
			}
			if len(rest) > 0 && verb.HasSubCommands() {
				return unknownCommand(verb, rest[0])
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		},
	}
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
			return unknownCommand(cmd, args[0])
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
