package main

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/gitops/flux"
)

// sourceFlags say what Kustomizations are built from.
type sourceFlags struct {
	checkout  string
	fromOwner bool
	revision  string
	empty     bool
}

func (f *sourceFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.checkout, "filename", "f", "", "root of a checkout of the source; spec.path is looked for in it")
	flags.BoolVar(&f.fromOwner, "from-owner", false, "build the artifact that the source has in the cluster (the default without -f)")
	flags.StringVar(&f.revision, "revision", "", "revision that the artifact must have, or commit of the checkout")
	flags.BoolVar(&f.empty, "allow-empty", false, "plan the deletion of all objects of a Kustomization where nothing is built")
	// The flag is the command's own, so that this cannot fail.
	_ = cmd.MarkFlagDirname("filename")
}

func (f *sourceFlags) validate() error {
	if f.checkout != "" && f.fromOwner {
		return cli.Usage("-f and --from-owner: build from one of them")
	}
	return nil
}

// inputs are one a name, each once.
func (f *sourceFlags) inputs(namespace string, names []string) []cli.InputFlags {
	var out []cli.InputFlags
	seen := map[string]bool{}
	for _, name := range names {
		if !seen[name] {
			out = append(out, cli.Kustomization(namespace, name, f.checkout, f.revision, f.empty))
		}
		seen[name] = true
	}
	return out
}

// completeKustomizations offers the names in the namespace.
func completeKustomizations(streams cli.Streams, cluster *cli.ClusterFlags) cobra.CompletionFunc {
	return cli.CompleteNames(streams, cluster, schema.GroupVersionResource{Group: flux.Group, Version: "v1", Resource: "kustomizations"})
}

// refused is the answer to kinds that people may expect here.
func refused(verb string) *cobra.Command {
	return &cobra.Command{
		Use: "helmrelease NAME", Aliases: []string{"hr", "helmreleases"}, Hidden: true, ValidArgsFunction: cli.CompleteNothing,
		RunE: func(*cobra.Command, []string) error {
			return cli.Usage("a HelmRelease is no Kustomization: what its chart installs is not planned",
				"`flux changeward "+verb+" kustomization NAME` plans the Kustomization that creates it")
		},
	}
}
