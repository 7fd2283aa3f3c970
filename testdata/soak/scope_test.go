package soak_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// scope is one manifest set under one applier, in a namespace of its own, with
// records of its own.
type scope struct {
	applier   applier
	set       int
	namespace string
	office    *office
	request   string // that was approved
	hash      string
	plan      *plan.Plan // as it was approved
}

func (s *scope) String() string { return fmt.Sprintf("set %d as %s", s.set, s.applier.name) }

// replan plans a scope as the gate does, and runs the gate.
func (s *scope) replan(ctx context.Context, client *dryrun.Client, uid string) (*gate.Result, error) {
	objects, problems := manifest.Parse("set.yaml", []byte(manifests(s.set, s.namespace, 2)))
	kinds, err := client.KindsFor(ctx, objects)
	if err != nil {
		return nil, err
	}
	set, unresolved := manifest.Resolve(objects, kinds, s.namespace)
	if problems = append(problems, unresolved...); len(problems) > 0 {
		return nil, problems[0]
	}
	options := dryrun.ObserveOptions{Kinds: kinds, Applier: s.applier.plans, Masker: manifest.NewMasker([]byte("the key of the soak"), uid, false)}
	observations, err := client.Observe(ctx, set, options)
	if err != nil {
		return nil, err
	}
	in := plan.Input{Cluster: plan.Cluster{Name: "soak", UID: uid}, Scope: s.String(), Observations: observations}
	built, err := plan.Build(in)
	if err != nil {
		return nil, err
	}
	if in.Observations, err = client.Repeat(ctx, set, observations, built, options); err != nil {
		return nil, err
	}
	if built, err = plan.Build(in); err != nil {
		return nil, err
	}
	before, err := plan.Before(built, in.Observations)
	if err != nil {
		return nil, err
	}
	g := s.office.as("system:serviceaccount:changeward-gate:ci")
	return g.Run(ctx, nil, gate.Input{Plan: built, Observations: in.Observations, Before: before, Lane: "gitops", Header: state.Plan{Scope: s.String()}})
}

// settle makes version 1 live, plans version 2, and has it approved.
func (s *scope) settle(t *testing.T, c *cluster, client *dryrun.Client) error {
	s.applier.apply(t, c.Cluster, manifests(s.set, s.namespace, 1))
	first, err := s.replan(t.Context(), client, c.uid)
	if err != nil {
		return err
	}
	if !first.Plan.Complete() {
		return errors.New("incomplete: " + plan.Text(first.Plan))
	}
	assert.Equal(t, first.Verdict.Decision, state.VerdictApprovalRequired, "%s", s)
	s.office.approve(t, first.Request.ID)
	s.request, s.hash, s.plan = first.Request.ID, first.Plan.Hash, first.Plan
	return nil
}
