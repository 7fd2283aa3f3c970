package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Reference is the page of docs/cli about a binary: every command that the help
// names, with the words and examples of its own help. A test keeps the page as
// the commands are.
func Reference(root *cobra.Command) string {
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\nMade from the commands' own help by `make update-golden`.\n\n", root.CommandPath())
	page.WriteString(root.Long + "\n")
	fmt.Fprintf(&page, "\n```\n%s\n```\n", unindent(root.Example))
	describe(&page, root)
	page.WriteString("\n## Kubeconfig flags\n\nEvery command takes these.\n\n")
	flagTable(&page, root.PersistentFlags())
	return page.String()
}

func describe(page *strings.Builder, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		if cmd.HasSubCommands() {
			describe(page, cmd)
			continue
		}
		fmt.Fprintf(page, "\n## %s\n\n%s.\n\n```\n%s\n```\n\n%s\n", cmd.CommandPath(), cmd.Short, cmd.UseLine(), cmd.Long)
		if cmd.Example != "" {
			fmt.Fprintf(page, "\n```\n%s\n```\n", unindent(cmd.Example))
		}
		if cmd.HasAvailableLocalFlags() {
			page.WriteString("\n")
			flagTable(page, cmd.LocalNonPersistentFlags())
		}
	}
}

// flagTable has a row for each flag that the help names.
func flagTable(page *strings.Builder, flags *pflag.FlagSet) {
	page.WriteString("| flag | meaning |\n|---|---|\n")
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		name := "--" + flag.Name
		if flag.Shorthand != "" {
			name = "-" + flag.Shorthand + ", " + name
		}
		kind, meaning := pflag.UnquoteUsage(flag)
		fmt.Fprintf(page, "| `%s` | %s |\n", strings.TrimSpace(name+" "+kind), cell(meaning))
	})
}

// cell is text that stays in its cell of a table, and is no HTML.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}

// unindent takes the two spaces off that the help puts before examples.
func unindent(example string) string {
	return strings.TrimPrefix(strings.ReplaceAll(example, "\n  ", "\n"), "  ")
}
