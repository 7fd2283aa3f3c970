package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// VerdictFailure is the exit of a verdict that is not "allowed"; nil for one
// that is. The verdict itself is printed already.
func VerdictFailure(v gate.Verdict, program string, hints ...string) error {
	for _, reason := range v.Reasons {
		hints = append(hints, faultHints(reason.Reason, program)...)
	}
	failure := &Failure{Hints: hints, Reported: true}
	switch v.Decision {
	case state.VerdictAllowed:
		return nil
	case state.VerdictApprovalRequired:
		failure.Code, failure.Reason, failure.Err = ExitApprovalRequired, ReasonApprovalRequired, errors.New("approval required")
	case state.VerdictDenied:
		failure.Code, failure.Reason, failure.Err = ExitDenied, ReasonDenied, errors.New("denied"+because(v))
	default:
		failure.Code, failure.Reason, failure.Err = ExitError, ReasonFailed, errors.New("could not decide"+because(v))
	}
	return failure
}

// BreakGlass is the hint for someone on call who is alone.
func BreakGlass(program, id string) string {
	return fmt.Sprintf("you are on call: if it cannot wait for anyone else, `%s approve %s --emergency --reason WHY`; another person then has to review it", program, id)
}

func because(v gate.Verdict) string {
	var all []string
	for _, reason := range v.Reasons {
		all = append(all, reason.Message)
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, "; ")
}

// waitingFor adds to the failure of a gate what it waits for: the request, and
// what is still needed for it.
func waitingFor(err error, r *gate.Result) error {
	var failure *Failure
	if errors.As(err, &failure) {
		failure.LastWords = fmt.Sprintf("waiting for approval %s #%d", r.Request.ID, r.Request.Number)
		for _, need := range r.Verdict.Requirements {
			if need.Message != "" && need.Met < need.Count {
				failure.LastWords += ": " + need.Message
			}
		}
	}
	return err
}

// Incomplete is the exit of a plan that was printed, and that lacks objects.
func Incomplete(p *plan.Plan) error {
	problems := "1 problem"
	if n := len(p.Failed); n != 1 {
		problems = fmt.Sprintf("%d problems", n)
	}
	var all []string
	for _, failed := range p.Failed {
		all = append(all, strings.TrimSpace(failed.Key.String()+" "+failed.Source.String())+": "+failed.Message)
	}
	return &Failure{Code: ExitError, Reason: ReasonIncomplete, Reported: true, LastWords: "the plan is incomplete: " + strings.Join(all, "; "),
		Hints: []string{"nothing was recorded: mend what is marked ✗ above, then run it again"},
		Err:   fmt.Errorf("the plan is incomplete: %s", problems)}
}
