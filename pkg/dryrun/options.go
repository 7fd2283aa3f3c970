package dryrun

import (
	"errors"
	"fmt"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Manager is the field manager of changeward's own applies.
const Manager = "changeward"

// Changeward is the applier of the direct lane: server-side apply as
// changeward.
func Changeward(force bool) plan.Applier {
	return plan.Applier{Name: Manager, Mode: plan.ModeServerSide, Manager: Manager, Force: force}
}

// ObserveOptions is how to observe. Kinds, Applier and Masker are required.
type ObserveOptions struct {
	Kinds   *Kinds
	Applier plan.Applier
	Masker  manifest.Masker
	// Concurrency is the number of objects observed at once; 0 means 16.
	Concurrency int
	// Progress is told how many of all objects are done; may be nil. Calls
	// come one at a time.
	Progress func(done, total int)
}

const defaultConcurrency = 16

func (o ObserveOptions) check() error {
	var problems []error
	if o.Kinds == nil {
		problems = append(problems, errors.New("observe: no kinds"))
	}
	if len(o.Masker.Key) == 0 {
		problems = append(problems, errors.New("observe: no key to mask with"))
	}
	if o.Applier.Mode != plan.ModeServerSide || o.Applier.Manager == "" {
		problems = append(problems, fmt.Errorf("observe: no dry run for applier %q in mode %q as manager %q",
			o.Applier.Name, o.Applier.Mode, o.Applier.Manager))
	}
	return errors.Join(problems...)
}
