package gitops

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Owner is who a plan is made for, and all that its spec decides about how
// manifests are applied. One of Flux and Argo is set.
type Owner struct {
	Ref Ref
	UID string
	// Applier is how it applies what no annotation changes.
	Applier plan.Applier
	// Prune says that it deletes what left the manifests, by Propagation.
	Prune       bool
	Propagation string
	// DefaultNamespace of objects that name none; "" leaves it to the caller.
	DefaultNamespace string
	// Inventory is what it lists as its own, and the version that each had.
	Inventory map[manifest.Key]string
	// Object is the owner itself, as it was read.
	Object map[string]any
	// Notes are what people should know of it.
	Notes    []string
	Flux     *flux.Kustomization
	Argo     *argocd.Application
	Settings argocd.Settings // of the install of Argo CD
	applies  dryrun.Applier
}

// Error is why an owner cannot be planned for. Reason is a constant of package
// plan.
type Error struct {
	Ref     Ref
	Reason  string
	Message string
}

// Error names the owner and the cause.
func (e *Error) Error() string { return "owner " + e.Ref.String() + ": " + e.Message }

// Find reads an owner from the cluster that is planned against. The error is
// an *Error: the owner does not exist, may not be read, cannot be understood,
// or applies nothing here.
func Find(ctx context.Context, reader Reader, ref Ref) (*Owner, error) {
	object, failure := reader.Read(ctx, ref.key())
	if failure != nil {
		return nil, &Error{Ref: ref, Reason: failure.Reason, Message: unread(failure) + elsewhere(ctx, reader, ref, failure)}
	}
	if ref.Kind == Application {
		return findApplication(ctx, reader, ref, object)
	}
	return findKustomization(ctx, reader, ref, object)
}

func findKustomization(ctx context.Context, reader Reader, ref Ref, object map[string]any) (*Owner, error) {
	k, err := flux.ReadKustomization(object)
	if err != nil {
		return nil, &Error{Ref: ref, Reason: plan.ReasonInvalid, Message: "it cannot be understood: " + err.Error()}
	}
	if why := unapplied(k.Deleting, k.Remote, "spec.kubeConfig names one"); why != "" {
		return nil, &Error{Ref: ref, Reason: plan.ReasonInvalid, Message: why}
	}
	o := &Owner{Ref: ref, UID: k.UID, Object: object, Flux: k, Prune: k.Prune, Propagation: flux.Propagation, DefaultNamespace: k.TargetNamespace,
		Inventory: k.Inventory, Applier: plan.Applier{Name: flux.Applier, Mode: plan.ModeServerSide, Manager: flux.Manager, Force: true}}
	var why string
	if k.Controller, why, err = findController(ctx, reader, (manifest.Object{Content: object}).Labels()[shardKey]); err != nil {
		return nil, &Error{Ref: ref, Reason: plan.ReasonUnreadable, Message: err.Error()}
	}
	if why != "" {
		o.Notes = append(o.Notes, why)
	}
	if o.applies, err = flux.NewApplier(k); err != nil {
		return nil, &Error{Ref: ref, Reason: plan.ReasonInvalid, Message: "it cannot be understood: " + err.Error()}
	}
	if k.Suspended {
		o.Notes = append(o.Notes, ref.String()+" is suspended: Flux applies nothing of it until it is resumed")
	}
	if account := cmp.Or(k.ServiceAccount, k.Controller.ServiceAccount); account != "" {
		o.Notes = append(o.Notes, fmt.Sprintf("planned as the caller, applied as system:serviceaccount:%s:%s: admission may treat the two differently", k.Namespace, account))
	}
	return o, nil
}

func findApplication(ctx context.Context, reader Reader, ref Ref, object map[string]any) (*Owner, error) {
	a, err := argocd.ReadApplication(object)
	if err != nil {
		return nil, &Error{Ref: ref, Reason: plan.ReasonInvalid, Message: "it cannot be understood: " + err.Error()}
	}
	if why := unapplied(a.Deleting, a.Remote != "", "its destination is "+a.Remote); why != "" {
		return nil, &Error{Ref: ref, Reason: plan.ReasonInvalid, Message: why}
	}
	settings, failure := findSettings(ctx, reader, a.Namespace)
	if failure != nil {
		return nil, &Error{Ref: ref, Reason: failure.Reason, Message: "how Argo CD marks its objects is in ConfigMap argocd-cm, which cannot be read: " + failure.Message}
	}
	o := &Owner{Ref: ref, UID: a.UID, Object: object, Argo: a, Settings: settings, Prune: a.Prune, Propagation: a.Propagation(), DefaultNamespace: a.DefaultNamespace,
		Inventory: map[manifest.Key]string{}, Applier: plan.Applier{Name: argocd.Applier, Mode: plan.ModeClientSide, Manager: argocd.Manager}}
	o.applies = argocd.NewApplier(a, settings)
	if a.Options(manifest.Object{}, nil).ServerSide {
		o.Applier.Mode, o.Applier.Force = plan.ModeServerSide, true
	}
	for key, resource := range a.Resources {
		if !resource.Hook {
			o.Inventory[key] = resource.Version
		}
	}
	return o, nil
}

// elsewhere says where owners of this name are, if there is none where it was
// looked for.
func elsewhere(ctx context.Context, reader Reader, ref Ref, failure *plan.Failure) string {
	if failure.Reason != plan.ReasonNotFound {
		return ""
	}
	key := ref.key()
	key.Namespace = ""
	found, failure := reader.Named(ctx, key)
	if failure != nil || len(found) == 0 {
		return ""
	}
	var namespaces []string
	for _, object := range found {
		namespaces = append(namespaces, manifest.Object{Content: object}.Namespace())
	}
	return " in namespace " + ref.Namespace + ", but in " + strings.Join(namespaces, ", ")
}

// unapplied says why an owner applies nothing to this cluster.
func unapplied(deleting, remote bool, where string) string {
	switch {
	case deleting:
		return "it is being deleted, and applies nothing any more"
	case remote:
		return "its objects live in another cluster (" + where + "), and can only be planned there, with --applier"
	}
	return ""
}

// unread says why something could not be read, as one of three answers.
func unread(failure *plan.Failure) string {
	switch failure.Reason {
	case plan.ReasonNotFound:
		return "it does not exist"
	case plan.ReasonUnknownKind:
		return "it cannot exist: the cluster does not know its kind"
	case plan.ReasonForbidden:
		return "it may not be read: " + failure.Message
	}
	return "it could not be read: " + failure.Message
}

// reasonSeveral is that one install of several would have to be picked.
const reasonSeveral = plan.ReasonInvalid

// findSettings looks for argocd-cm where an install usually is, beside the
// Application, then anywhere. An install without one uses the defaults.
func findSettings(ctx context.Context, reader Reader, beside string) (argocd.Settings, *plan.Failure) {
	const usual, name = "argocd", "argocd-cm"
	key := manifest.Key{Kind: "ConfigMap", Name: name}
	for _, namespace := range []string{usual, beside} {
		key.Namespace = namespace
		object, failure := reader.Read(ctx, key)
		if failure == nil {
			return argocd.ReadSettings(namespace, data(object)), nil
		}
		if failure.Reason != plan.ReasonNotFound {
			return argocd.Settings{}, failure
		}
		if beside == "" || beside == usual {
			break
		}
	}
	key.Namespace = ""
	found, failure := reader.Named(ctx, key)
	switch {
	case failure != nil:
		return argocd.Settings{}, failure
	case len(found) > 1:
		return argocd.Settings{}, &plan.Failure{Reason: reasonSeveral, Message: "there are several installs of Argo CD, and nobody can tell which one it is"}
	case len(found) == 1:
		return argocd.ReadSettings(manifest.Object{Content: found[0]}.Namespace(), data(found[0])), nil
	}
	return argocd.ReadSettings(usual, nil), nil
}

func data(configMap map[string]any) map[string]string {
	out := map[string]string{}
	members, _ := configMap["data"].(map[string]any)
	for key, value := range members {
		out[key], _ = value.(string)
	}
	return out
}
