package plan

import (
	"fmt"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

// Prior is an object as it was before a change, masked and without what the
// server maintains: for the way back, and for display.
type Prior struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Object    any    `json:"object"`
}

// Before is the canonical before-state of a plan: LIVE of each object that it
// would update, replace or delete, in the order of the plan. It is nil where
// there is none. Observations and removals are those that the plan was built
// from.
func Before(p *Plan, observations []Observation, removals ...Removal) ([]byte, error) {
	live := map[manifest.Key]Observation{}
	for _, o := range observations {
		if o.Live != nil {
			live[keyOf(o.Object)] = o
		}
	}
	for _, r := range removals {
		if r.Live != nil {
			live[r.Key] = r.prior()
		}
	}
	var priors []Prior
	for _, c := range p.Changes {
		o, known := live[c.Body.Key()]
		if !known || c.Body.Operation == Hook {
			continue
		}
		b := c.Body
		priors = append(priors, Prior{Group: b.Group, Version: b.Version, Kind: b.Kind, Namespace: b.Namespace, Name: b.Name,
			Object: diff.Clean(o.Live, o.StatusSubresource)})
	}
	if priors == nil {
		return nil, nil
	}
	return state.Canonical(priors)
}

// Priors reads a before-state: the objects of a plan as they were. An error
// means that it is none; no bytes hold nothing.
func Priors(before []byte) (map[manifest.Key]map[string]any, error) {
	priors, err := readPriors(before)
	if err != nil {
		return nil, err
	}
	out := map[manifest.Key]map[string]any{}
	for _, p := range priors {
		out[p.key()], _ = p.Object.(map[string]any)
	}
	return out, nil
}

func readPriors(before []byte) (priors []Prior, err error) {
	if before == nil {
		return nil, nil
	}
	if err := state.DecodeStrict(before, &priors); err != nil {
		return nil, fmt.Errorf("before-state: %w", err)
	}
	return priors, nil
}
