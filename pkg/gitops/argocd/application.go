package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/manifest"
)

// Application is what decides how Argo CD applies a set of manifests. While an
// operation is under way, it decides; else what an automated sync would do.
type Application struct {
	Namespace, Name, UID string
	Deleting             bool   // Argo CD applies nothing any more
	Remote               string // the other cluster that its objects live in; "" for this one
	DefaultNamespace     string // of objects that name none
	Automated            bool   // syncs by itself
	SelfHeal             bool   // puts back what others change, by itself
	Running              bool   // an operation is under way
	Starting             bool   // one is asked for, and Argo CD has not begun with it
	Sync                 *Sync  // the attempt that is under way; nil is none, or one that waits to be tried again
	Prune                bool
	Force                bool     // --force of the sync
	SkipHooks            bool     // hooks do not run in this sync
	SyncOptions          []string // as Name=value
	Selected             []Selected
	Confirmed            bool // deletes that wait for a confirmation have it
	// ManagedNamespace is what Argo CD keeps of DefaultNamespace, which it then
	// never prunes; nil is nothing.
	ManagedNamespace *ManagedMetadata
	// MigratesFrom is the field manager whose fields server-side apply takes
	// over beside its own; "" is that of kubectl apply.
	MigratesFrom string
	// CompareOptions are those of its annotation; SpecServerSide says that
	// server-side apply is an option of its spec. Together they decide how
	// Argo CD compares.
	CompareOptions []string
	SpecServerSide bool
	// IgnoreDifferences are the members of spec.ignoreDifferences as they are.
	IgnoreDifferences []any
	// Resources is what it listed last.
	Resources map[manifest.Key]Resource

	ended string // how the last operation ended, in words
}

// Selected is an object that a selective sync is about; an empty namespace is
// any.
type Selected struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Resource is an object in the status of an Application.
type Resource struct {
	Version         string
	Hook            bool
	RequiresPruning bool
}

type wire struct {
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Destination struct {
			Server    string `json:"server"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
		SyncPolicy struct {
			Automated *struct {
				Prune    bool  `json:"prune"`
				SelfHeal bool  `json:"selfHeal"`
				Enabled  *bool `json:"enabled"`
			} `json:"automated"`
			SyncOptions              []string         `json:"syncOptions"`
			ManagedNamespaceMetadata *ManagedMetadata `json:"managedNamespaceMetadata"`
		} `json:"syncPolicy"`
		IgnoreDifferences []any `json:"ignoreDifferences"`
	} `json:"spec"`
	Operation *operation `json:"operation"`
	Status    struct {
		OperationState *struct {
			Phase      string      `json:"phase"`
			Message    string      `json:"message"`
			StartedAt  string      `json:"startedAt"`
			FinishedAt string      `json:"finishedAt"`
			Operation  operation   `json:"operation"`
			SyncResult *syncResult `json:"syncResult"`
		} `json:"operationState"`
		Resources []struct {
			Group           string `json:"group"`
			Version         string `json:"version"`
			Kind            string `json:"kind"`
			Namespace       string `json:"namespace"`
			Name            string `json:"name"`
			Hook            bool   `json:"hook"`
			RequiresPruning bool   `json:"requiresPruning"`
		} `json:"resources"`
	} `json:"status"`
}

type operation struct {
	Sync *struct {
		Prune        bool       `json:"prune"`
		SyncOptions  []string   `json:"syncOptions"`
		Resources    []Selected `json:"resources"`
		Manifests    []string   `json:"manifests"`
		SyncStrategy struct {
			Apply *struct {
				Force bool `json:"force"`
			} `json:"apply"`
			Hook *struct {
				Force bool `json:"force"`
			} `json:"hook"`
		} `json:"syncStrategy"`
	} `json:"sync"`
}

// syncResult is what Argo CD has settled on in a sync.
type syncResult struct {
	Revision  string           `json:"revision"`
	Revisions []string         `json:"revisions"`
	Source    map[string]any   `json:"source"`
	Sources   []map[string]any `json:"sources"`
}

// sources of the sync, each with its revision.
func (r *syncResult) sources() (out []Source) {
	switch {
	case r == nil:
		return nil
	case len(r.Sources) == 0:
		return []Source{sourceOf(r.Source, r.Revision)}
	}
	for i, content := range r.Sources {
		revision := ""
		if i < len(r.Revisions) {
			revision = r.Revisions[i]
		}
		out = append(out, sourceOf(content, revision))
	}
	return out
}

// ReadApplication reads an Application. An error means that some member is not
// what Argo CD defines, so that nothing can be said in its name.
func ReadApplication(object map[string]any) (*Application, error) {
	var w wire
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(data, &w)
	if wrong := (&json.UnmarshalTypeError{}); errors.As(err, &wrong) {
		return nil, fmt.Errorf("%s is of the wrong type: %s", wrong.Field, wrong.Value)
	} else if err != nil {
		return nil, err
	}
	a := &Application{
		Namespace: w.Metadata.Namespace, Name: w.Metadata.Name, UID: w.Metadata.UID,
		Deleting: w.Metadata.DeletionTimestamp != "", Remote: w.remote(), DefaultNamespace: w.Spec.Destination.Namespace,
		ManagedNamespace: w.Spec.SyncPolicy.ManagedNamespaceMetadata, IgnoreDifferences: w.Spec.IgnoreDifferences,
		MigratesFrom: w.Metadata.Annotations[migratesFrom], CompareOptions: commaList(w.Metadata.Annotations[compareOptions]),
		SpecServerSide: slices.Contains(w.Spec.SyncPolicy.SyncOptions, "ServerSideApply=true"), Resources: map[manifest.Key]Resource{},
	}
	for _, r := range w.Status.Resources {
		a.Resources[manifest.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}] =
			Resource{Version: r.Version, Hook: r.Hook, RequiresPruning: r.RequiresPruning}
	}
	a.readSync(w)
	return a, nil
}

// remote is the destination unless it is the cluster that Argo CD runs in.
func (w wire) remote() string {
	to := w.Spec.Destination
	switch {
	case to.Name != "" && to.Name != "in-cluster":
		return to.Name
	case to.Server != "" && to.Server != "https://kubernetes.default.svc":
		return to.Server
	}
	return ""
}

// readSync takes what is under way, else what is automatic.
func (a *Application) readSync(w wire) {
	if automated := w.Spec.SyncPolicy.Automated; automated != nil && (automated.Enabled == nil || *automated.Enabled) {
		a.Automated, a.SelfHeal, a.Prune = true, automated.SelfHeal, automated.Prune
	}
	a.SyncOptions = w.Spec.SyncPolicy.SyncOptions
	running := w.Operation
	a.Starting = running != nil
	if state := w.Status.OperationState; state != nil && state.Phase == "Running" {
		running, a.Starting = &state.Operation, false
		a.Confirmed = !before(w.Metadata.Annotations[approved], state.StartedAt)
		if state.FinishedAt == "" && running.Sync != nil {
			a.Sync = &Sync{Sources: state.SyncResult.sources(), Whole: len(running.Sync.Manifests) > 0}
		} else {
			a.ended = " (the last attempt failed, and waits to be tried again)"
		}
	} else if state != nil {
		a.ended = " (the last one ended: " + state.Phase + ")"
	}
	if running == nil || running.Sync == nil {
		return
	}
	sync := running.Sync
	a.Running, a.Prune, a.SyncOptions, a.Selected = true, sync.Prune, sync.SyncOptions, sync.Resources
	a.Force = sync.SyncStrategy.Apply != nil && sync.SyncStrategy.Apply.Force || sync.SyncStrategy.Hook != nil && sync.SyncStrategy.Hook.Force
	a.SkipHooks = sync.SyncStrategy.Apply != nil || len(sync.Resources) > 0
}

// before says whether a confirmation is older than the operation, or none.
func before(confirmed, started string) bool {
	at, err := time.Parse(time.RFC3339, confirmed)
	from, also := time.Parse(time.RFC3339, started)
	return err != nil || also != nil || at.Before(from)
}

// has says whether a sync option is set for the whole Application.
func (a *Application) has(option string) bool { return slices.Contains(a.SyncOptions, option) }

// ServerSideDiff says that Argo CD compares by a dry run of server-side apply.
// A flag of its controller, which is not read, can say so as well.
func (a *Application) ServerSideDiff() bool {
	return !slices.Contains(a.CompareOptions, "ServerSideDiff=false") &&
		(slices.Contains(a.CompareOptions, "ServerSideDiff=true") || a.SpecServerSide)
}

// selects says whether the sync is about an object at all.
func (a *Application) selects(k manifest.Key) bool {
	return len(a.Selected) == 0 || slices.ContainsFunc(a.Selected, func(s Selected) bool {
		return s.Group == k.Group && s.Kind == k.Kind && s.Name == k.Name && (s.Namespace == "" || s.Namespace == k.Namespace)
	})
}

// Propagation of its deletes: foreground, unless a sync option says otherwise.
func (a *Application) Propagation() string {
	for _, propagation := range []string{"background", "foreground", "orphan"} {
		if a.has("PrunePropagationPolicy=" + propagation) {
			return propagation
		}
	}
	return "foreground"
}

// InstanceName is how objects name the Application: with its namespace where
// that is not Argo CD's own.
func (a *Application) InstanceName(s Settings) string {
	return s.instanceName(a.Namespace, a.Name)
}

func (s Settings) instanceName(namespace, name string) string {
	if namespace == "" || namespace == s.Namespace {
		return name
	}
	return strings.Join([]string{namespace, name}, "_")
}
