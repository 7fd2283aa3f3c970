package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
	"github.com/changeward/changeward/state/dir"
)

// Records are the records of an install, for reading them: in a cluster, or in
// files, where no cluster is asked.
type Records struct {
	Gate    *gate.Gate
	Session *Session // nil where no cluster is asked
	target  string   // a name that the policy must give the cluster; "": none
}

// Offline says that no cluster was asked.
func (r *Records) Offline() bool { return r.Session == nil }

// OpenRecords opens a bundle, if one is named, else the folder of --state, else
// the records of the cluster that the flags lead to.
func OpenRecords(ctx context.Context, flags *ClusterFlags, streams Streams, bundle string) (*Records, error) {
	path, err := folder(flags.State)
	switch {
	case err != nil:
		return nil, err
	case bundle != "" && path != "":
		return nil, Usage("choose one of --bundle and --state")
	case bundle != "":
		read, _, err := ReadBundle(bundle)
		if err != nil {
			return nil, err
		}
		return offline(ctx, read.Store())
	case path != "":
		return offline(ctx, dir.Open(path, time.Now))
	}
	targets, err := LoadTargets(streams.Env)
	if err != nil {
		return nil, err
	}
	r, at := &Records{}, *flags
	if _, stored := targets.Find(flags.Target); !stored { // the policy is not read yet, and may not hold
		r.target, at.Target = flags.Target, ""
	}
	if r.Session, err = Connect(ctx, &at, streams, NeedsCluster); err != nil {
		return nil, err
	}
	r.Gate = r.Session.Gate
	return r, nil
}

// offline takes the cluster that the records are about from their first policy.
func offline(ctx context.Context, store state.Store) (*Records, error) {
	list, err := store.List(ctx, state.TypePolicy, state.Selector{})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &gate.Fault{Reason: gate.ReasonNoPolicy, Message: "these records hold no policy: there is nothing to verify them against"}
	}
	var first state.Policy
	if _, err := sign.Open(state.TypePolicy, list[0].Data[state.DataEnvelope], &first); err != nil {
		return nil, &gate.Fault{Reason: gate.ReasonPolicyUnreadable, Message: fmt.Sprintf("policy record %s: %v", list[0].Name, err)}
	}
	return &Records{Gate: &gate.Gate{Store: store, ClusterUID: first.ClusterUID}}, nil
}

// ReadBundle reads a bundle, and gives the digest of the file.
func ReadBundle(file string) (*audit.Bundle, string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, "", Fail(ReasonNotFound, fmt.Errorf("read the bundle: %w", err))
	}
	bundle, err := audit.ReadBundle(bytes.NewReader(content))
	if err != nil {
		return nil, "", Fail(ReasonBadInput, fmt.Errorf("%s: %w", file, err))
	}
	return bundle, state.Digest(content), nil
}

// WriteBundle writes a bundle whole or not at all, for its owner alone, and
// gives the digest of the file. What is there already is replaced. It is on the
// disk once this returns: it must outlive what it allows to delete.
func WriteBundle(file string, bundle audit.Bundle) (digest string, err error) {
	var content bytes.Buffer
	if err := bundle.Write(&content); err != nil {
		return "", err
	}
	return state.Digest(content.Bytes()), WritePrivate(file, content.Bytes())
}

// Examine reads and judges all records, and what lies among them in a cluster.
func (r *Records) Examine(ctx context.Context) (audit.Facts, error) {
	facts, err := r.Gate.Examine(ctx)
	if err != nil {
		return facts, err
	}
	if n := len(facts.Policies); r.target != "" && (n == 0 || !facts.Policies[n-1].Names(r.target)) {
		return facts, Fail(ReasonUnknownTarget, fmt.Errorf("unknown target %q: it is not stored, and no policy here names the cluster so", r.target))
	}
	among, ok := r.Gate.Store.(interface {
		Foreign(ctx context.Context) ([]cluster.Foreign, error)
	})
	if !ok {
		return facts, nil
	}
	foreign, err := among.Foreign(ctx)
	if err != nil {
		return facts, err
	}
	for _, o := range foreign {
		facts.Faults = append(facts.Faults, audit.Finding{Reason: audit.Foreign, Record: o.Name, Message: o.Kind + " " + o.Why})
	}
	return facts, nil
}

// Limits say what an audit of these records cannot prove.
func (r *Records) Limits(expected audit.Expected) []string {
	var limits []string
	if r.Offline() {
		limits = append(limits, "attestation: whether an API server vouched for who wrote a record and for their groups; these are files, and signatures are all there is")
	}
	if expected.Trust == "" {
		limits = append(limits, "that these are the records of your cluster: compare the first policy with one that you know, or give it with --trust")
	}
	if expected.Head == "" {
		limits = append(limits, "that no entry was cut off the end: give the head that a gate printed with --expect-head")
	}
	return append(limits, "what policy alone allowed or denied: that rests on the gate's signature")
}
