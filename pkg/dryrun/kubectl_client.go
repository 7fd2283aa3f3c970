package dryrun

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// KubectlClient is `kubectl apply`. The field manager is
// kubectl-client-side-apply where it is "" here; force is --force: what the
// server refuses is deleted and created anew.
func KubectlClient(manager string, force bool) Applier {
	if manager == "" {
		manager = kubectlClientManager
	}
	return kubectlClient{plan.Applier{Name: NameKubectlClient, Mode: plan.ModeClientSide, Manager: manager, Force: force}}
}

type kubectlClient struct{ applier plan.Applier }

func (kubectlClient) Hooks() bool { return false }

func (kubectlClient) Desired(object manifest.Object) (manifest.Object, error) { return object, nil }

func (k kubectlClient) Treat(manifest.Object, *unstructured.Unstructured) (Treatment, error) {
	treatment := Treatment{Applier: k.applier}
	if k.applier.Force {
		treatment.Replaces = ReplacesRefused
	}
	return treatment, nil
}

// ReplacesRefused is the rule of kubectl's --force: what the server calls a
// conflict or invalid is deleted and created anew.
func ReplacesRefused(refusal error) bool {
	return apierrors.IsConflict(refusal) || apierrors.IsInvalid(refusal)
}
