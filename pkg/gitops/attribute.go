package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Attribute fills in who owns what was observed, in place. What a live object
// says of its owner is a claim; it is verified only if the owner exists and
// lists the object itself. Each owner is read once, and none where nothing
// claims one. The error says what could not be read: without it an owned object
// might pass as nobody's. That it may not be read, or is not there, is no error.
func Attribute(ctx context.Context, reader Reader, observations []plan.Observation, removals []plan.Removal) error {
	a := attribution{reader: reader, owners: map[Ref]listing{}}
	for i := range observations {
		owners, notes := a.of(ctx, observations[i].Live)
		observations[i].Owners = owners
		observations[i].Notes = append(observations[i].Notes, notes...)
	}
	for i := range removals {
		owners, notes := a.of(ctx, removals[i].Live)
		removals[i].Owners = owners
		removals[i].Notes = append(removals[i].Notes, notes...)
	}
	return errors.Join(a.unread...)
}

type attribution struct {
	reader   Reader
	owners   map[Ref]listing
	settings *argocd.Settings // of the install that is there; nil: not read yet
	assumed  string           // why those are only the defaults; "" where they are not
	unread   []error
}

// listing is what an owner lists, or why that is not known.
type listing struct {
	objects map[manifest.Key]bool
	why     string
	when    string // it syncs
}

// has says whether the owner lists an object. A namespace that it lists with
// one of a cluster-wide kind means nothing.
func (l listing) has(key manifest.Key) bool {
	if l.objects[key] || key.Namespace != "" {
		return l.objects[key]
	}
	for listed := range l.objects {
		if listed.Group == key.Group && listed.Kind == key.Kind && listed.Name == key.Name {
			return true
		}
	}
	return false
}

// of lists the owners of a live object, and what there is to say of claims
// that are none.
func (a *attribution) of(ctx context.Context, live map[string]any) (owners []plan.Owner, notes []string) {
	if live == nil {
		return nil, nil
	}
	o := manifest.Object{Content: live}
	for _, claim := range flux.Claims(o) {
		owner := plan.Owner{Applier: flux.Applier, Manager: flux.Manager}
		ref := Ref{Kind: Kustomization, Namespace: claim.Namespace, Name: claim.Name}
		if claim.Group == flux.HelmGroup {
			ref.Kind, owner.Applier, owner.Manager = helmRelease, helm, flux.HelmManager
		}
		owners = append(owners, a.verified(ctx, owner, ref, o.Key()))
	}
	if claim, claimed := a.argoClaim(ctx, o); claimed && !claim.Self {
		notes = append(notes, "its tracking-id names another object, so it is not owned by Argo CD's "+claim.Instance)
	} else if claimed {
		namespace, name := claim.Application(*a.settings)
		owner := plan.Owner{Applier: argocd.Applier, Manager: argocd.Manager}
		owners = append(owners, a.verified(ctx, owner, Ref{Kind: Application, Namespace: namespace, Name: name}, o.Key()))
	} else if instance := o.Labels()[a.settings.Label]; a.assumed != "" && instance != "" {
		notes = append(notes, "whether Argo CD's Application "+instance+" owns it is not known: ConfigMap argocd-cm says whether the label "+
			a.settings.Label+" counts, and "+a.assumed)
	}
	if release := helmClaim(o); release != (Ref{}) && !slices.ContainsFunc(owners, func(o plan.Owner) bool { return o.Applier == helm }) {
		owners = append(owners, plan.Owner{Name: release.String(), Applier: helm, Manager: helm,
			Why: "what a release of Helm holds is not looked into"})
	}
	return owners, notes
}

// argoClaim reads the install's settings once, and only where Argo CD is.
func (a *attribution) argoClaim(ctx context.Context, o manifest.Object) (argocd.Claim, bool) {
	if a.settings == nil {
		defaults := argocd.ReadSettings("argocd", nil)
		a.settings = &defaults
		if a.reader.Serves(argocd.Group, "Application") {
			found, failure := findSettings(ctx, a.reader, "")
			if failure == nil {
				a.settings = &found
			} else {
				a.assumed = unread(failure)
			}
			if failure != nil && failure.Reason != reasonSeveral {
				a.heard("ConfigMap argocd-cm, how Argo CD marks its objects", failure)
			}
		}
	}
	return a.settings.Claim(o)
}

// heard keeps a failure that is no answer.
func (a *attribution) heard(what string, failure *plan.Failure) {
	if failure == nil || slices.Contains([]string{plan.ReasonNotFound, plan.ReasonUnknownKind, plan.ReasonForbidden}, failure.Reason) {
		return
	}
	a.unread = append(a.unread, fmt.Errorf("read who owns the objects: %s: %s", what, failure.Message))
}

// helmClaim is the release that an object names; Helm wants both marks.
func helmClaim(o manifest.Object) Ref {
	annotations := o.Annotations()
	name := annotations["meta.helm.sh/release-name"]
	if name == "" || o.Labels()["app.kubernetes.io/managed-by"] != "Helm" {
		return Ref{}
	}
	return Ref{Kind: helm, Namespace: annotations["meta.helm.sh/release-namespace"], Name: name}
}

// verified asks the owner whether it lists an object.
func (a *attribution) verified(ctx context.Context, owner plan.Owner, ref Ref, key manifest.Key) plan.Owner {
	owner.Name = ref.String()
	listed, read := a.owners[ref]
	if !read {
		listed = a.list(ctx, ref)
		a.owners[ref] = listed
	}
	switch {
	case listed.why != "":
		owner.Why = listed.why
	case !listed.has(key):
		owner.Why = "it does not list the object"
	default:
		owner.Verified, owner.When = true, listed.when
	}
	return owner
}

func (a *attribution) list(ctx context.Context, ref Ref) listing {
	object, failure := a.reader.Read(ctx, ref.key())
	if failure != nil {
		a.heard(ref.String(), failure)
		return listing{why: unread(failure)}
	}
	out := listing{objects: map[manifest.Key]bool{}}
	if ref.Kind == Application {
		app, err := argocd.ReadApplication(object)
		if err != nil {
			return listing{why: "it cannot be understood: " + err.Error()}
		}
		for key := range app.Resources {
			out.objects[key] = true
		}
		switch {
		case app.SelfHeal:
			out.when = "at once: it heals itself"
		case app.Automated:
			out.when = "at its next revision: it does not heal itself"
		default:
			out.when = "once somebody syncs it"
		}
		return out
	}
	out.when = fluxWhen(object)
	inventory, err := flux.ReadInventory(object)
	if err != nil {
		return listing{why: "it cannot be understood: " + err.Error()}
	}
	for key := range inventory {
		out.objects[key] = true
	}
	return out
}

// fluxWhen is when a Kustomization or HelmRelease syncs next.
func fluxWhen(object map[string]any) string {
	spec, _ := object["spec"].(map[string]any)
	if spec["suspend"] == true {
		return "not before it is resumed: it is suspended"
	}
	if interval, _ := spec["interval"].(string); interval != "" {
		return "every " + interval + ", or sooner"
	}
	return ""
}
