package argocd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
)

// Options are what the Application and the annotations of an object say about
// how it is applied.
type Options struct {
	// Skip is why Argo CD does not apply the object; "" means that it does.
	Skip string
	// ServerSide says whether server-side apply is used, with conflicts forced.
	ServerSide bool
	// Replace sends the object whole instead of applying it; with Force it is
	// deleted and created anew, at each sync.
	Replace bool
	// Force deletes and creates anew what cannot be patched. It counts only
	// where neither ServerSide nor Replace does.
	Force bool
	// Validate is false where unknown fields are dropped without a word.
	Validate bool
	// Migrate names the manager whose Update entries server-side apply takes
	// over; "" is none.
	Migrate string
	// OutOfSyncOnly applies nothing that does not differ; IgnoreDifferences
	// keeps the live values of ignored fields.
	OutOfSyncOnly, IgnoreDifferences bool
}

// Options reads the Application's sync options and those of an object: the
// manifest's, and for Replace and Force those of the live object as well, nil
// where it does not exist.
func (a *Application) Options(desired manifest.Object, live map[string]any) Options {
	own := list(desired, syncOptions)
	present := list(manifest.Object{Content: live}, syncOptions)
	either := func(option string) bool { return slices.Contains(own, option) || slices.Contains(present, option) }
	o := Options{
		Skip:              a.skip(desired),
		ServerSide:        !slices.Contains(own, "ServerSideApply=false") && (a.has("ServerSideApply=true") || slices.Contains(own, "ServerSideApply=true")),
		Replace:           a.has("Replace=true") || either("Replace=true"),
		Force:             a.Force || either("Force=true"),
		Validate:          !a.has("Validate=false") && !slices.Contains(own, "Validate=false"),
		OutOfSyncOnly:     a.has("ApplyOutOfSyncOnly=true"),
		IgnoreDifferences: a.has("RespectIgnoreDifferences=true"),
	}
	if o.ServerSide && !a.has("ClientSideApplyMigration=false") {
		o.Migrate = cmp.Or(a.MigratesFrom, clientSideApply)
	}
	return o
}

func (a *Application) skip(desired manifest.Object) string {
	_, _, isHook := manifest.Hook(desired)
	value, annotated := desired.Annotations()["argocd.argoproj.io/hook"]
	switch {
	case annotated && !isHook:
		return "Argo CD does not apply it: argocd.argoproj.io/hook: " + value
	case !a.selects(desired.Key()):
		return "Argo CD does not apply it: the sync that runs is about other objects"
	}
	return ""
}

// Keep says why Argo CD does not delete an object that left the manifests of
// an Application; "" means that it does. Only the live object counts: the
// manifest is gone.
func (a *Application) Keep(live map[string]any, s Settings) string {
	o := manifest.Object{Content: live}
	_, _, isHook := manifest.Hook(o)
	prune := a.pruneOption(o)
	switch {
	case isHook || o.Annotations()["argocd.argoproj.io/hook"] != "":
		return "Argo CD does not delete it: the live object is a hook"
	case len(ownerReferences(live)) > 0:
		return "Argo CD does not delete it: it has an owner reference"
	case !a.tracks(o, s):
		return "Argo CD does not delete it: the live object does not name the Application as its own"
	case a.ManagedNamespace != nil && isNamespace(o) && o.Name() == a.DefaultNamespace:
		return "Argo CD does not delete it: managedNamespaceMetadata keeps the namespace"
	case !a.selects(o.Key()):
		return "Argo CD does not delete it: the sync that runs is about other objects"
	case prune == "false":
		return "Argo CD does not delete it: sync option Prune=false"
	case prune == "confirm" && !a.Confirmed:
		return "Argo CD neither deletes it nor goes on with the sync before someone confirms that there: sync option Prune=confirm"
	case !a.Prune && a.Running:
		return "Argo CD does not delete it: the sync that runs does not prune"
	case !a.Prune:
		return "Argo CD does not delete it: automated pruning is off, and no sync that prunes is running"
	}
	return ""
}

// pruneOption is the object's own, else the Application's.
func (a *Application) pruneOption(o manifest.Object) string {
	for _, options := range [][]string{list(o, syncOptions), a.SyncOptions} {
		for _, option := range options {
			if value, found := strings.CutPrefix(option, "Prune="); found {
				return value
			}
		}
	}
	return ""
}

func (a *Application) tracks(o manifest.Object, s Settings) bool {
	claim, claimed := s.Claim(o)
	return claimed && claim.Instance == a.InstanceName(s) && claim.Self
}

func ownerReferences(live map[string]any) []any {
	metadata, _ := live["metadata"].(map[string]any)
	references, _ := metadata["ownerReferences"].([]any)
	return references
}

// Guards are the annotations of a live object that Keep looks at, and what
// Helm would.
func Guards(live map[string]any) map[string]string {
	out := map[string]string{}
	annotations := manifest.Object{Content: live}.Annotations()
	for _, key := range []string{syncOptions, "helm.sh/resource-policy"} {
		if value, there := annotations[key]; there {
			out[key] = value
		}
	}
	return out
}

// list reads a comma list as Argo CD does: trimmed, empty entries dropped.
func list(o manifest.Object, annotation string) []string {
	return commaList(o.Annotations()[annotation])
}

func commaList(text string) []string {
	var out []string
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			out = append(out, entry)
		}
	}
	return out
}
