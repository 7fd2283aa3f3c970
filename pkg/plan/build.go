package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

// Input is all that a plan is made of.
type Input struct {
	Cluster      Cluster
	Scope        string // recorded, not hashed
	Prune        bool   // whether the applier deletes what left the manifests
	Observations []Observation
	// Owner is who the plan is made for, such as kustomization/flux-system/apps;
	// "" where it is made for nobody.
	Owner string
	// Removals are objects that left the manifests, as their owner lists them.
	Removals []Removal
	// Warnings are about the plan as a whole.
	Warnings []string
	// Problems are objects that could not even be observed.
	Problems []Failed
	// IgnorePaths are field paths that policy leaves out: of what changes, and
	// of what admission adds. WholeObjects binds all of LIVE of what is
	// changed, not only the fields that change.
	IgnorePaths  []string
	WholeObjects bool
}

// Build makes the plan. The order of observations does not matter. What is
// wrong with one object is in Plan.Failed and never hides another; an error
// means that no hash could be made at all.
func Build(in Input) (*Plan, error) {
	b := builder{plan: &Plan{
		Header: Header{Schema: SchemaV1, Rules: Rules, Cluster: in.Cluster, Prune: in.Prune},
		Scope:  in.Scope,
		Failed: slices.Clone(in.Problems),
	}, bounds: boundsOf(in), owner: in.Owner, living: map[string]int{}, dying: map[string]string{}}
	for _, warning := range in.Warnings {
		b.warn(warning)
	}
	for _, o := range in.Observations {
		b.count(o)
		b.observe(o)
	}
	for _, r := range in.Removals {
		b.remove(r)
	}
	b.noteDying()
	return b.finish()
}

// subject is a change with the objects it was made of; both are nil for a
// plan that was read from its bytes.
type subject struct {
	Change
	live, merged map[string]any
	owners       []Owner
	others       []Owner // but for the one that the plan is made for
}

type builder struct {
	plan     *Plan
	owner    string // that the plan is made for
	bounds   bounds
	changed  []subject
	warnings map[string]bool
	living   map[string]int    // objects of the manifests, by what they would die with
	dying    map[string]string // what the plan deletes, and much with it
}

func (b *builder) observe(o Observation) {
	s, failure := changeOf(o, b.bounds)
	for _, warning := range s.warnings {
		b.warn(keyOf(o.Object).String() + ": " + warning)
	}
	if failure != nil {
		b.plan.Failed = append(b.plan.Failed, Failed{
			Key: keyOf(o.Object), Version: o.Object.Version(), Source: o.Object.Source, Failure: *failure, Holders: o.Holders,
		})
		return
	}
	s.noteOwners(b.owner)
	b.add(s.subject)
}

// add takes a change into the plan, or what has no digest as a failure.
func (b *builder) add(s subject) {
	if s.Body.Operation == None {
		b.plan.Unchanged = append(b.plan.Unchanged, s.Change)
		return
	}
	var err error
	if s.Digest, err = state.DigestOf(s.Body); err != nil {
		b.plan.Failed = append(b.plan.Failed, Failed{Key: s.Body.Key(), Version: s.Body.Version, Source: s.Source,
			Failure: Failure{Reason: ReasonInvalid, Message: err.Error()}, Holders: s.Holders})
		return
	}
	b.changed = append(b.changed, s)
}

func (b *builder) warn(text string) {
	if b.warnings == nil {
		b.warnings = map[string]bool{}
	}
	if !b.warnings[text] {
		b.warnings[text] = true
		b.plan.Warnings = append(b.plan.Warnings, text)
	}
}

func (b *builder) finish() (*Plan, error) {
	p := b.plan
	slices.SortFunc(b.changed, func(x, y subject) int { return compareChanges(x.Change, y.Change) })
	slices.SortFunc(p.Unchanged, compareChanges)
	slices.SortStableFunc(p.Failed, func(x, y Failed) int { return compareKeys(x.Key, y.Key) })
	slices.Sort(p.Warnings)
	derive(p, b.changed)
	p.Header.Changes, p.Header.Unverified = make([]string, 0, len(p.Changes)), []string{}
	for _, c := range p.Changes {
		p.Header.Changes = append(p.Header.Changes, c.Digest)
		if c.Unverified != "" {
			p.Header.Unverified = append(p.Header.Unverified, headerKey(c.Body.Key()))
		}
	}
	slices.Sort(p.Header.Unverified)
	p.Header.Unverified = slices.Compact(p.Header.Unverified)
	var err error
	if p.Hash, err = state.DigestOf(p.Header); err != nil {
		return nil, fmt.Errorf("plan hash: %w", err)
	}
	return p, nil
}

// derive fills in what follows from sorted changes: risks, reversibility,
// namespaces.
func derive(p *Plan, sorted []subject) {
	p.Reversible = true
	namespaces := map[string]bool{}
	for _, s := range sorted {
		c := s.Change
		c.Why = irreversible(c.Body)
		c.Reversible = c.Why == ""
		c.Risks = risksOf(s, p.Header.Prune, len(sorted))
		p.Reversible = p.Reversible && (c.Reversible || c.Body.Operation == Hook)
		p.Changes = append(p.Changes, c)
		namespaces[c.Body.Namespace] = true
	}
	for _, f := range p.Failed {
		namespaces[f.Key.Namespace] = true
	}
	delete(namespaces, "")
	p.Namespaces = sortedKeys(namespaces)
}

// keyOf is the identity of an object; one that the server names, as only
// hooks may be, goes by its generateName.
func keyOf(o manifest.Object) manifest.Key {
	key := o.Key()
	key.Name = cmp.Or(key.Name, o.GenerateName())
	return key
}

func headerKey(k manifest.Key) string {
	return strings.Join([]string{k.Group, k.Kind, k.Namespace, k.Name}, "/")
}

func compareKeys(a, b manifest.Key) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

func compareChanges(a, b Change) int {
	return cmp.Or(compareKeys(a.Body.Key(), b.Body.Key()), strings.Compare(a.Digest, b.Digest))
}
