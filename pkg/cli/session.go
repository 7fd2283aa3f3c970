package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
	"github.com/changeward/changeward/state/dir"
)

// Session is one command's connection to a cluster and its records.
type Session struct {
	Streams   Streams
	Config    *rest.Config
	Namespace string // of objects that name none
	Target    string // as the caller called the cluster; "" if they did not
	Client    *dryrun.Client
	Kube      kubernetes.Interface
	Cluster   string        // UID of Namespace kube-system
	Server    string        // its version; "" where the caller may not know it
	Rollout   time.Duration // how long a direct apply waits by default
	Author    string        // whom the server names as the author of what the caller proposes; "" is nobody
	Gate      *gate.Gate
	// Install is where the cluster's own records and fence are.
	Install install.Cluster
	// Ledger is all records as they were when Connect read them; nil where
	// nothing is installed, or it was not asked for.
	Ledger *gate.Ledger
	asker  *Asker
	// latest are the objects of the last plan.
	latest []manifest.Object
	about  []string // the change requests that the verb is about; none: all
}

// Need says how much of an install a verb needs.
type Need int

// Needs of verbs.
const (
	NeedsCluster  Need = iota // neither records nor an install
	TakesRecords              // uses records where they are there
	NeedsRecords              // cannot work without
	CountsRecords             // lets something pass on their strength
)

// Connect follows the flags to a cluster, asks it who it is and who is asking,
// and reads the records. A target that is neither a stored alias nor a name
// that the cluster's policy gives itself is an error. about names the change
// requests that the verb needs, as for Ledger.Find, if it does not need all.
func Connect(ctx context.Context, flags *ClusterFlags, streams Streams, need Need, about ...string) (*Session, error) {
	at, err := flags.resolve(streams)
	if err != nil {
		return nil, err
	}
	s := &Session{Streams: streams, Config: at.config, Namespace: at.namespace, Target: flags.Target, asker: streams.Asker(ctx), about: about}
	s.Rollout = rolloutTimeout(at.target)
	if s.Client, err = dryrun.NewWithCache(at.config, flags.cacheFolder(streams.Env)); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if s.Kube, err = kubernetes.NewForConfig(at.config); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if err := s.openRecords(flags.State, need); err != nil {
		return nil, err
	}
	unnamed, err := s.identify(ctx)
	if err == nil && need != TakesRecords {
		err = unnamed
	}
	if err != nil {
		return nil, err
	}
	if need != NeedsCluster {
		err := s.load(ctx, need)
		if unnamed != nil && (err != nil || s.Ledger != nil) {
			return nil, unnamed // records are nothing without their cluster
		}
		if err != nil {
			return nil, err
		}
	}
	if unnamed != nil {
		streams.Note("note: you may not read Namespace kube-system, by which a cluster is known: no gate will have the hash of this plan")
	}
	return s, checkTarget(streams.Advice(), flags.Target, at.target, s.Ledger)
}

// openRecords finds the store of --state.
func (s *Session) openRecords(where string, need Need) error {
	records, err := cluster.New(s.Config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.Install = install.Cluster{Config: s.Config, Store: records}
	s.Gate = &gate.Gate{Store: records, Attestation: s.attest(need)}
	path, err := folder(where)
	if err != nil || path == "" {
		return err
	}
	s.Streams.Note("note: these records are files: no API server vouches for who wrote them, and signatures are all there is")
	s.Gate = &gate.Gate{Store: dir.Open(path, time.Now)}
	return nil
}

// attest compares the fence with the epochs and probes it. Approvers may not
// write plans, and so cannot send the probe: where they only look or decide,
// the comparison has to do. The gate that counts sends its own.
func (s *Session) attest(need Need) func(context.Context, []state.Epoch) gate.Attestation {
	return func(ctx context.Context, epochs []state.Epoch) gate.Attestation {
		standing := install.Attest(ctx, s.Install, epochs)
		if standing.Void == install.ReasonCanaryForbidden && need != CountsRecords {
			return gate.Attestation{From: standing.From}
		}
		unknown := []string{cluster.CanaryUnanswered, install.ReasonAdmissionUnreadable}
		return gate.Attestation{Void: standing.Void, Detail: standing.Detail, From: standing.From, Unknown: slices.Contains(unknown, standing.Void)}
	}
}

// identify asks the server for both ends of the connection. unnamed is that
// the caller may not know which cluster this is, which a plan can do without
// where nothing is installed.
func (s *Session) identify(ctx context.Context) (unnamed, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		var refused *dryrun.Error
		s.Cluster, err = s.Client.Cluster(ctx)
		if errors.As(err, &refused) && refused.Reason == dryrun.Forbidden {
			unnamed, err = err, nil
		}
		return err
	})
	group.Go(func() error {
		caller, err := s.Client.Whoami(ctx)
		s.Gate.Caller, s.Gate.Credential, s.Author = caller.Person, caller.Credential, caller.Author
		return err
	})
	group.Go(func() error {
		s.Server, _ = s.Client.ServerVersion(ctx) // tells why a plan is stale, and decides nothing
		return nil
	})
	err = group.Wait()
	s.Gate.ClusterUID = s.Cluster
	return unnamed, err
}

func (s *Session) load(ctx context.Context, need Need) error {
	load := s.Gate.Load
	switch {
	case need == TakesRecords || need == CountsRecords: // what a plan needs beside these is known once it is made
		load = s.Gate.LoadRules
	case len(s.about) == 1:
		load = func(ctx context.Context) (*gate.Ledger, error) { return s.Gate.LoadAbout(ctx, s.about[0]) }
	}
	ledger, err := load(ctx)
	switch {
	case err == nil:
		s.Ledger = ledger
	case need == TakesRecords && errors.Is(err, state.ErrNoStore):
	case need == TakesRecords && errors.Is(err, state.ErrForbidden):
		s.Streams.Note("note: you may not read the records of this cluster, so policy is not asked")
	default:
		return err
	}
	return nil
}

// Reload reads the records anew.
func (s *Session) Reload(ctx context.Context) error { return s.load(ctx, NeedsRecords) }

// Find reads one change request, named as for Ledger.Find, where the records
// that Connect read are not about it.
func (s *Session) Find(ctx context.Context, ref string) (gate.Request, error) {
	ledger, err := s.Gate.LoadAbout(ctx, ref)
	if err != nil {
		return gate.Request{}, err
	}
	return ledger.Find(ref)
}

// Asker of the session's streams.
func (s *Session) Asker() *Asker { return s.asker }

// OnCall says that the caller is a person whom policy lets approve alone in an
// emergency.
func (s *Session) OnCall() bool {
	inForce, _ := s.Ledger.Policy()
	epoch := s.Ledger.Epoch()
	return inForce.Emergency.Includes(s.Gate.Caller) && !install.IsGate(s.Gate.Caller, epoch.GateUsers, epoch.GateGroups)
}
