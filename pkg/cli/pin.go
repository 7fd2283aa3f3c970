package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/render"
)

// PinTarget completes a target from the kubeconfig flags, so that it leads to
// the same place whatever the current context will be.
func (f *ClusterFlags) PinTarget(t render.Target) (render.Target, error) {
	t.Context, t.Namespace = *f.Kube.Context, *f.Kube.Namespace
	contexts, current, err := f.contexts()
	if err != nil {
		return t, Fail(ReasonNoKubeconfig, err)
	}
	if t.Context == "" {
		t.Context = current
	}
	if t.Context == "" {
		return t, Fail(ReasonNoKubeconfig, errors.New("which context? the kubeconfig has no current one"), "name one with --context")
	}
	if !slices.Contains(contexts, t.Context) {
		return t, Fail(ReasonNoKubeconfig, fmt.Errorf("the kubeconfig has no context %q", t.Context),
			"the kubeconfig has these contexts: "+strings.Join(contexts, ", "))
	}
	if file := explicitKubeconfig(*f.Kube.KubeConfig); file != "" {
		if t.Kubeconfig, err = filepath.Abs(file); err != nil {
			return t, fmt.Errorf("path of the kubeconfig: %w", err)
		}
	}
	return t, nil
}
