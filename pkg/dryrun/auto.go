package dryrun

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/manifest"
)

// Controllers finds the applier of a GitOps controller by the field manager of
// its applies, and whether those are server-side. nil is none that it knows.
type Controllers func(manager string, serverSide bool) Applier

// Auto guesses for each object who applies it, by the managed fields of LIVE:
// who applied it last, kubectl in either way, a GitOps controller or changeward.
// Others, who may well apply a field of their own again and again, count only
// where none of these ever did. What they or Helm applied, and what does not
// exist, is planned as changeward.
// A guess is noted. Force takes fields over from other managers where the guess
// is a server-side apply by kubectl or changeward.
func Auto(force bool, controllers Controllers) Applier { return auto{force, controllers} }

type auto struct {
	force       bool
	controllers Controllers
}

// Hooks are known to some appliers, and a guess must hide none.
func (auto) Hooks() bool { return true }

func (auto) Desired(object manifest.Object) (manifest.Object, error) { return object, nil }

// Treat asks the applier that is guessed. Where that is a controller, the
// object is not what was planned to be sent so far.
func (a auto) Treat(desired manifest.Object, live *unstructured.Unstructured) (Treatment, error) {
	g := guess{applier: Changeward(a.force)}
	if live != nil {
		g = a.guess(live.GetManagedFields())
	}
	sent, err := g.applier.Desired(desired)
	if err != nil {
		return Treatment{}, err
	}
	treatment, err := g.applier.Treat(sent, live)
	if g.controller && treatment.Content == nil {
		treatment.Content = sent.Content
	}
	if g.note != "" {
		treatment.Notes = append(append([]string{g.note}, sent.Notes[len(desired.Notes):]...), treatment.Notes...)
	}
	return treatment, err
}

// guess is who applied an object, and what to say of it.
type guess struct {
	applier    Applier
	note       string
	controller bool
	stranger   bool // who may have applied all of the object, or a field of it
}

// guess is who applied last.
func (a auto) guess(entries []metav1.ManagedFieldsEntry) guess {
	found := guess{applier: Changeward(a.force)}
	var latest time.Time
	known := false
	for _, entry := range entries {
		guessed := a.appliedBy(entry)
		if guessed.applier == nil {
			continue
		}
		var at time.Time
		if entry.Time != nil {
			at = entry.Time.Time
		}
		if !known || found.stranger && !guessed.stranger || found.stranger == guessed.stranger && at.After(latest) {
			found, latest, known = guessed, at, true
		}
	}
	return found
}

// appliedBy is the applier that an entry of managed fields is the trace of,
// none where it is no trace of an apply.
func (a auto) appliedBy(entry metav1.ManagedFieldsEntry) guess {
	serverSide := entry.Operation == metav1.ManagedFieldsOperationApply
	if entry.Subresource != "" || !serverSide && !holdsLastApplied(entry) {
		return guess{}
	}
	if controller := a.controllers(entry.Manager, serverSide); controller != nil {
		return guess{applier: controller, controller: true, note: "planned as by " + entry.Manager +
			", which was the last to apply it: a guess, to be settled with --owner"}
	}
	switch {
	case serverSide && entry.Manager == lastAppliedManager:
		return guess{}
	case serverSide && entry.Manager == Manager:
		return guess{applier: Changeward(a.force)}
	case serverSide && entry.Manager == kubectlServerManager:
		return guess{applier: KubectlServer("", a.force), note: guessed("kubectl apply --server-side")}
	case !serverSide && strings.HasPrefix(entry.Manager, "kubectl"):
		return guess{applier: KubectlClient(entry.Manager, false), note: guessed("kubectl apply")}
	}
	return guess{applier: Changeward(a.force), stranger: !strings.HasPrefix(entry.Manager, "helm"), note: entry.Manager + " was the last to apply it, and it is planned as changeward: " +
		"name who applies it with --owner or --applier"}
}

// holdsLastApplied says whether an entry is the trace of a client-side apply.
func holdsLastApplied(entry metav1.ManagedFieldsEntry) bool {
	set, err := FieldsOf(entry)
	return err == nil && lastAppliedField().Difference(set).Empty()
}

func guessed(applier string) string {
	return "planned as `" + applier + "`, which was the last to apply it: a guess, to be settled with --applier"
}
