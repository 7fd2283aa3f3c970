package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

// fileVerb makes a verb of one file, named as an argument or with -f. name is
// for its errors, and what -f is the same as for its help.
func fileVerb(cmd cobra.Command, name, same string, file *string, output *cli.OutputFlag, run func(context.Context) error) *cobra.Command {
	cmd.Args = cli.Args(0, 1, name)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if *file, err = oneFile(*file, args); err != nil {
			return err
		}
		if err := output.Validate(); err != nil {
			return err
		}
		return run(cmd.Context())
	}
	cmd.Flags().StringVarP(file, "filename", "f", "", same)
	return &cmd
}

// oneFile is the file that an argument or -f names.
func oneFile(flag string, args []string) (string, error) {
	switch {
	case len(args) == 1 && flag == "":
		return args[0], nil
	case len(args) == 0 && flag != "":
		return flag, nil
	}
	return "", cli.Usage("name one file, as an argument or with -f")
}

// showVerb makes a verb without arguments that prints what the records say.
func showVerb(cmd cobra.Command, streams cli.Streams, cluster *cli.ClusterFlags, output *cli.OutputFlag, run func(*cli.Session) error) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = cli.Args(0, 0, "no arguments"), cli.CompleteNothing
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := output.Validate(); err != nil {
			return err
		}
		session, err := cli.Connect(cmd.Context(), cluster, streams, cli.NeedsRecords)
		if err != nil {
			return err
		}
		return run(session)
	}
	cluster.AddFlags(&cmd, streams)
	return &cmd
}
