package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/render"
)

// Showing is how a plan is shown that is not put forward. Fill in Streams, then
// AddFlags, Validate, Run.
type Showing struct {
	Streams       Streams
	output        OutputFlag
	out           string
	showUnchanged bool
	exitCode      bool
	twice         bool
}

// AddFlags registers what every plan takes beside its inputs.
func (s *Showing) AddFlags(cmd *cobra.Command) {
	s.output.AddFlag(cmd, FormatMarkdown)
	AddOutFlag(cmd, &s.out)
	cmd.Flags().BoolVar(&s.showUnchanged, "show-unchanged", false, "list objects that would not change, too")
	cmd.Flags().BoolVar(&s.twice, "twice", false, "repeat the dry run of what changes, as the gate does, so that random values show")
	cmd.Flags().BoolVar(&s.exitCode, "exit-code", false, "exit as the gate would: 2 approval required, 4 denied")
}

// Validate refuses an output that there is not.
func (s *Showing) Validate() error { return s.output.Validate() }

// Run plans inputs and prints what came of them. Its error is the exit code,
// the strictest one of several.
func (s *Showing) Run(ctx context.Context, session *Session, inputs ...InputFlags) error {
	a, err := session.answer(ctx, plans, inputs, func(ctx context.Context, input InputFlags) (answer, error) {
		return s.answer(ctx, session, input)
	})
	if err != nil {
		return err
	}
	return s.Streams.deliver(s.output, s.out, a)
}

func (s *Showing) answer(ctx context.Context, session *Session, input InputFlags) (answer, error) {
	input.Twice = s.twice
	planned, err := session.Plan(ctx, input)
	if err != nil {
		return answer{}, err
	}
	judgement, err := session.Judge(ctx, planned.Plan, session.Header(planned))
	if err != nil {
		return answer{}, err
	}
	view, comment := session.View(planned.Plan, judgement, s.showUnchanged), render.Comment{}
	if comment.View = view; judgement != nil {
		comment.Verdict = render.Style{}.Policy(*judgement)
	}
	text := func(style render.Style) string {
		out := style.Plan(view)
		if judgement != nil {
			out += style.Policy(*judgement)
		}
		return out
	}
	return answer{text: text, markdown: s.Streams.Style().Markdown(comment), document: render.PlanResultDocument(view, judgement),
		exit: s.exit(view, judgement)}, nil
}

// exit is the exit code.
func (s *Showing) exit(view render.PlanView, judgement *policy.Judgement) error {
	if !view.Plan.Complete() {
		return Incomplete(view.Plan)
	}
	if !s.exitCode || judgement == nil || !judgement.Enforced {
		return nil
	}
	return VerdictFailure(gate.Verdict{Decision: judgement.Verdict, Reasons: judgement.Reasons}, s.Streams.Advice(),
		fmt.Sprintf("put it forward with `%s gate`", s.Streams.Program))
}
