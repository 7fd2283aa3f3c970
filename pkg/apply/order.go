package apply

import (
	"cmp"
	"slices"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Stages of an apply. What others need comes first; what could stop others from
// being written comes last.
const (
	stageNamespaces = iota
	stageDefinitions
	stageRights
	stageConfiguration
	stageWorkloads
	stageHooks // webhooks, admission policies, aggregated APIs
	stages
)

// Sort puts tasks into the order in which they are carried out: namespaces,
// definitions of kinds, rights, configuration, workloads, webhooks; then the
// deletes, in reverse.
func Sort(tasks []Task) {
	slices.SortStableFunc(tasks, func(a, b Task) int { return cmp.Compare(a.stage(), b.stage()) })
}

// stage of a task; deletes come behind all others.
func (t Task) stage() int {
	at := stageOf(t.Change.Body.Key())
	if t.Change.Body.Operation == plan.Delete {
		return 2*stages - at
	}
	return at
}

func stageOf(key manifest.Key) int {
	switch key.Group {
	case "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io":
		return stageRights
	case "apiextensions.k8s.io":
		return stageDefinitions
	case "admissionregistration.k8s.io", "apiregistration.k8s.io":
		return stageHooks
	}
	switch {
	case isWorkload(key):
		return stageWorkloads
	case key.Group != "":
		return stageConfiguration
	case key.Kind == "Namespace":
		return stageNamespaces
	case key.Kind == "ServiceAccount":
		return stageRights
	}
	return stageConfiguration
}

// isWorkload says that objects of this kind run Pods, or are one.
func isWorkload(key manifest.Key) bool {
	switch key.Group {
	case "apps":
		return key.Kind != "ControllerRevision"
	case "batch":
		return true
	}
	return key.Group == "" && (key.Kind == "Pod" || key.Kind == "ReplicationController")
}
