package apply

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// lookEvery is the pause between two looks at what is waited for.
const lookEvery = time.Second

// Rollout is one workload that is waited for.
type Rollout struct {
	Key     manifest.Key
	Version string
	// State is where it stands, in kstatus' words; Message says why.
	State, Message string
}

// Ready says that it runs as its manifest says.
func (r Rollout) Ready() bool { return r.State == status.CurrentStatus.String() }

// Rollouts are the workloads among changes that leave something running.
func Rollouts(changes []plan.Change) []Rollout {
	var out []Rollout
	for _, c := range changes {
		b := c.Body
		if isWorkload(b.Key()) && b.Operation != plan.Delete && b.Operation != plan.Hook {
			out = append(out, Rollout{Key: b.Key(), Version: b.Version})
		}
	}
	return out
}

// Wait looks at workloads until each runs, has failed, or the time is over, and
// returns how they stand. told hears of each step. The error is that of a context
// that ended, or that an object could not be read at all.
func (c *Client) Wait(ctx context.Context, kinds *dryrun.Kinds, rollouts []Rollout, timeout time.Duration, told func(Rollout)) ([]Rollout, error) {
	err := wait.PollUntilContextTimeout(ctx, lookEvery, timeout, true, func(ctx context.Context) (bool, error) {
		settled := true
		for i := range rollouts {
			r := &rollouts[i]
			if r.Ready() || r.State == status.FailedStatus.String() {
				continue
			}
			now, err := c.look(ctx, kinds, *r)
			if err != nil {
				return false, fmt.Errorf("%s: %w", r.Key, err)
			}
			if now != *r {
				told(now)
			}
			*r = now
			settled = settled && (r.Ready() || r.State == status.FailedStatus.String())
		}
		return settled, nil
	})
	if wait.Interrupted(err) {
		err = ctx.Err() // nil where only the time is over
	}
	return rollouts, err
}

func (c *Client) look(ctx context.Context, kinds *dryrun.Kinds, r Rollout) (Rollout, error) {
	live, err := c.get(ctx, kinds.Path(r.Version, r.Key))
	switch {
	case apierrors.IsNotFound(err):
		r.State, r.Message = status.FailedStatus.String(), "it is not there any more"
		return r, nil
	case err != nil:
		return r, err
	}
	found, err := status.Compute(live)
	if err != nil {
		return r, err
	}
	r.State, r.Message = found.Status.String(), found.Message
	return r, nil
}

// established waits until the server serves the kind that a definition defines.
func (c *Client) established(ctx context.Context, path string, timeout time.Duration) *plan.Failure {
	last := ""
	err := wait.PollUntilContextTimeout(ctx, lookEvery/5, timeout, true, func(ctx context.Context) (bool, error) {
		live, err := c.get(ctx, path)
		if err != nil {
			return false, err
		}
		found, err := status.Compute(live)
		if err == nil {
			last = found.Message
		}
		return err == nil && found.Status == status.CurrentStatus && hasCondition(live, "Established"), nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &plan.Failure{Reason: ReasonInterrupted, Message: "interrupted"}
	}
	return &plan.Failure{Reason: ReasonNotEstablished, Message: fmt.Sprintf("the server does not serve the new kind: %s", last)}
}

// hasCondition says that a condition of an object is true.
func hasCondition(object *unstructured.Unstructured, name string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if members, _ := c.(map[string]any); members["type"] == name {
			return members["status"] == "True"
		}
	}
	return false
}
