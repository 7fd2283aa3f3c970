package cli

import (
	"context"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/policy"
)

// GateRefusals are reasons why the caller may not be let through, whatever the
// plan: a gate that could take its own fence down. For a person that is a
// note.
func (s *Session) GateRefusals(ctx context.Context) ([]policy.Reason, error) {
	rights, err := install.GateTooPowerful(ctx, s.Kube)
	if err != nil {
		return nil, err
	}
	epoch := s.Ledger.Epoch()
	if !install.IsGate(s.Gate.Caller, epoch.GateUsers, epoch.GateGroups) {
		if len(rights) > 0 {
			s.Streams.Note("note: you could switch off or get around changeward's admission policies: " + rights[0])
		}
		return nil, nil
	}
	var refusals []policy.Reason
	for _, right := range rights {
		refusals = append(refusals, policy.Reason{Reason: install.ReasonGateTooPowerful, Message: "this gate could switch off or get around the admission policies that hold it: " + right})
	}
	return refusals, nil
}
