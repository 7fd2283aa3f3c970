package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
)

// history is the records that an install makes, as they are now.
type history struct {
	epochs []state.Epoch // that count, oldest first
	head   string        // digest of the newest epoch's envelope
	policy *policy.Policy
	opened *trust.Opened
	book   *trust.Book
}

// readHistory reads them. No namespace is an empty history.
func readHistory(ctx context.Context, store state.Store, clusterUID string) (history, error) {
	records := map[state.Type][]state.Record{}
	for _, t := range []state.Type{state.TypeEpoch, state.TypePolicy, state.TypeRoster, state.TypeKey, state.TypeDecision} {
		list, err := store.List(ctx, t, state.Selector{})
		if err != nil && !errors.Is(err, state.ErrNoStore) {
			return history{}, fmt.Errorf("read %s records: %w", t, err)
		}
		records[t] = list
	}
	h := history{opened: trust.Open(trust.Stored{ClusterUID: clusterUID, Keys: records[state.TypeKey], Policies: records[state.TypePolicy],
		Rosters: records[state.TypeRoster], Epochs: records[state.TypeEpoch], Decisions: records[state.TypeDecision]})}
	epochs := h.opened.Epochs()
	for _, e := range epochs {
		h.epochs, h.head = append(h.epochs, e.Predicate), e.Digest
	}
	var err error
	if h.book, err = h.opened.Read(epochs, func(time.Time) string { return "" }); err != nil {
		return history{}, err
	}
	return h, h.readPolicy()
}

func (h *history) readPolicy() error {
	if len(h.book.Policies) == 0 {
		return nil
	}
	newest := h.book.Policies[len(h.book.Policies)-1]
	parsed, err := policy.Parse([]byte(newest.Predicate.Source))
	if err != nil {
		return fmt.Errorf("policy record %s: %w", newest.Record.Name, err)
	}
	h.policy = parsed
	return nil
}

// refused are the records that count for nothing and are about the install
// itself.
func (h history) refused() []trust.Rejected {
	return slices.DeleteFunc(slices.Clone(h.book.Rejected), func(r trust.Rejected) bool { return r.Type == state.TypeKey })
}

// mayWriteEpoch says why a further epoch would count for nothing.
func (h history) mayWriteEpoch(who state.Person, signer sign.Signer, now time.Time) error {
	name := state.NumberedName(state.TypeEpoch, len(h.epochs)+1)
	if i := slices.IndexFunc(h.refused(), func(r trust.Rejected) bool { return r.Name == name }); i >= 0 {
		return fmt.Errorf("%s counts for nothing (%s), and takes the name of the next epoch: delete that ConfigMap first", name, h.refused()[i].Detail)
	}
	if why := h.opened.MayWriteEpoch(who, fingerprint(signer), now); why != "" {
		return fmt.Errorf("an epoch that you sign would count for nothing: %s", why)
	}
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
func (h history) enrollment(signer sign.Signer, username string) (needed bool, err error) {
	ring := h.book.Ring
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
