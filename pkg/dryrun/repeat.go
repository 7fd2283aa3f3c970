package dryrun

import (
	"context"
	"time"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Repeated is how many objects of a plan are looked at twice.
const Repeated = 50

// repeatAfter is the pause between two looks: more than a second, so that a
// time stamp in whole seconds shows.
const repeatAfter = 1100 * time.Millisecond

// repeatTries is how often an object is looked at anew when someone wrote, in
// between, what the plan touches.
const repeatTries = 4

// Repeat looks a second time at the first objects that a plan made of these
// observations would change, so that values which are another each time show:
// plan.Build then marks them. It answers all observations, those in which
// nothing was to repeat as they were. set and options are those of Observe.
func (c *Client) Repeat(ctx context.Context, set manifest.Set, first []plan.Observation, p *plan.Plan, options ObserveOptions) ([]plan.Observation, error) {
	options.Progress = nil
	out := append([]plan.Observation{}, first...)
	pending := pick(set, p, out)
	for range repeatTries {
		if len(pending) == 0 {
			return out, nil
		}
		select {
		case <-ctx.Done():
			return nil, wrap("repeat the dry run", ctx.Err())
		case <-time.After(repeatAfter):
		}
		again := manifest.Set{}
		for _, i := range pending {
			again.Objects = append(again.Objects, set.Objects[i])
		}
		seen, err := c.Observe(ctx, again, options)
		if err != nil {
			return nil, err
		}
		var moving []int
		for n, i := range pending {
			var moved bool
			if out[i], moved = plan.Twice(out[i], seen[n]); moved {
				moving = append(moving, i)
			}
		}
		pending = moving
	}
	for _, i := range pending {
		out[i].Failure = &plan.Failure{Reason: plan.ReasonMoving, Message: "others write all the time what this plan would change"}
	}
	return out, nil
}

// pick says which objects to repeat, in the order of the plan, so that it does
// not depend on files; the others get a note. What was not dry-run cannot be
// repeated.
//
// With more changes than Repeated, who is among the first depends on the others:
// one that is in error or was applied since makes room for the next. No choice is
// both bounded and independent of that, unless it also leaves out changes of
// small plans: a choice among all objects of a set would look at 1 in 20 changes
// of 1,000 objects. It costs no approval: a second look alters a digest only
// where values differ each time, and those alter it without one, too.
func pick(set manifest.Set, p *plan.Plan, observations []plan.Observation) []int {
	at := map[manifest.Key]int{}
	for i, o := range set.Objects {
		at[o.Key()] = i
	}
	var picked []int
	for _, c := range p.Changes {
		i, known := at[c.Body.Key()]
		switch {
		case !known || c.Body.Operation == plan.Hook || c.Unverified != "":
		case len(picked) < Repeated:
			picked = append(picked, i)
		default:
			o := &observations[i]
			o.Notes = append(o.Notes[:len(o.Notes):len(o.Notes)], "not repeated: values that differ from one dry run to the next would not show")
		}
	}
	return picked
}
