package dryrun

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/plan"
)

// Gone says whether the object that a change is about, by its UID, is no longer
// there. One that is being deleted still is; one of a kind that the server does
// not serve cannot be looked for, and is not gone. The error is an *Error with
// its reason.
func (c *Client) Gone(ctx context.Context, kinds *Kinds, b plan.Body) (bool, error) {
	kind, known := kinds.served[schema.GroupVersionKind{Group: b.Group, Version: b.Version, Kind: b.Kind}]
	if !known || b.LiveUID == "" {
		return false, nil
	}
	o := observer{client: c}
	live, err := o.resource(kind, b.Namespace).Get(ctx, b.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, wrap(fmt.Sprintf("read %s", b.Key()), err)
	}
	return string(live.GetUID()) != b.LiveUID, nil
}
