package main

import (
	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
)

const rootLong = `changeward plans a change to a Kubernetes cluster with a server-side dry run, asks the
cluster's policy, and lets exactly that plan pass once the right people have approved it.

Plans and approvals are signed records in the cluster, in namespace changeward. There is no
server to run and nothing to log in to: your kubeconfig is all that is needed.

Exit codes: 0 allowed or done, 1 error, 2 approval required, 3 findings, 4 denied or rejected.`

const rootExample = `  # what would change, without recording anything
  kubectl changeward plan -f apps/shop

  # stop until this exact plan is approved
  kubectl changeward gate -f apps/shop

  # read it and approve it
  kubectl changeward approve '#3'`

// newRoot builds the whole command.
func newRoot(streams cli.Streams) *cobra.Command {
	root := cli.NewRoot("kubectl-changeward", streams)
	root.Short = "plan, approve and gate changes to a cluster"
	root.Long = rootLong
	root.Example = rootExample
	cluster := cli.NewClusterFlags(root)
	groups := []struct {
		id, title string
		verbs     []*cobra.Command
	}{
		{"changes", "Changes:", []*cobra.Command{newPlan(streams, cluster), newGate(streams, cluster), newApply(streams, cluster),
			newVerify(streams, cluster), newRollback(streams, cluster), newDrift(streams, cluster), newReconcile(streams, cluster), newList(streams, cluster),
			newShow(streams, cluster), newApprove(streams, cluster), newReject(streams, cluster), newRevoke(streams, cluster), newReview(streams, cluster)}},
		{"setup", "Setup:", []*cobra.Command{newInstall(streams, cluster), newDoctor(streams, cluster), newPolicy(streams, cluster),
			newSigner(streams, cluster), newToken(streams, cluster), newAudit(streams, cluster), newUninstall(streams, cluster)}},
		{"here", "This machine:", []*cobra.Command{newConnect(streams, cluster), newTargets(streams), cli.NewCompletion(streams, "kubectl"),
			cli.NewVersion(streams)}},
	}
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, verb := range group.verbs {
			verb.GroupID = group.id
			root.AddCommand(verb)
		}
	}
	return root
}
