package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// Task is one change of a plan that was allowed.
type Task struct {
	Change plan.Change
	// Object is what is sent, with its real values; of a delete it may be zero.
	Object manifest.Object
	// UID and ResourceVersion of the live object that was planned on; of a
	// create they are "".
	UID, ResourceVersion string
	// Content is what an update of the whole object (mode put) makes of the live
	// one, which it must not change; nil in other modes.
	Content func(live map[string]any) map[string]any
}

// Run carries out plans. Client, Kinds, Again and Record are required.
type Run struct {
	Client *Client
	Kinds  *dryrun.Kinds
	// Again plans the object of a task once more. A task whose object is by now
	// as it should be has operation none.
	Again func(ctx context.Context, task Task) (Task, error)
	// Record writes an outcome of the plan's request.
	Record func(ctx context.Context, outcome state.Outcome) error
	// Told is told of each result; may be nil.
	Told func(result state.ObjectResult, failure *plan.Failure)
}

// Stopped is why an apply ended before all was written.
type Stopped struct {
	Key manifest.Key // zero: it was interrupted
	plan.Failure
}

// Error names the object and the cause.
func (s *Stopped) Error() string {
	if s.Key == (manifest.Key{}) {
		return s.Message
	}
	return s.Key.String() + ": " + s.Message
}

// Reasons of an apply that stopped, beside those of package plan. They are API.
const (
	// ReasonMoved: the object is not as it was planned, nor would its change be
	// the same.
	ReasonMoved = "Moved"
	// ReasonInterrupted: the caller ended it.
	ReasonInterrupted = "Interrupted"
	// ReasonNotEstablished: the server does not serve a new kind in time.
	ReasonNotEstablished = "NotEstablished"
)

// Do writes tasks in their order up to the first that the server could not check
// yet, and returns the rest: what is written may let it check them, so they are
// to be planned again. With all it writes those, too. plan is the hash of what is
// carried out, where that is the rest of the request's plan. Without an error and
// a rest, all is written, and recorded as applied. An error is a *Stopped, or
// that nothing could be recorded.
func (r *Run) Do(ctx context.Context, tasks []Task, planHash string, all bool) (results []state.ObjectResult, rest []Task, err error) {
	Sort(tasks)
	if n := slices.IndexFunc(tasks, func(t Task) bool { return t.Change.Unverified != "" }); n >= 0 && !all {
		tasks, rest = tasks[:n], slices.Clone(tasks[n:])
	}
	if len(tasks) == 0 {
		return nil, rest, nil
	}
	if err := r.Record(ctx, state.Outcome{Result: state.ResultStarted, Plan: planHash}); err != nil {
		return nil, rest, fmt.Errorf("nothing was written: %w", err)
	}
	j := &journal{run: r}
	err = r.stages(ctx, tasks, j)
	end := state.ResultApplied
	switch {
	case err != nil:
		end = state.ResultStopped
	case len(rest) > 0:
		end = state.ResultWritten
	}
	for _, t := range rest {
		if err != nil {
			j.add(t.result(state.ObjectUntried), nil)
		}
	}
	// Whatever ended the command, what happened is written down.
	return j.all, rest, errors.Join(err, j.flush(context.WithoutCancel(ctx), end))
}

// stages writes stage by stage: what is written so far is on record before the
// next one begins.
func (r *Run) stages(ctx context.Context, tasks []Task, j *journal) (err error) {
	for i, t := range tasks {
		if i > 0 && t.stage() != tasks[i-1].stage() && err == nil {
			if err = j.flush(ctx, state.ResultWritten); err == nil {
				err = r.settle(ctx, tasks[:i])
			}
		}
		if err == nil && ctx.Err() != nil {
			err = &Stopped{Failure: plan.Failure{Reason: ReasonInterrupted, Message: "interrupted"}}
		}
		if err != nil {
			j.add(t.result(state.ObjectUntried), nil)
			continue
		}
		result, failure := r.write(ctx, t)
		j.add(result, failure)
		if failure != nil {
			err = &Stopped{Key: t.Change.Body.Key(), Failure: *failure}
		}
	}
	if err == nil {
		err = r.settle(ctx, tasks)
	}
	return err
}

// settle waits until the kinds that were just defined are served.
func (r *Run) settle(ctx context.Context, done []Task) error {
	for _, t := range done {
		if key := t.Change.Body.Key(); t.stage() == stageDefinitions && key.Kind == "CustomResourceDefinition" {
			if failure := r.Client.established(ctx, r.Kinds.Path(t.Change.Body.Version, key), establishTimeout); failure != nil {
				return &Stopped{Key: key, Failure: *failure}
			}
		}
	}
	return nil
}

const establishTimeout = time.Minute

// journal keeps results until they are recorded.
type journal struct {
	run          *Run
	all, pending []state.ObjectResult
}

func (j *journal) add(result state.ObjectResult, failure *plan.Failure) {
	j.all, j.pending = append(j.all, result), append(j.pending, result)
	if j.run.Told != nil {
		j.run.Told(result, failure)
	}
}

// flush records what is pending, the last part of it with this result.
func (j *journal) flush(ctx context.Context, result string) error {
	for len(j.pending) > state.MaxObjects {
		if err := j.run.Record(ctx, state.Outcome{Result: state.ResultWritten, Objects: j.pending[:state.MaxObjects]}); err != nil {
			return err
		}
		j.pending = j.pending[state.MaxObjects:]
	}
	if len(j.pending) == 0 && result == state.ResultWritten {
		return nil
	}
	err := j.run.Record(ctx, state.Outcome{Result: result, Objects: j.pending})
	if err == nil {
		j.pending = nil
	}
	return err
}

// result of a task, with what its change says of the object.
func (t Task) result(result string) state.ObjectResult {
	b := t.Change.Body
	return state.ObjectResult{Digest: t.Change.Digest, Group: b.Group, Version: b.Version, Kind: b.Kind, Namespace: b.Namespace, Name: b.Name,
		Operation: string(b.Operation), Result: result}
}
