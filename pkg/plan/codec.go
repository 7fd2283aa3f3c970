package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/changeward/changeward/state"
)

// document is the stored form of a plan: the members of the hash, and each
// hashed change in full.
type document struct {
	Header  Header `json:"header"`
	Changes []Body `json:"changes"`
}

// Encode writes the canonical bytes of a complete plan: its header, and its
// bodies in the header's order. Nothing else of a plan is stored.
func Encode(p *Plan) ([]byte, error) {
	if !p.Complete() {
		return nil, errors.New("encode plan: it is incomplete")
	}
	doc := document{Header: p.Header, Changes: make([]Body, 0, len(p.Changes))}
	for _, c := range p.Changes {
		doc.Changes = append(doc.Changes, c.Body)
	}
	data, err := state.Canonical(doc)
	if err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	return data, nil
}

// Decode reads what Encode wrote, computes every digest and the hash anew, and
// derives risks and reversibility from the bodies. It refuses unknown schemas
// and rules by name, and whatever Encode would not have written, so that what
// is rendered from the plan is all that its hash binds. What is not stored
// (sources, notes, unchanged objects, risks that only LIVE shows) is not there.
func Decode(data []byte) (*Plan, error) {
	p, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode plan: %w", err)
	}
	return p, nil
}

func decode(data []byte) (*Plan, error) {
	if err := known(data); err != nil {
		return nil, err
	}
	var doc document
	if err := state.DecodeStrict(data, &doc); err != nil {
		return nil, err
	}
	if doc.Changes == nil || doc.Header.Changes == nil || doc.Header.Unverified == nil {
		return nil, errors.New("null instead of a list")
	}
	if len(doc.Changes) != len(doc.Header.Changes) {
		return nil, fmt.Errorf("%d changes, but %d digests", len(doc.Changes), len(doc.Header.Changes))
	}
	p := &Plan{Header: doc.Header}
	subjects := make([]subject, 0, len(doc.Changes))
	for i, body := range doc.Changes {
		s, err := restore(body, doc.Header, i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", body.Key(), err)
		}
		subjects = append(subjects, s)
	}
	if !slices.IsSortedFunc(subjects, func(x, y subject) int { return compareChanges(x.Change, y.Change) }) {
		return nil, errors.New("changes are not in order")
	}
	if err := checkUnverified(doc.Header.Unverified, subjects); err != nil {
		return nil, err
	}
	derive(p, subjects)
	var err error
	p.Hash, err = state.DigestOf(p.Header)
	return p, err
}

// known refuses other schemas and rules before anything else is read.
func known(data []byte) error {
	var peek struct {
		Header struct {
			Schema string
			Rules  int
		}
	}
	if err := json.Unmarshal(data, &peek); err != nil {
		return err
	}
	if peek.Header.Schema != SchemaV1 {
		return fmt.Errorf("unknown schema %q", peek.Header.Schema)
	}
	if peek.Header.Rules != Rules {
		return fmt.Errorf("unknown rule number %d", peek.Header.Rules)
	}
	return nil
}

// restore checks one body against its digest and makes the change of it.
func restore(body Body, header Header, i int) (subject, error) {
	digest, err := state.DigestOf(body)
	if err != nil {
		return subject{}, err
	}
	if digest != header.Changes[i] {
		return subject{}, errors.New("its digest does not fit")
	}
	if err := checkShape(body); err != nil {
		return subject{}, err
	}
	c := Change{Body: thawed(body), Digest: digest}
	if slices.Contains(header.Unverified, headerKey(body.Key())) {
		c.Unverified = "not checked by the server"
	}
	return subject{Change: c}, nil
}

func checkUnverified(keys []string, subjects []subject) error {
	if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
		return errors.New("unverified keys are not in order")
	}
	there := map[string]bool{}
	for _, s := range subjects {
		there[headerKey(s.Body.Key())] = true
	}
	for _, key := range keys {
		if !there[key] {
			return fmt.Errorf("unverified key %q has no change", key)
		}
	}
	return nil
}
