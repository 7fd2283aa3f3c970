package fidelity_test

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// inMemory is a reader of one Application, in an install with defaults.
type inMemory map[string]any

func (inMemory) Serves(string, string) bool { return true }

func (m inMemory) Read(_ context.Context, key manifest.Key) (map[string]any, *plan.Failure) {
	if key.Kind == "Application" {
		return m, nil
	}
	return nil, &plan.Failure{Reason: plan.ReasonNotFound}
}

func (inMemory) Named(context.Context, manifest.Key) ([]map[string]any, *plan.Failure) {
	return nil, nil
}

// removals plans what the Application deletes of what it lists.
func (s shop) removals(t *testing.T, text string, listed ...string) []plan.Removal {
	t.Helper()
	app := s.object(t)
	var resources []any
	for _, name := range listed {
		resources = append(resources, map[string]any{"version": "v1", "kind": "ConfigMap", "namespace": s.namespace, "name": name})
	}
	app["status"] = map[string]any{"resources": resources}
	owner, err := gitops.Find(t.Context(), inMemory(app), gitops.Ref{Kind: gitops.Application, Namespace: "argocd", Name: nameOf(t)})
	assert.NilError(t, err)
	client, err := dryrun.New(kubetest.Shared(t).Config(kubetest.Admin))
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	objects, _ := manifest.Parse("test.yaml", []byte(text))
	departed, err := owner.Departed(manifest.Set{Objects: objects}, kinds, nil, false)
	assert.NilError(t, err)
	out, err := client.ObserveDeletes(t.Context(), departed, dryrun.DeleteOptions{Kinds: kinds, Masker: masker(),
		Applier: owner.Applier, Propagation: owner.Propagation, Judge: owner.Judge(nil)})
	assert.NilError(t, err)
	return out
}

// optioned are ConfigMaps, some of them with a sync option about pruning.
func optioned(namespace string, names ...string) (out string) {
	for _, name := range names {
		options := map[string]string{"never": "Prune=false", "unconfirmed": "Prune=confirm", "own-word": "Prune=true"}[name]
		out += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + namespace +
			", annotations: {argocd.argoproj.io/sync-options: \"" + options + "\"}}\n"
	}
	return out
}

func TestArgoCDDeletesWhatThePlanSaysAsThePlanSays(t *testing.T) {
	settle(t)
	names := []string{"stays", "plain", "never", "own-word"}
	for name, c := range map[string]struct{ sync, deleted, finalizer string }{
		"in the foreground":         {"{prune: true}", "own-word plain", "foregroundDeletion"},
		"in the background":         {"{prune: true, syncOptions: [PrunePropagationPolicy=background]}", "own-word plain", ""},
		"orphaning":                 {"{prune: true, syncOptions: [PrunePropagationPolicy=orphan]}", "own-word plain", "orphan"},
		"never, but for one":        {"{prune: true, syncOptions: [Prune=false, PrunePropagationPolicy=background]}", "own-word", ""},
		"of a selection":            {"{prune: true, syncOptions: [PrunePropagationPolicy=background], resources: [{kind: ConfigMap, name: plain}, {kind: ConfigMap, name: never}]}", "plain", ""},
		"not at all, as not wanted": {"{}", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			app := shop{namespace: kubetest.Shared(t).Namespace(t)}
			app.syncs(t, optioned(app.namespace, names...))()
			app.operation = "{sync: " + c.sync + "}"
			seen := app.removals(t, optioned(app.namespace, "stays"), names...)
			objects, _ := manifest.Parse("test.yaml", []byte(optioned(app.namespace, "stays")))
			synced := app.sync(t, objects, false)[0]
			assert.Equal(t, synced.Phase, "Succeeded", synced.Message)
			var deleted []string
			for _, r := range seen {
				if isDeleted(t, r, c.finalizer) {
					deleted = append(deleted, r.Key.Name)
				}
			}
			assert.Equal(t, strings.Join(deleted, " "), c.deleted)
		})
	}
}

// isDeleted says whether an object is, and holds that against its plan. By the
// finalizer a delete waits for garbage collection.
func isDeleted(t *testing.T, r plan.Removal, finalizer string) bool {
	t.Helper()
	assert.Assert(t, r.Failure == nil, "%+v", r.Failure)
	after := newReader(t).live(t, plan.Observation{Object: manifest.Object{Content: r.Live}})
	metadata, _ := after["metadata"].(map[string]any)
	_, dying := metadata["deletionTimestamp"]
	assert.Equal(t, after == nil || dying, r.Kept == "", "%s: %s", r.Key, r.Kept)
	if r.Kept != "" {
		return false
	}
	finalizers, _ := metadata["finalizers"].([]any)
	assert.Equal(t, len(finalizers) > 0, finalizer != "", "%v", finalizers)
	assert.Assert(t, len(finalizers) == 0 || finalizers[0] == finalizer, "%v", finalizers)
	assert.Equal(t, propagations()[r.Deletion.Propagation], finalizer)
	return true
}

func TestADeleteThatNobodyHasConfirmedHoldsUpTheSyncAsThePlanSays(t *testing.T) {
	settle(t)
	app := shop{namespace: kubetest.Shared(t).Namespace(t)}
	app.syncs(t, optioned(app.namespace, "stays", "unconfirmed"))()
	app.operation = "{sync: {prune: true}}"
	kept := app.removals(t, optioned(app.namespace, "stays"), "stays", "unconfirmed")[0]
	assert.Assert(t, strings.Contains(kept.Kept, "neither deletes it nor goes on with the sync before someone confirms"), kept.Kept)
	objects, _ := manifest.Parse("test.yaml", []byte(optioned(app.namespace, "stays")))
	synced := app.sync(t, objects, false)[0]
	assert.Equal(t, synced.Phase, "Running")
	assert.Assert(t, strings.Contains(synced.Message, "waiting for pruning confirmation"), synced.Message)
	assert.Assert(t, newReader(t).live(t, plan.Observation{Object: manifest.Object{Content: kept.Live}}) != nil)
}

// propagations are the finalizers by which a delete of each kind waits for
// garbage collection.
func propagations() map[string]string {
	return map[string]string{"foreground": "foregroundDeletion", "orphan": "orphan", "background": ""}
}

func TestASelectiveSyncAppliesWhatThePlanSays(t *testing.T) {
	settle(t)
	app := shop{namespace: kubetest.Shared(t).Namespace(t), operation: "{sync: {resources: [{kind: ConfigMap, name: one}, {group: apps, kind: Deployment, name: two}]}}"}
	text := ""
	for _, name := range []string{"one", "two"} {
		text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + app.namespace + "}\n"
	}
	seen := prove(t, app.applier(t), text, func() string {
		objects, _ := manifest.Parse("test.yaml", []byte(text))
		said := ""
		for _, o := range objects {
			told, _ := app.sync(t, objects, false)[0].story(o)
			said += told
		}
		return said
	})
	assert.Equal(t, seen[0].Skip, "")
	assert.Assert(t, strings.Contains(seen[1].Skip, "about other objects"))
}

func TestAKindThatNobodyDefinesFailsWithArgoCDAsThePlanSaysWhateverSkipsTheDryRun(t *testing.T) {
	settle(t)
	app := withOptions("SkipDryRunOnMissingResource=true")
	const text = "{apiVersion: nobody.example.com/v1, kind: Ghost, metadata: {name: g, namespace: team-a, annotations: {argocd.argoproj.io/sync-options: SkipDryRunOnMissingResource=true}}}"
	objects, _ := manifest.Parse("test.yaml", []byte(text))
	client, err := dryrun.New(kubetest.Shared(t).Config(kubetest.Admin))
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	seen, err := client.Observe(t.Context(), manifest.Set{Objects: objects}, dryrun.ObserveOptions{Kinds: kinds, Applier: app.applier(t), Masker: masker()})
	assert.NilError(t, err)
	assert.Equal(t, seen[0].Failure.Reason, plan.ReasonUnknownKind)
	told, _ := app.sync(t, objects, false)[0].story(objects[0])
	assert.Assert(t, strings.HasPrefix(told, "failed: "), told)
}
