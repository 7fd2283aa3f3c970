package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
)

// CompleteTargets offers the stored targets.
func CompleteTargets(streams Streams) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		targets, err := LoadTargets(streams.Env)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var offers []string
		for _, target := range targets.List() {
			offers = append(offers, cobra.CompletionWithDesc(target.Name, strings.TrimSpace(target.Context+" "+target.Env)))
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteRequests offers the change requests of the cluster that the flags
// lead to, those of some statuses only where statuses are given.
func CompleteRequests(streams Streams, flags *ClusterFlags, statuses []gate.Status) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		streams.ErrOut = io.Discard
		session, err := Connect(ctx, flags, streams, NeedsRecords)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var offers []string
		for _, r := range session.Ledger.Requests() {
			fits := len(statuses) == 0 || slices.Contains(statuses, r.Status)
			if fits && !slices.Contains(args, r.ID) {
				offers = append(offers, cobra.CompletionWithDesc(r.ID, fmt.Sprintf("#%d %s %s", r.Number, r.Status, render.Escape(r.Header.Scope))))
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completionTimeout is how long a person at a prompt will wait for a TAB.
const completionTimeout = 3 * time.Second

// CompleteNothing offers neither files nor anything else.
func CompleteNothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// CompleteFlag offers fixed values for a flag.
func CompleteFlag(cmd *cobra.Command, flag string, values ...string) {
	CompleteFlagBy(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteFlagBy offers what a function finds as the values of a flag.
func CompleteFlagBy(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	mustRegister(cmd, flag, complete)
}

// CompleteFolder offers folders as the value of a flag.
func CompleteFolder(cmd *cobra.Command, flag string) {
	mustRegister(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// CompleteNames offers the objects of a kind in the namespace of the flags.
func CompleteNames(streams Streams, flags *ClusterFlags, kind schema.GroupVersionResource) cobra.CompletionFunc {
	return func(cmd *cobra.Command, typed []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		at, err := flags.resolve(streams)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		client, err := dynamic.NewForConfig(at.config)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, err := client.Resource(kind).Namespace(at.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var offers []string
		for _, object := range found.Items {
			if name := object.GetName(); !slices.Contains(typed, name) {
				offers = append(offers, name)
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}
