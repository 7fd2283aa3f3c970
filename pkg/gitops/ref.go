package gitops

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Kinds of owners, as people write them.
const (
	Kustomization = "kustomization"
	Application   = "application"
	helmRelease   = "helmrelease"
	helm          = "helm"
)

// Ref names an owner. The zero value names none.
type Ref struct{ Kind, Namespace, Name string }

// ParseRef reads KIND/NAMESPACE/NAME, where the kind is kustomization or
// application in any case of letters. The error says what is wrong with it.
func ParseRef(text string) (Ref, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return Ref{}, fmt.Errorf("owner %q: want kustomization/NAMESPACE/NAME or application/NAMESPACE/NAME", text)
	}
	ref := Ref{Kind: strings.ToLower(parts[0]), Namespace: parts[1], Name: parts[2]}
	switch ref.Kind {
	case Kustomization, "ks", "kustomizations":
		ref.Kind = Kustomization
	case Application, "app", "applications":
		ref.Kind = Application
	default:
		return Ref{}, fmt.Errorf("owner %q: plans are made for a kustomization or an application, not for a %s", text, parts[0])
	}
	return ref, nil
}

// RefOf is an owner as Attribute names it, the zero value for no such name.
func RefOf(owner plan.Owner) Ref {
	parts := strings.Split(owner.Name, "/")
	if len(parts) != 3 {
		return Ref{}
	}
	return Ref{Kind: parts[0], Namespace: parts[1], Name: parts[2]}
}

// String is kustomization/NAMESPACE/NAME, "" for none.
func (r Ref) String() string {
	if r == (Ref{}) {
		return ""
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// key is the identity of the owner in the cluster.
func (r Ref) key() manifest.Key {
	switch r.Kind {
	case Application:
		return manifest.Key{Group: argocd.Group, Kind: "Application", Namespace: r.Namespace, Name: r.Name}
	case helmRelease:
		return manifest.Key{Group: flux.HelmGroup, Kind: "HelmRelease", Namespace: r.Namespace, Name: r.Name}
	default:
		return manifest.Key{Group: flux.Group, Kind: "Kustomization", Namespace: r.Namespace, Name: r.Name}
	}
}
