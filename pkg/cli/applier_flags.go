package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/gitops/flux"
)

// nameAuto guesses the applier object by object.
const nameAuto = "auto"

// applierFlags say how the manifests will be applied, where no owner does.
type applierFlags struct {
	name           string
	manager        string
	forceConflicts bool
	force          bool
	given          func(flag string) bool
}

func applierNames() []string {
	return []string{nameAuto, dryrun.Manager, dryrun.NameKubectlClient, dryrun.NameKubectlServer, argocd.Applier, flux.Applier}
}

func applierFlagNames() []string {
	return []string{"applier", "field-manager", "force-conflicts", "force"}
}

func (f *applierFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "applier", nameAuto, "who will apply: "+strings.Join(applierNames(), ", ")+"; auto guesses by who applied each object last")
	flags.StringVar(&f.manager, "field-manager", "", "the field manager that kubectl apply will be given, if any")
	flags.BoolVar(&f.forceConflicts, "force-conflicts", false, "server-side: take fields over from other managers")
	flags.BoolVar(&f.force, "force", false, "kubectl-client: plan for kubectl apply --force, which deletes and creates anew what cannot be changed")
	// The flag is the command's own, so that this cannot fail.
	_ = cmd.RegisterFlagCompletionFunc("applier", cobra.FixedCompletions(applierNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("field-manager", cobra.NoFileCompletions)
	f.given = flags.Changed
}

// validate refuses what does not go together. owned says that the plan is made
// for an owner.
func (f *applierFlags) validate(owned bool) error {
	client := f.name == dryrun.NameKubectlClient
	kubectl := client || f.name == dryrun.NameKubectlServer
	if i := slices.IndexFunc(applierFlagNames(), f.given); owned && i >= 0 {
		return Usage("--" + applierFlagNames()[i] + " and --owner: the owner says how it applies")
	}
	switch {
	case !slices.Contains(applierNames(), f.name):
		return Usage("--applier " + f.name + ": there are " + strings.Join(applierNames(), ", "))
	case f.given("field-manager") && f.manager == "":
		return Usage("--field-manager is empty")
	case f.manager != "" && !kubectl:
		return Usage("--field-manager goes with --applier kubectl-client or kubectl-server: " + f.name + " has its own")
	case f.forceConflicts && f.controller():
		return Usage("--force-conflicts: " + f.name + " takes fields over in its own way")
	case f.forceConflicts && client:
		return Usage("--force-conflicts: a client-side apply knows no conflicts; it goes with server-side appliers")
	case f.force && !client:
		return Usage("--force goes with --applier kubectl-client; to take fields over from other managers, say --force-conflicts")
	}
	return nil
}

// controller says whether the applier is that of a GitOps controller.
func (f *applierFlags) controller() bool { return f.name == argocd.Applier || f.name == flux.Applier }

// needsTools says whether the cluster's controllers may apply.
func (f *applierFlags) needsTools() bool { return f.name == nameAuto || f.controller() }

// applier is the one named. tools are those of the cluster, where they are
// needed.
func (f *applierFlags) applier(tools *gitops.Tools) dryrun.Applier {
	switch f.name {
	case argocd.Applier, flux.Applier:
		return tools.Applier(f.name)
	case dryrun.NameKubectlClient:
		return dryrun.KubectlClient(f.manager, f.force)
	case dryrun.NameKubectlServer:
		return dryrun.KubectlServer(f.manager, f.forceConflicts)
	case dryrun.Manager:
		return dryrun.Changeward(f.forceConflicts)
	}
	return dryrun.Auto(f.forceConflicts, tools.By)
}
