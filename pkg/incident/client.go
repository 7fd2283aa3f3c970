package incident

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Manager is the field manager of what an incident writes. Flux takes over what
// managers named kubectl hold; this one it leaves alone.
const Manager = "flux-changeward"

// Kinds says where the server keeps objects.
type Kinds interface {
	Preferred(group, kind string) string
	Path(version string, key manifest.Key) string
}

// Client suspends and resumes owners, with the caller's own rights.
type Client struct {
	server rest.Interface
	kinds  Kinds
	reader Reader
}

// New makes a client from kubeconfig settings, and sends nothing.
func New(config *rest.Config, kinds Kinds, reader Reader) (*Client, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion = nil
	server, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client settings: %w", err)
	}
	return &Client{server: server, kinds: kinds, reader: reader}, nil
}

// attempts is how often a write is tried on an owner that others write, too.
const attempts = 10

// patch merges into exactly one version of an owner.
func (c *Client) patch(ctx context.Context, o Owner, annotations map[string]any, spec map[string]any) error {
	content := map[string]any{"metadata": map[string]any{"uid": o.UID, "resourceVersion": o.Object.GetResourceVersion(), "annotations": annotations}}
	if spec != nil {
		content["spec"] = spec
	}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	path := c.kinds.Path(c.kinds.Preferred(o.Key.Group, o.Key.Kind), o.Key)
	return c.server.Patch(types.MergePatchType).AbsPath(path).Body(body).Param("fieldManager", Manager).Do(context.WithoutCancel(ctx)).Error()
}

// write patches an owner as it is, as often as others write it in between. change
// is asked anew each time; nil annotations mean that there is nothing to write.
func (c *Client) write(ctx context.Context, key manifest.Key, uid string, change func(Owner) (annotations, spec map[string]any, err error)) error {
	for range attempts {
		o, err := Observe(ctx, c.reader, key)
		if err != nil {
			return err
		}
		if uid != "" && o.UID != uid {
			return &Error{Key: key, Reason: plan.ReasonNotFound, Message: "it was deleted and made anew since the incident began"}
		}
		annotations, spec, err := change(o)
		if err != nil || annotations == nil {
			return err
		}
		err = c.patch(ctx, o, annotations, spec)
		switch {
		case err == nil:
			return nil
		case apierrors.IsForbidden(err):
			return &Error{Key: key, Reason: plan.ReasonForbidden, Message: "you may not patch it: " + err.Error()}
		case !apierrors.IsConflict(err):
			return fmt.Errorf("patch %s: %w", name(key), err)
		}
	}
	return &Error{Key: key, Reason: plan.ReasonMoving, Message: "others write it all the time"}
}

// Suspend suspends an owner in a person's name for an incident; id is "" where
// none is recorded. One that somebody else keeps suspended is an *Error.
func (c *Client) Suspend(ctx context.Context, key manifest.Key, uid, person, id string) error {
	return c.write(ctx, key, uid, func(o Owner) (map[string]any, map[string]any, error) {
		if err := o.Free(person, id); err != nil {
			return nil, nil, err
		}
		if o.Suspended && o.Mark == id && o.By == person {
			return nil, nil, nil
		}
		annotations := map[string]any{SuspendedBy: person}
		if id != "" {
			annotations[Mark] = id
		}
		return annotations, map[string]any{"suspend": true}, nil
	})
}

// Free says, as an *Error, that somebody else keeps an owner suspended.
func (o Owner) Free(person, id string) error {
	switch {
	case !o.Suspended || id != "" && o.Mark == id:
	case o.Mark != "" && o.Mark != id && id != "":
		return &Error{Key: o.Key, Reason: ReasonIncidentOpen, Message: "it is suspended already, by incident " + o.Mark}
	case o.By != "" && o.By != person:
		return &Error{Key: o.Key, Reason: ReasonSuspendedByOther, Message: fmt.Sprintf("it is suspended already, by %s (annotation %s)", o.By, SuspendedBy)}
	}
	return nil
}

// Resume lets Flux work on an owner again, at once, if the incident is what keeps
// it suspended, and says whether it did. at tells this request from others. One
// that runs already is asked to reconcile.
func (c *Client) Resume(ctx context.Context, key manifest.Key, uid, id string, at time.Time) (resumed bool, err error) {
	err = c.write(ctx, key, uid, func(o Owner) (map[string]any, map[string]any, error) {
		annotations := map[string]any{RequestedAt: at.Format(time.RFC3339Nano)}
		if o.Suspended && o.Mark != id {
			return nil, nil, nil // that is another's
		}
		resumed = true
		if !o.Suspended && o.Mark == "" {
			return annotations, nil, nil
		}
		annotations[SuspendedBy], annotations[Mark] = nil, nil
		return annotations, map[string]any{"suspend": nil}, nil
	})
	return resumed, err
}
