package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install/admission"
	"github.com/changeward/changeward/pkg/trust"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/cluster"
)

// Standing is what one run found out about the fence. Void is the reason
// constant why nothing can be taken as attested now; "" means that the fence
// stands. Its text has been that of the epochs since Epoch, that is since From.
type Standing struct {
	Void, Detail string
	Epoch        int
	From         time.Time
}

func void(reason, format string, args ...any) Standing {
	return Standing{Void: reason, Detail: fmt.Sprintf(format, args...)}
}

// Attest compares the live fence with the epochs (oldest first, verified by
// the caller) and sends the canary. The fence stands if its live text is a
// known one, with uid and generation as the newest epoch names them, and the
// canary is refused by it in this run. What a caller may not see is void.
func Attest(ctx context.Context, where Cluster, epochs []state.Epoch) Standing {
	if len(epochs) == 0 {
		return void(ReasonEpochMissing, "no epoch record says which admission policies are changeward's")
	}
	c, err := newClient(where)
	if err != nil {
		return void(ReasonAdmissionUnreadable, "%v", err)
	}
	last := epochs[len(epochs)-1]
	probed := make(chan error, 1)
	go func() { probed <- where.Store.Canary(ctx, falseActor) }()
	compared := c.compare(ctx, last)
	canary := <-probed
	if compared.Void != "" {
		return compared
	}
	first := epochs[trust.Unbroken(epochs)]
	from, err := time.Parse(time.RFC3339, first.Time)
	if err != nil {
		return void(ReasonEpochMissing, "epoch %d: %v", first.Version, err)
	}
	standing := Standing{Epoch: first.Version, From: from}
	if canary != nil {
		failed := c.canaryVoid(ctx, canary)
		standing.Void, standing.Detail = failed.Void, failed.Detail
	}
	return standing
}

// compare the live fence with an epoch.
func (c client) compare(ctx context.Context, epoch state.Epoch) Standing {
	rendered, err := admission.Render(epoch.GateUsers, epoch.GateGroups)
	if err != nil {
		return void(ReasonAdmissionUnknown, "epoch %d: %v", epoch.Version, err)
	}
	fence := make([]item, len(rendered))
	group, ctx := errgroup.WithContext(ctx)
	for n, object := range rendered {
		fence[n].want = object
		group.Go(func() (err error) {
			fence[n].live, err = c.at(object).Get(ctx, object.GetName(), metav1.GetOptions{})
			return err
		})
	}
	switch err := group.Wait(); {
	case apierrors.IsNotFound(err):
		return void(ReasonAdmissionMissing, "%v", err)
	case err != nil:
		return void(ReasonAdmissionUnreadable, "%v", err)
	}
	version, known := admission.Matches(liveOf(fence), epoch.GateUsers, epoch.GateGroups)
	switch {
	case !known:
		return void(ReasonAdmissionUnknown, "the live admission policies are not those of changeward: %s", changed(fence))
	case version != epoch.Admission:
		return void(ReasonAdmissionChanged, "the live admission text is version %d, epoch %d names version %d", version, epoch.Version, epoch.Admission)
	case !slices.Equal(admissionObjects(fence), epoch.Objects):
		return void(ReasonAdmissionChanged, "the admission policies were changed, or made anew, since epoch %d", epoch.Version)
	}
	return Standing{Epoch: epoch.Version}
}

func changed(fence []item) string {
	var names []string
	for _, i := range fence {
		if len(i.differences()) > 0 {
			names = append(names, i.String())
		}
	}
	return strings.Join(names, ", ")
}

// canaryVoid tells a caller who may not write plans from a fence that fell.
func (c client) canaryVoid(ctx context.Context, err error) Standing {
	allowed, asked := c.may(ctx, authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: "create", Resource: "secrets"})
	if asked == nil && !allowed {
		return void(ReasonCanaryForbidden, "who may not write plans cannot probe the admission policy")
	}
	var failed *cluster.CanaryError
	if errors.As(err, &failed) {
		return void(failed.Reason, "%v", failed.Err)
	}
	return void(cluster.CanaryUnanswered, "%v", err)
}
