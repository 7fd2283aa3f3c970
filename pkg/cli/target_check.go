package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/render"
)

// checkTarget makes sure that a name leads where it says. stored is the alias
// of that name, nil if there is none; ledger is nil where nothing is
// installed; program is for hints.
func checkTarget(program, name string, stored *render.Target, ledger *gate.Ledger) error {
	if name == "" {
		return nil
	}
	if stored != nil {
		return checkEnv(program, *stored, ledger)
	}
	hints := []string{"store it with `" + program + " connect " + name + " --context CONTEXT`, or leave --target out"}
	if ledger == nil {
		return Fail(ReasonUnknownTarget, fmt.Errorf("unknown target %q: it is not stored, and there is no policy here that could name the cluster so", name), hints...)
	}
	p, _ := ledger.Policy()
	if p == nil || !p.Names(name) {
		return Fail(ReasonUnknownTarget, fmt.Errorf("unknown target %q: it is not stored, and this cluster is %s", name, namesOf(p)), hints...)
	}
	return nil
}

func namesOf(p *policy.Policy) string {
	if p == nil {
		return "nameless"
	}
	return strings.Join(append([]string{p.ClusterName}, p.Aliases...), ", also ")
}

// checkEnv compares the environment of a stored target with the policy's.
func checkEnv(program string, t render.Target, ledger *gate.Ledger) error {
	if t.Env == "" || ledger == nil {
		return nil
	}
	p, _ := ledger.Policy()
	if p == nil || t.Env == p.Env || slices.ContainsFunc(p.Envs, func(rule policy.EnvRule) bool { return rule.Env == t.Env }) {
		return nil
	}
	return Fail(ReasonWrongTarget, fmt.Errorf("target %s is said to be %s, but the policy of this cluster says %s", t.Name, t.Env, p.Env),
		"is this the right cluster? `"+program+" connect` again with the environment of the policy, or without one")
}

// CheckTarget follows a target that is about to be stored. A cluster that
// cannot be asked now is no reason not to store it.
func CheckTarget(ctx context.Context, flags *ClusterFlags, streams Streams, t render.Target) error {
	if t.Env == "" {
		return nil
	}
	probe := *flags
	probe.Target = ""
	session, err := Connect(ctx, &probe, streams, TakesRecords)
	var failure *Failure
	switch {
	case errors.As(err, &failure):
		return err
	case err != nil:
		streams.Note("note: the environment could not be compared with the policy: " + err.Error())
		return nil
	case session.Ledger == nil:
		streams.Note("note: there is no policy to compare the environment with")
	}
	return checkEnv(streams.Advice(), t, session.Ledger)
}
