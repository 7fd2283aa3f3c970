package dryrun

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Names of kubectl's appliers, and its field managers.
const (
	NameKubectlServer = "kubectl-server"
	NameKubectlClient = "kubectl-client"

	kubectlServerManager = "kubectl"
	kubectlClientManager = "kubectl-client-side-apply"
	// lastAppliedManager holds last-applied in kubectl's name, so that an
	// apply as kubectl does not drop it.
	lastAppliedManager = "kubectl-last-applied"
)

// KubectlServer is `kubectl apply --server-side`. The field manager is
// kubectl where it is "" here; force is --force-conflicts.
func KubectlServer(manager string, force bool) Applier {
	if manager == "" {
		manager = kubectlServerManager
	}
	return kubectlServer{plan.Applier{Name: NameKubectlServer, Mode: plan.ModeServerSide, Manager: manager, Force: force}}
}

type kubectlServer struct{ applier plan.Applier }

func (kubectlServer) Hooks() bool { return false }

func (kubectlServer) Desired(object manifest.Object) (manifest.Object, error) { return object, nil }

func (k kubectlServer) Treat(manifest.Object, *unstructured.Unstructured) (Treatment, error) {
	return Treatment{Applier: k.applier, After: k.migrate}, nil
}

// migrate moves to the applier what managers of client-side apply hold.
func (k kubectlServer) migrate(object *unstructured.Unstructured) error {
	if k.applier.Manager == kubectlServerManager {
		keepLastApplied(object)
	}
	return MigrateClientSide(object, k.applier.Manager)
}

// MigrateClientSide moves to a manager's apply entry, in place, what managers
// of client-side apply hold: those that own the last-applied annotation by
// updates. It is what kubectl's server-side apply does after its patch,
// whoever calls it.
func MigrateClientSide(object *unstructured.Unstructured, manager string) error {
	owners := csaupgrade.FindFieldsOwners(object.GetManagedFields(), metav1.ManagedFieldsOperationUpdate, lastAppliedField())
	names := sets.New[string]()
	for _, owner := range owners {
		names.Insert(owner.Manager)
	}
	return csaupgrade.UpgradeManagedFields(object, names, manager)
}

// keepLastApplied gives last-applied, where it is there, to a manager of its
// own.
func keepLastApplied(object *unstructured.Unstructured) {
	if _, there := object.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; !there {
		return
	}
	entries := object.GetManagedFields()
	if len(csaupgrade.FindFieldsOwners(entries, metav1.ManagedFieldsOperationApply, lastAppliedField())) > 0 {
		return
	}
	fields := &metav1.FieldsV1{}
	if raw, err := lastAppliedField().ToJSON(); err == nil { // one constant path always has a form
		fields.SetRawBytes(raw)
	}
	object.SetManagedFields(append(slices.Clone(entries), metav1.ManagedFieldsEntry{
		Manager: lastAppliedManager, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: object.GetAPIVersion(), FieldsType: "FieldsV1", FieldsV1: fields,
	}))
}

func lastAppliedField() *fieldpath.Set {
	return fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", corev1.LastAppliedConfigAnnotation))
}
