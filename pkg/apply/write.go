package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// attempts is how often an object that keeps moving is planned again.
const attempts = 10

// write carries out one task. A request that was begun is waited for, so that
// an interrupt leaves no doubt about it.
func (r *Run) write(ctx context.Context, t Task) (state.ObjectResult, *plan.Failure) {
	sending := context.WithoutCancel(ctx)
	for range attempts {
		uid, err := r.send(sending, t)
		switch {
		case err == nil:
			result := t.result(state.ObjectWritten)
			result.UID = uid
			return result, nil
		case !moved(err):
			return t.failed(err)
		}
		again, err := r.Again(ctx, t)
		switch {
		case err != nil:
			return t.failed(err)
		case again.Change.Body.Operation == plan.None:
			result := t.result(state.ObjectUnchanged)
			result.UID = again.UID
			return result, nil
		case again.Change.Digest != t.Change.Digest:
			return t.failed(&Stopped{Failure: plan.Failure{Reason: ReasonMoved, Message: fmt.Sprintf(
				"it was changed since it was planned: its change would be another one now (%s)", again.Change.Body.Operation)}})
		}
		t = again
	}
	return t.failed(&Stopped{Failure: plan.Failure{Reason: plan.ReasonMoving, Message: "others write the object all the time"}})
}

// send sends the one request of a task, and returns the object's uid.
func (r *Run) send(ctx context.Context, t Task) (uid string, err error) {
	b := t.Change.Body
	path := r.Kinds.Path(b.Version, b.Key())
	at := version{t.UID, t.ResourceVersion}
	switch {
	case path == "":
		return "", &Stopped{Failure: plan.Failure{Reason: plan.ReasonUnknownKind, Message: "the server does not serve its kind"}}
	case b.Operation == plan.Delete:
		if err = r.Client.remove(ctx, path, at, b.Delete.Propagation); apierrors.IsNotFound(err) {
			err = nil // it is gone, as it should be
		}
		return t.UID, err
	case b.Applier.Manager != plan.DirectManager || b.Operation != plan.Create && b.Operation != plan.Update:
		return "", &Stopped{Failure: plan.Failure{Reason: plan.ReasonInvalid, Message: fmt.Sprintf("a direct apply does no %s as %s", b.Operation, b.Applier.Manager)}}
	case b.Applier.Mode == plan.ModePut:
		return r.putBack(ctx, t, path)
	case b.Operation == plan.Create:
		return r.create(ctx, t, path)
	}
	object, _, err := r.Client.apply(ctx, path, t.Object.Content, at, b.Applier.Force)
	if err != nil {
		return "", err
	}
	return string(object.GetUID()), nil
}

// create makes what is not there. Anything but 201 would mean that the server
// has changed something else.
func (r *Run) create(ctx context.Context, t Task, path string) (uid string, err error) {
	object, code, err := r.Client.apply(ctx, path, t.Object.Content, version{resourceVersion: absent}, false)
	switch {
	case err != nil:
		return "", err
	case !created(code):
		return "", &Stopped{Failure: plan.Failure{Reason: ReasonMoved, Message: fmt.Sprintf("it was to be created, and the server answered %d: it was there already", code)}}
	}
	return string(object.GetUID()), nil
}

// putBack writes the whole object as a rollback wants it: the live one, which
// must be the one that was planned on, with its fields put back.
func (r *Run) putBack(ctx context.Context, t Task, path string) (uid string, err error) {
	live, err := r.Client.get(ctx, path)
	if err != nil {
		return "", err
	}
	at := version{t.UID, t.ResourceVersion}
	if string(live.GetUID()) != at.uid || live.GetResourceVersion() != at.resourceVersion {
		return "", errMoved{}
	}
	object, _, err := r.Client.put(ctx, path, t.Content(live.Object), at)
	if err != nil {
		return "", err
	}
	return string(object.GetUID()), nil
}

// errMoved: the object is not the one that was planned on.
type errMoved struct{}

func (errMoved) Error() string { return "the object moved" }

// moved says that the server refused a write since the object is not as it was
// planned: it was written, deleted, or made anew.
func moved(err error) bool {
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &errMoved{}):
		return true
	case !errors.As(err, &status):
		return false
	}
	s := status.Status()
	switch s.Code {
	case http.StatusConflict:
		return !causedBy(s, metav1.CauseTypeFieldManagerConflict)
	case http.StatusNotFound:
		return s.Details != nil && s.Details.Name != ""
	case http.StatusUnprocessableEntity:
		return strings.Contains(s.Message, "metadata.uid") && strings.Contains(s.Message, "immutable")
	}
	return false
}

func causedBy(s metav1.Status, cause metav1.CauseType) bool {
	if s.Details == nil {
		return false
	}
	for _, c := range s.Details.Causes {
		if c.Type == cause {
			return true
		}
	}
	return false
}

// failed is the result of a task that was not carried out. Where the server gave
// no answer, nobody knows whether it was.
func (t Task) failed(err error) (state.ObjectResult, *plan.Failure) {
	var stopped *Stopped
	if errors.As(err, &stopped) {
		result := t.result(state.ObjectFailed)
		result.Reason = stopped.Reason
		return result, &stopped.Failure
	}
	object := t.Object
	if object.Content == nil {
		object = manifest.Object{Content: map[string]any{"kind": t.Change.Body.Kind}}
	}
	failure := dryrun.Refusal(err, object)
	result := t.result(state.ObjectFailed)
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		result.Result = state.ObjectUnknown
		failure.Message += "; whether it was written is not known"
	}
	result.Reason = failure.Reason
	return result, failure
}
