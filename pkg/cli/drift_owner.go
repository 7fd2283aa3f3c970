package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/changeward/changeward/pkg/apply"
	"github.com/changeward/changeward/pkg/drift"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// applied is what an owner, or whoever applies the folder, applied last.
type applied struct {
	drift.Applied
	owner   *gitops.Owner                   // nil without one, or where it cannot be read
	desired map[manifest.Key]map[string]any // as they are sent
}

// orNil is what the judge takes: nil for nobody.
func (a *applied) orNil() *drift.Applied {
	if a == nil {
		return nil
	}
	return &a.Applied
}

// owners are who keeps each object, the zero value for nobody. Of an object that
// is gone, the one from before tells.
func (d *drifting) owners(ctx context.Context, bodies []plan.Body, looks []look, priors map[manifest.Key]map[string]any) ([]gitops.Ref, error) {
	seen := make([]plan.Observation, len(bodies))
	for i, body := range bodies {
		if seen[i].Live = looks[i].Object; seen[i].Live == nil && looks[i].gone() {
			seen[i].Live = priors[body.Key()]
		}
	}
	if err := gitops.Attribute(ctx, d.reader(), seen, nil); err != nil {
		return nil, err
	}
	refs := make([]gitops.Ref, len(bodies))
	for i := range seen {
		for _, owner := range seen[i].Owners {
			if owner.Verified || refs[i] == (gitops.Ref{}) {
				refs[i] = gitops.RefOf(owner)
			}
		}
	}
	return refs, nil
}

// gitOf is what an owner applied last; nil where nobody applies.
func (d *drifting) gitOf(ctx context.Context, ref gitops.Ref) (*applied, error) {
	if ref == (gitops.Ref{}) && d.options.Dir == "" {
		return nil, nil
	}
	return d.known(ctx, ref)
}

// known is what an owner applied last, read once; the zero value is the folder.
func (d *drifting) known(ctx context.Context, ref gitops.Ref) (*applied, error) {
	git, known := d.applied[ref.String()]
	if !known {
		var err error
		if git, err = d.read(ctx, ref); err != nil {
			return nil, err
		}
		d.applied[ref.String()] = git
	}
	return git, nil
}

// read renders what an owner applied last: from its source, or from the folder,
// if that is of the same revision. Without an owner, the folder is taken for
// what is applied. That it cannot be known is no error.
func (d *drifting) read(ctx context.Context, ref gitops.Ref) (*applied, error) {
	git := &applied{Applied: drift.Applied{Owner: ref.String()}}
	if ref == (gitops.Ref{}) {
		git.Revision = headOf(gitRoot(d.options.Dir))
		return git, d.render(ctx, git, folderInput(d.options.Dir))
	}
	if ref.Kind != gitops.Kustomization && ref.Kind != gitops.Application {
		git.Unknown = "what a " + ref.Kind + " applies is not rendered here"
		return git, nil
	}
	owner, err := gitops.Find(ctx, d.reader(), ref)
	if err != nil {
		git.Unknown = err.Error()
		return git, ctx.Err()
	}
	git.owner = owner
	if d.options.Next && owner.Flux != nil {
		return git, d.next(ctx, git, ref)
	}
	git.Revision, git.Reconciled = owner.Reconciled()
	return git, d.render(ctx, git, d.ownerInput(ref, git))
}

// ownerInput is how the manifests of an owner are read. Where they cannot be,
// git says why.
func (d *drifting) ownerInput(ref gitops.Ref, git *applied) InputFlags {
	dir := d.options.Dir
	if head := headOf(gitRoot(dir)); dir != "" && (head == "" || !strings.Contains(git.Revision, head)) {
		git.Unknown = fmt.Sprintf("%s is at revision %s, and %s applied %s", dir, cmp.Or(head, "unknown"), ref, cmp.Or(git.Revision, "none"))
	}
	if ref.Kind == gitops.Kustomization {
		return Kustomization(ref.Namespace, ref.Name, dir, git.Revision, true)
	}
	if dir == "" {
		git.Unknown = "name a checkout of what it applied with --k8s-dir"
	}
	input := folderInput(dir)
	input.owner = ref.String()
	return input
}

// folderInput reads a folder of manifests, or a kustomization.
func folderInput(dir string) InputFlags {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return InputFlags{kustomize: dir, empty: true}
		}
	}
	return InputFlags{filenames: []string{dir}, recursive: true, empty: true}
}

// render reads the desired objects.
func (d *drifting) render(ctx context.Context, git *applied, input InputFlags) error {
	if git.Unknown != "" {
		return nil
	}
	p, err := d.session.prepare(ctx, input)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		git.Unknown = err.Error()
		return nil
	case len(p.problems) > 0:
		git.Unknown = p.problems[0].Error()
		return nil
	}
	if p.built != nil && d.options.Next {
		git.Revision = p.built.Revision
	}
	git.Objects, git.desired = map[manifest.Key]map[string]any{}, map[manifest.Key]map[string]any{}
	for _, object := range p.set.Objects {
		git.desired[object.Key()] = object.Content
		git.Objects[object.Key()] = d.masker.Object(object.Content)
	}
	return nil
}

// settle passes the fields that Git has to their owner, and records that the
// request is reconciled.
func (d *drifting) settle(ctx context.Context, request gate.Request, changes []drift.Change) error {
	writer, err := apply.New(d.session.Config)
	if err != nil {
		return err
	}
	outcome := state.Outcome{Result: state.ResultReconciled}
	for _, c := range changes {
		if c.State != drift.Reconciled {
			continue
		}
		outcome.Revision = c.Revision
		git := d.applied[c.Owner]
		if git == nil || git.owner == nil || c.Operation == plan.Delete {
			continue
		}
		if _, err := writer.HandOver(ctx, d.kinds.Path(c.Version, c.Key), git.owner.Applier.Manager, git.desired[c.Key]); err != nil {
			return fmt.Errorf("pass %s to %s: %w", c.Key, c.Owner, err)
		}
	}
	if d.session.Gate.Signer == nil {
		if d.session.Gate.Signer, err = d.session.GateSigner(ctx, d.options.Keys); err != nil {
			return errors.Join(errors.New("the outcome cannot be signed"), err)
		}
	}
	return d.session.Gate.Outcome(ctx, &request, outcome)
}
