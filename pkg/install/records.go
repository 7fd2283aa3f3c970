package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

func fingerprint(signer sign.Signer) string { return ssh.FingerprintSHA256(signer.PublicKey()) }

// writer makes the records of an install. Those of one run state one server
// time: so the epoch covers the key record, though that is written first.
type writer struct {
	store      state.Store
	signer     sign.Signer
	clusterUID string
	actor      state.Person // with the groups that matter
	credential string
	time       string
}

// begin reads the server's clock before the first record.
func (w *writer) begin(ctx context.Context) error {
	if w.time != "" {
		return nil
	}
	now, err := w.store.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the server's clock: %w", err)
	}
	w.time = now.UTC().Format(time.RFC3339)
	return nil
}

// enroll makes the admin's key record.
func (w *writer) enroll(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	possession, err := sign.ProvePossession(w.signer, w.clusterUID, w.actor.Username)
	if err != nil {
		return fmt.Errorf("enroll key %s: %w", fingerprint(w.signer), err)
	}
	return w.create(ctx, state.TypeKey, "", state.Key{Action: state.KeyEnroll, ClusterUID: w.clusterUID,
		Person: state.Person{Username: w.actor.Username}, Possession: possession,
		PublicKey: sign.AuthorizedKey(w.signer.PublicKey()), Time: w.time})
}

// epoch says which fence stands from now on.
func (w *writer) epoch(ctx context.Context, h history, fence []item, users, groups []string, gateKey string) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	next := state.Epoch{Actor: w.actor, Admission: admission.Version, ClusterUID: w.clusterUID,
		GateUsers: sorted(users), GateGroups: sorted(groups), GateKey: gateKey, Objects: admissionObjects(fence),
		Previous: h.head, Time: w.time, Version: len(h.epochs) + 1}
	return w.create(ctx, state.TypeEpoch, state.NumberedName(state.TypeEpoch, next.Version), next)
}

func (w *writer) firstPolicy(ctx context.Context, source string) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	return w.create(ctx, state.TypePolicy, state.NumberedName(state.TypePolicy, 1), state.Policy{Actor: w.actor,
		ClusterUID: w.clusterUID, Source: source, Time: w.time, Version: 1})
}

// create signs and stores one record; an empty name is that of the content.
func (w *writer) create(ctx context.Context, t state.Type, name string, predicate any) error {
	envelope, payload, err := sign.Seal(w.signer, t, "", "", predicate)
	if err != nil {
		return fmt.Errorf("sign the %s record: %w", t, err)
	}
	if name == "" {
		name = state.ContentName(t, payload)
	}
	_, err = w.store.Create(ctx, state.Record{Type: t, Name: name, Data: map[string][]byte{state.DataEnvelope: envelope},
		Claims: state.Claims{Actor: w.actor.Username, Groups: w.actor.Groups, Credential: w.credential}})
	if errors.Is(err, state.ErrExists) {
		return fmt.Errorf("%w: somebody else installs at this moment; look again", err)
	}
	return err
}

// admissionObjects is the fence as an epoch names it.
func admissionObjects(fence []item) []state.AdmissionObject {
	var all []state.AdmissionObject
	for _, i := range fence {
		if i.live != nil {
			all = append(all, state.AdmissionObject{Generation: i.live.GetGeneration(), Kind: i.live.GetKind(),
				Name: i.live.GetName(), UID: string(i.live.GetUID())})
		}
	}
	slices.SortFunc(all, func(a, b state.AdmissionObject) int {
		return strings.Compare(a.Kind+"/"+a.Name, b.Kind+"/"+b.Name)
	})
	return all
}

// relevant leaves the caller the groups that the policy names.
func relevant(caller state.Person, roles policy.Roles) state.Person {
	named := policy.Union(roles.Admins, roles.Approvers, roles.Proposers, roles.Auditors).Groups
	person := state.Person{Username: caller.Username}
	for _, group := range named {
		if slices.Contains(caller.Groups, group) {
			person.Groups = append(person.Groups, group)
		}
	}
	return person
}

func sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// StartRecords makes the records that an install begins with in a store where
// no cluster keeps them: the caller's key and the first policy. There is no
// fence, and so no epoch. It can be repeated if it was stopped in between.
func StartRecords(ctx context.Context, store state.Store, clusterUID string, options Options, source string) error {
	h, err := readHistory(ctx, store, clusterUID)
	if err != nil {
		return err
	}
	first, err := policy.Parse([]byte(source))
	if err != nil {
		return err
	}
	w := &writer{store: store, signer: options.Signer, clusterUID: clusterUID, actor: relevant(options.Caller, first.Roles()),
		credential: options.Credential}
	needed, err := h.enrollment(options.Signer, options.Caller.Username)
	if err != nil {
		return err
	}
	if needed {
		if err := w.enroll(ctx); err != nil {
			return err
		}
	}
	return w.firstPolicy(ctx, source)
}
