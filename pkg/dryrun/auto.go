package dryrun

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/manifest"
)

// Auto guesses for each object who applies it, by the managed fields of LIVE:
// who applied it last, kubectl in either way, or changeward. What a GitOps
// controller or anybody else applied, and what does not exist, is planned as
// changeward. A guess is noted. Force takes fields over from other managers
// where the guess is a server-side apply.
func Auto(force bool) Applier { return auto{force} }

type auto struct{ force bool }

// Hooks are known to some appliers, and a guess must hide none.
func (auto) Hooks() bool { return true }

func (auto) Desired(object manifest.Object) (manifest.Object, error) { return object, nil }

func (a auto) Treat(desired manifest.Object, live *unstructured.Unstructured) (Treatment, error) {
	applier, note := Changeward(a.force), ""
	if live != nil {
		applier, note = a.guess(live.GetManagedFields())
	}
	treatment, err := applier.Treat(desired, live)
	if note != "" {
		treatment.Notes = append(treatment.Notes, note)
	}
	return treatment, err
}

// guess is who applied last.
func (a auto) guess(entries []metav1.ManagedFieldsEntry) (applier Applier, note string) {
	applier = Changeward(a.force)
	var latest time.Time
	for _, entry := range entries {
		guessed, reason := a.appliedBy(entry)
		if guessed == nil {
			continue
		}
		var at time.Time
		if entry.Time != nil {
			at = entry.Time.Time
		}
		if note == "" || at.After(latest) {
			applier, note, latest = guessed, reason, at
		}
	}
	return applier, strings.TrimSpace(note)
}

// appliedBy is the applier that an entry of managed fields is the trace of,
// nil where it is no trace of an apply. The note about changeward itself is
// blank.
func (a auto) appliedBy(entry metav1.ManagedFieldsEntry) (applier Applier, note string) {
	if entry.Subresource != "" {
		return nil, ""
	}
	if entry.Operation == metav1.ManagedFieldsOperationApply {
		switch entry.Manager {
		case Manager:
			return Changeward(a.force), " "
		case kubectlServerManager:
			return KubectlServer("", a.force), guessed("kubectl apply --server-side")
		case lastAppliedManager:
			return nil, ""
		}
		return Changeward(a.force), stranger(entry.Manager)
	}
	set, err := setOf(entry)
	if err != nil || !lastAppliedField().Difference(set).Empty() {
		return nil, ""
	}
	if !strings.HasPrefix(entry.Manager, "kubectl") {
		return Changeward(a.force), stranger(entry.Manager)
	}
	return KubectlClient(entry.Manager, false), guessed("kubectl apply")
}

func guessed(applier string) string {
	return "planned as `" + applier + "`, which was the last to apply it: a guess, to be settled with --applier"
}

func stranger(manager string) string {
	return manager + " was the last to apply it, and it is planned as changeward: name who applies it with --owner or --applier"
}
