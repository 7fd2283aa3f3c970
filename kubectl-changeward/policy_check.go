package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/render"
)

const policyTestLong = `Run the cases of a test file against a policy: sample plans with the verdicts that are expected.

With --policy the policy is a file, and no cluster is asked. Exit code 3 when a case fails.`

const policyTestExample = `  kubectl changeward policy test policy-tests.yaml
  kubectl changeward policy test policy-tests.yaml --policy policy.yaml`

type policyTestOptions struct {
	streams cli.Streams
	cluster *cli.ClusterFlags
	output  cli.OutputFlag
	tests   string
	policy  string
}

func newPolicyTest(streams cli.Streams, cluster *cli.ClusterFlags) *cobra.Command {
	o := &policyTestOptions{streams: streams, cluster: cluster}
	cmd := fileVerb(cobra.Command{
		Use: "test FILE", Short: "test a policy against sample plans", Long: policyTestLong, Example: policyTestExample,
	}, "one file of cases", "the same as FILE", &o.tests, &o.output, o.run)
	cmd.Flags().StringVar(&o.policy, "policy", "", "file of the policy (default: the one in force)")
	cluster.AddFlags(cmd, streams)
	o.output.AddFlag(cmd)
	return cmd
}

func (o *policyTestOptions) run(ctx context.Context) error {
	tested, err := o.load(ctx)
	if err != nil {
		return err
	}
	source, err := os.ReadFile(o.tests)
	if err != nil {
		return cli.Fail(cli.ReasonBadInput, err)
	}
	cases, err := policy.ParseTests(source, o.recorded, time.Now())
	if err != nil {
		return inFile(o.tests, err)
	}
	results := tested.Test(cases)
	failed := 0
	for _, result := range results {
		if !result.OK {
			failed++
		}
	}
	err = o.streams.Print(o.output, cli.Result{
		Text: func() string { return o.streams.Style().PolicyTests(results) },
		JSON: func() any { return render.PolicyTestDocument(results) },
	})
	if err != nil || failed == 0 {
		return err
	}
	return &cli.Failure{Code: cli.ExitFindings, Reason: cli.ReasonFindings, Reported: true,
		Err: fmt.Errorf("%d of %d cases failed", failed, len(results))}
}

// recorded reads a plan that a test names: from its own folder, unless the
// path is absolute.
func (o *policyTestOptions) recorded(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(o.tests), name)
	}
	return os.ReadFile(name)
}

func (o *policyTestOptions) load(ctx context.Context) (*policy.Policy, error) {
	if o.policy != "" {
		_, parsed, err := readPolicy(o.streams, o.policy)
		return parsed, err
	}
	session, err := cli.Connect(ctx, o.cluster, o.streams, cli.NeedsRecords)
	if err != nil {
		return nil, err
	}
	inForce, _ := session.Ledger.Policy()
	return inForce, nil
}
