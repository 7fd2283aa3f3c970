package install

import (
	"context"
	"errors"
	"fmt"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// history is the records that an install makes, as they are now.
type history struct {
	epochs []state.Epoch // oldest first
	head   string        // digest of the newest epoch's envelope
	policy *policy.Policy
	keys   []state.Record
}

// readHistory reads them. No namespace is an empty history. Signatures are
// verified, owners of keys are not: the gate does that.
func readHistory(ctx context.Context, store state.Store) (history, error) {
	var h history
	records := map[state.Type][]state.Record{}
	for _, t := range []state.Type{state.TypeEpoch, state.TypePolicy, state.TypeKey} {
		list, err := store.List(ctx, t, state.Selector{})
		if errors.Is(err, state.ErrNoStore) {
			return history{}, nil
		}
		if err != nil {
			return history{}, fmt.Errorf("read %s records: %w", t, err)
		}
		records[t] = list
	}
	h.keys = records[state.TypeKey]
	for _, record := range records[state.TypeEpoch] {
		if err := h.addEpoch(record); err != nil {
			return history{}, err
		}
	}
	return h, h.readPolicy(records[state.TypePolicy])
}

func (h *history) addEpoch(record state.Record) error {
	var epoch state.Epoch
	opened, err := sign.Open(state.TypeEpoch, record.Data[state.DataEnvelope], &epoch)
	switch {
	case err != nil:
		return fmt.Errorf("epoch record %s: %w", record.Name, err)
	case epoch.Version != len(h.epochs)+1 || epoch.Previous != h.head || record.Name != state.NumberedName(state.TypeEpoch, epoch.Version):
		return fmt.Errorf("epoch record %s: version %d does not follow version %d", record.Name, epoch.Version, len(h.epochs))
	}
	h.epochs, h.head = append(h.epochs, epoch), state.Digest(opened.Envelope)
	return nil
}

func (h *history) readPolicy(records []state.Record) error {
	if len(records) == 0 {
		return nil
	}
	newest := records[len(records)-1]
	var version state.Policy
	if _, err := sign.Open(state.TypePolicy, newest.Data[state.DataEnvelope], &version); err != nil {
		return fmt.Errorf("policy record %s: %w", newest.Name, err)
	}
	parsed, err := policy.Parse([]byte(version.Source))
	if err != nil {
		return fmt.Errorf("policy record %s: %w", newest.Name, err)
	}
	h.policy = parsed
	return nil
}

// epoch is the newest one; zero if there is none.
func (h history) epoch() state.Epoch {
	if len(h.epochs) == 0 {
		return state.Epoch{}
	}
	return h.epochs[len(h.epochs)-1]
}

// enrollment says whether the caller's key must be enrolled first. A caller
// who has keys already must use one of them.
func (h history) enrollment(signer sign.Signer, clusterUID, username string) (needed bool, err error) {
	ring, _ := sign.BuildRing(h.keys, sign.Trust{ClusterUID: clusterUID})
	fingerprint := fingerprint(signer)
	if entry, ok := ring.Lookup(fingerprint); ok {
		switch {
		case entry.Person != username:
			return false, fmt.Errorf("key %s belongs to %s", fingerprint, entry.Person)
		case entry.Revoked != nil:
			return false, fmt.Errorf("key %s was revoked", fingerprint)
		}
		return false, nil
	}
	for _, entry := range ring.Person(username) {
		return false, fmt.Errorf("key %s is not enrolled for %s, but %s is", fingerprint, username, entry.Fingerprint)
	}
	return true, nil
}
