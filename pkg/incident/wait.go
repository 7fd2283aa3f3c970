package incident

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/manifest"
)

// look is how often an owner is looked at that is waited for.
const look = 500 * time.Millisecond

// Settle waits until Flux is no longer at work on a suspended owner, and sees to
// it that it still is suspended. still says that Flux was at work to the end. An
// *Error names what was resumed behind our back.
func (c *Client) Settle(ctx context.Context, key manifest.Key, patience time.Duration) (still bool, err error) {
	err = c.until(ctx, patience, func() (bool, error) {
		o, err := Observe(ctx, c.reader, key)
		switch {
		case err != nil:
			return false, err
		case !o.Suspended:
			return false, &Error{Key: key, Reason: ReasonUndone, Message: "it was resumed as soon as it was suspended" + lastWriter(o)}
		}
		return !o.Reconciling, nil
	})
	if errors.Is(err, errPatience) {
		return true, nil
	}
	return false, err
}

// lastWriter names who holds spec.suspend.
func lastWriter(o Owner) string {
	for _, entry := range o.Object.GetManagedFields() {
		if entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:suspend"`) {
			return fmt.Sprintf(": %s sets its spec.suspend", entry.Manager)
		}
	}
	return ""
}

// errPatience: it did not come about in time.
var errPatience = errors.New("not in time")

func (c *Client) until(ctx context.Context, patience time.Duration, done func() (bool, error)) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return errPatience
		case <-ticker.C:
		}
	}
}

// Ready waits until Flux says that it has applied an owner as it is now, after
// the request of Resume, and returns the revision. An *Error says what was seen
// instead.
func (c *Client) Ready(ctx context.Context, key manifest.Key, at time.Time, patience time.Duration) (revision string, err error) {
	seen := "nothing"
	err = c.until(ctx, patience, func() (bool, error) {
		o, err := Observe(ctx, c.reader, key)
		if err != nil {
			return false, err
		}
		var ready bool
		ready, seen = progress(o.Object, at)
		revision, _, _ = unstructured.NestedString(o.Object.Object, "status", "lastAppliedRevision")
		if o.Suspended {
			return false, &Error{Key: key, Reason: ReasonNotReady, Message: "it was suspended again"}
		}
		return ready, nil
	})
	if errors.Is(err, errPatience) {
		return "", &Error{Key: key, Reason: ReasonNotReady, Message: fmt.Sprintf("it is not ready after %s: %s", patience, seen)}
	}
	return revision, err
}

// progress says whether a request was handled and ended well, and what is known.
func progress(u *unstructured.Unstructured, at time.Time) (ready bool, seen string) {
	handled, _, _ := unstructured.NestedString(u.Object, "status", "lastHandledReconcileAt")
	if handled != at.Format(time.RFC3339Nano) {
		return false, "its controller has not answered the request; does it run?"
	}
	observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if observed != u.GetGeneration() {
		return false, fmt.Sprintf("its controller has seen generation %d of %d", observed, u.GetGeneration())
	}
	c := condition(u, "Ready")
	if c["status"] != "True" {
		return false, fmt.Sprintf("Ready is %v: %v", c["status"], c["message"])
	}
	return condition(u, "Reconciling")["status"] != "True", "it is reconciling"
}
