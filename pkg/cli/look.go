package cli

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// looksAtOnce is how many objects are read at the same time.
const looksAtOnce = 16

// looker reads live objects as plans have them.
type looker struct {
	client *dryrun.Client
	kinds  *dryrun.Kinds
	masker manifest.Masker
}

// look is one live object, or why it could not be read.
type look struct {
	plan.Sight
	failure *plan.Failure
}

// gone says that there is no such object, nor can be.
func (l look) gone() bool {
	return l.Object == nil && (l.failure == nil || l.failure.Reason == plan.ReasonUnknownKind)
}

func (s *Session) looker(ctx context.Context) (looker, error) {
	l := looker{client: s.Client}
	var err error
	if l.kinds, err = s.Client.Kinds(ctx); err != nil {
		return l, err
	}
	l.masker, err = s.Masker(ctx)
	return l, err
}

func (l looker) reader() dryrun.Reader { return dryrun.Reader{Client: l.client, Kinds: l.kinds} }

// at reads the objects of changes, in their order. The error is that of the
// context: without it each look has its own answer.
func (l looker) at(ctx context.Context, bodies []plan.Body) ([]look, error) {
	out := make([]look, len(bodies))
	var group errgroup.Group
	group.SetLimit(looksAtOnce)
	for i, b := range bodies {
		group.Go(func() error {
			out[i].Sight, out[i].failure = l.client.Look(ctx, l.kinds, l.masker, b.Version, b.Key())
			return ctx.Err()
		})
	}
	return out, group.Wait()
}

// unread is that an object could not be read.
func unread(key manifest.Key, failure *plan.Failure) error {
	return Fail(failure.Reason, fmt.Errorf("read %s: %s", key, failure.Message))
}
