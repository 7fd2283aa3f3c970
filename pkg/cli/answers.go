package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/render"
)

// answer is what one input came to, in every form, and its exit.
type answer struct {
	text     func(render.Style) string
	markdown string
	document any
	exit     error
}

// lister makes the document of a list.
type lister func(all []answer, problems []render.Problem) any

func gateResults(all []answer, problems []render.Problem) any {
	return render.GateResultList{Type: render.Head(render.KindGateResultList), Items: documentsOf[render.GateResult](all), Errors: problems}
}

func plans(all []answer, problems []render.Problem) any {
	return render.PlanList{Type: render.Head(render.KindPlanList), Items: documentsOf[render.PlanResult](all), Errors: problems}
}

func documentsOf[T any](all []answer) []T {
	out := []T{}
	for _, a := range all {
		if document, ok := a.document.(T); ok {
			out = append(out, document)
		}
	}
	return out
}

// deliver prints one answer, writes it to the file of --out where one is named,
// and returns its exit.
func (s Streams) deliver(output OutputFlag, out string, a answer) error {
	if out != "" {
		if err := WriteOut(out, a.markdown, a.text(render.Style{Program: s.Advice()}), a.document); err != nil {
			return err
		}
	}
	err := s.Print(output, Result{Text: func() string { return a.text(s.Style()) }, Markdown: func() string { return a.markdown },
		JSON: func() any { return a.document }})
	return errors.Join(err, a.exit)
}

// answer answers one input by itself, or several as a list.
func (s *Session) answer(ctx context.Context, list lister, inputs []InputFlags, one func(context.Context, InputFlags) (answer, error)) (answer, error) {
	if len(inputs) == 1 {
		return one(ctx, inputs[0])
	}
	return s.each(ctx, list, inputs, one)
}

// each answers several inputs, those first that others depend on, as one
// answer of a list. What one of them brings counts for those behind it. An input
// that has no answer is an error of the list, and hides no other.
func (s *Session) each(ctx context.Context, list lister, inputs []InputFlags, one func(context.Context, InputFlags) (answer, error)) (answer, error) {
	ordered, err := s.inOrder(ctx, inputs)
	if err != nil {
		return answer{}, err
	}
	var all []answer
	problems := []render.Problem{}
	var exits []error
	var arriving []manifest.Object
	for _, input := range ordered {
		input.arriving = arriving
		err := s.refresh(ctx)
		var a answer
		if err == nil {
			a, err = one(ctx, input)
		}
		if err != nil {
			failure := Explain(fmt.Errorf("%s: %w", input.owner, err), s.Streams.Advice())
			problems = append(problems, render.Problem{Name: input.owner, Source: input.inputs()[0], Reason: failure.Reason, Message: failure.Err.Error()})
			exits = append(exits, failure)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		all, exits = append(all, a), append(exits, a.exit)
		arriving = append(arriving, s.latest...)
	}
	return joinedAnswer(all, exits, list(all, problems)), nil
}

// refresh reads the records anew that a plan is judged by: an input before may
// have written some.
func (s *Session) refresh(ctx context.Context) error {
	if s.Ledger == nil {
		return nil
	}
	return s.load(ctx, CountsRecords)
}

func joinedAnswer(all []answer, exits []error, document any) answer {
	out := answer{document: document, exit: strictest(exits)}
	var parts []string
	for _, a := range all {
		parts = append(parts, a.markdown)
	}
	out.markdown = strings.Join(parts, "\n")
	out.text = func(style render.Style) string {
		var texts []string
		for _, a := range all {
			texts = append(texts, a.text(style))
		}
		return strings.Join(texts, "\n")
	}
	return out
}

// strictest is the exit of several: an error before a denial before an approval
// that is missing; nil where all are.
func strictest(exits []error) error {
	rank := []int{ExitOK, ExitApprovalRequired, ExitDenied, ExitError}
	out := Failure{Reported: true}
	var messages []error
	for _, exit := range exits {
		var failure *Failure
		if exit == nil || !errors.As(exit, &failure) {
			continue
		}
		code := max(failure.Code, ExitError)
		if messages = append(messages, failure.Err); slices.Index(rank, code) > slices.Index(rank, out.Code) {
			out.Code, out.Reason = code, failure.Reason
		}
		for _, hint := range failure.Hints {
			if !slices.Contains(out.Hints, hint) {
				out.Hints = append(out.Hints, hint)
			}
		}
	}
	if len(messages) == 0 {
		return nil
	}
	out.Err = errors.Join(messages...)
	return &out
}
