package plan

import "strings"

// Owner is who keeps a live object as it is: a GitOps controller or Helm. What
// an object says of its owner is free text; Verified says that the owner
// exists, and lists the object itself.
type Owner struct {
	Name     string // such as kustomization/flux-system/apps
	Applier  string // the name of its own applier: argocd, flux, helm
	Manager  string // its field manager
	Verified bool
	Why      string // why it is not verified
	When     string // it syncs, such as "every 10m"; "" where that is not known
}

// ownerOf is the verified owners, "" where there is none. More than one is a
// conflict that notes tell of.
func ownerOf(owners []Owner) string {
	var names []string
	for _, owner := range owners {
		if owner.Verified {
			names = append(names, owner.Name)
		}
	}
	return strings.Join(names, ", ")
}

// noteOwners says who else keeps the object as it is, and what becomes of the
// change then. planned is the owner that the plan is made for, "" for none.
func (s *subject) noteOwners(planned string) {
	if len(s.owners) > 1 {
		var names []string
		for _, owner := range s.owners {
			names = append(names, owner.Name)
		}
		s.Notes = append(s.Notes, "conflict: it belongs to more than one owner: "+strings.Join(names, " and "))
	}
	for _, owner := range s.owners {
		if !owner.Verified {
			s.Notes = append(s.Notes, "owner "+owner.Name+" is claimed, not verified: "+owner.Why)
		}
		if owner.Name == planned {
			continue
		}
		s.others = append(s.others, owner)
		switch {
		case !owner.Verified || s.Body.Operation == None:
		case planned == "" && owner.Applier == s.Applier: // planned as the owner would, but not for it
		case planned != "":
			s.Notes = append(s.Notes, "it belongs to "+owner.Name+", and this plan is made for "+planned)
		default:
			s.noteFate(owner)
		}
	}
}

// noteFate says of a change past its owner which fields the owner will put
// back, and of which Git will never know.
func (s *subject) noteFate(owner Owner) {
	if s.Body.Operation != Update {
		s.Notes = append(s.Notes, "it belongs to "+owner.Name+", which makes it again at its next sync"+owner.when()+" if Git still has it")
		return
	}
	var reverted, kept []string
	for _, t := range s.Body.Transitions {
		if s.heldBy(owner.Manager, t.Path) {
			reverted = append(reverted, t.Path)
		} else {
			kept = append(kept, t.Path)
		}
	}
	if len(reverted) > 0 {
		s.Notes = append(s.Notes, "the next sync of "+owner.Name+owner.when()+" reverts "+listed(reverted)+" unless Git has the same by then")
	}
	if len(kept) > 0 {
		s.Notes = append(s.Notes, owner.Name+" never touches "+listed(kept)+", so it stays, and Git will never know it")
	}
}

func (o Owner) when() string {
	if o.When == "" {
		return ""
	}
	return " (" + o.When + ")"
}

// heldBy says whether a manager holds a field, or something above or below it.
// Of a field that several hold, LIVE tells one; the takeovers tell the others.
func (s *subject) heldBy(manager, path string) bool {
	for _, taken := range s.Body.TakesOver {
		if taken.Manager == manager && (under(taken.Path, path) || under(path, taken.Path)) {
			return true
		}
	}
	for at, holder := range s.Holders {
		if holder.Manager == manager && (under(at, path) || under(path, at) && at != "") {
			return true
		}
	}
	return false
}

// ownerRisks says who else believes to own the live object, and where a
// manifest claims an owner itself.
func ownerRisks(f facts) []Risk {
	var out []Risk
	for _, owner := range f.others {
		detail := owner.Name
		if !owner.Verified {
			detail += " (claimed, not verified)"
		}
		out = append(out, Risk{Name: RiskGitOpsOwned, Detail: detail})
	}
	for _, l := range f.set {
		if manager := claimedBy(l); manager != "" && manager != f.Body.Applier.Manager {
			out = append(out, Risk{Name: RiskGitOpsOwned, Detail: "claims an owner: " + l.path + " = " + jsonOf(Shown(l.value))})
		}
	}
	return out
}

// claimedBy is the field manager of the tool whose ownership a label or
// annotation stands for.
func claimedBy(l leaf) string {
	switch l.plain {
	case `metadata.annotations["argocd.argoproj.io/tracking-id"]`, `metadata.labels["argocd.argoproj.io/instance"]`:
		return "argocd-controller"
	case `metadata.labels["kustomize.toolkit.fluxcd.io/name"]`, `metadata.labels["kustomize.toolkit.fluxcd.io/namespace"]`:
		return "kustomize-controller"
	case `metadata.labels["helm.toolkit.fluxcd.io/name"]`, `metadata.labels["helm.toolkit.fluxcd.io/namespace"]`:
		return "helm-controller"
	case `metadata.annotations["meta.helm.sh/release-name"]`, `metadata.annotations["meta.helm.sh/release-namespace"]`:
		return "helm"
	}
	return ""
}
