package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
)

// inOrder sorts inputs of Kustomizations so that each comes behind those that
// it depends on; others keep their order. What cannot be read has no order, and
// says so itself later.
func (s *Session) inOrder(ctx context.Context, inputs []InputFlags) ([]InputFlags, error) {
	kustomization := manifest.Object{Content: map[string]any{"apiVersion": flux.Group + "/v1", "kind": "Kustomization"}}
	kinds, err := s.Client.KindsFor(ctx, []manifest.Object{kustomization})
	if err != nil {
		return nil, err
	}
	needs := map[string][]string{}
	for _, input := range inputs {
		ref, err := input.ownerRef()
		if err != nil {
			return nil, Usage(err.Error())
		}
		owner, err := gitops.Find(ctx, dryrun.Reader{Client: s.Client, Kinds: kinds}, ref)
		if err != nil || owner.Flux == nil {
			continue
		}
		for _, on := range owner.Flux.DependsOn {
			needs[input.owner] = append(needs[input.owner], gitops.Ref{Kind: gitops.Kustomization, Namespace: on.Namespace, Name: on.Name}.String())
		}
	}
	return sorted(inputs, needs)
}

// sorted takes, again and again, the first input that needs none of the others
// that are left.
func sorted(inputs []InputFlags, needs map[string][]string) ([]InputFlags, error) {
	left := slices.Clone(inputs)
	var out []InputFlags
	for len(left) > 0 {
		ready := slices.IndexFunc(left, func(input InputFlags) bool {
			return !slices.ContainsFunc(left, func(other InputFlags) bool { return slices.Contains(needs[input.owner], other.owner) })
		})
		if ready < 0 {
			var names []string
			for _, input := range left {
				names = append(names, input.owner)
			}
			return nil, Fail(ReasonBadInput, fmt.Errorf("these depend on each other, so that Flux applies none of them: %s", strings.Join(names, ", ")))
		}
		out = append(out, left[ready])
		left = slices.Delete(left, ready, ready+1)
	}
	return out, nil
}
