package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/render"
)

// Output formats.
const (
	FormatText     = "text"
	FormatJSON     = "json"
	FormatMarkdown = "markdown"
	FormatName     = "name"
	FormatMetrics  = "prometheus" // its text format
)

// OutputFlag is -o of one verb.
type OutputFlag struct {
	Format  string
	allowed []string
}

// AddFlag registers -o. JSON and text are always allowed.
func (o *OutputFlag) AddFlag(cmd *cobra.Command, more ...string) {
	o.allowed = append([]string{FormatText, FormatJSON}, more...)
	cmd.Flags().StringVarP(&o.Format, "output", "o", FormatText, "output format: "+strings.Join(o.allowed, ", "))
	mustRegister(cmd, "output", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return o.allowed, cobra.ShellCompDirectiveNoFileComp
	})
}

// Validate refuses a format that the verb does not have.
func (o *OutputFlag) Validate() error {
	if slices.Contains(o.allowed, o.Format) {
		return nil
	}
	return Usage(fmt.Sprintf("no output format %q here: choose one of %s", o.Format, strings.Join(o.allowed, ", ")))
}

// Result is what a verb answers, in the forms that its -o knows. Forms that
// are not used need not be made.
type Result struct {
	Text     func() string
	JSON     func() any
	Markdown func() string
	Names    func() []string
	Metrics  func() string
}

// Print writes a result to stdout in the chosen format. An error of writing is
// an error of the command: an answer that was cut is no answer.
func (s Streams) Print(o OutputFlag, r Result) error {
	switch o.Format {
	case FormatJSON:
		return render.JSON(s.Out, r.JSON())
	case FormatMarkdown:
		return s.write(r.Markdown())
	case FormatMetrics:
		return s.write(r.Metrics())
	case FormatName:
		names := r.Names()
		for i, name := range names {
			names[i] = render.Escape(name) + "\n"
		}
		return s.write(strings.Join(names, ""))
	}
	return s.write(r.Text())
}

func (s Streams) write(text string) error {
	if _, err := io.WriteString(s.Out, text); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// mustRegister registers a completion for a flag that was just defined; there
// is no other way for it to fail than a wrong name in this program.
func mustRegister(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}
