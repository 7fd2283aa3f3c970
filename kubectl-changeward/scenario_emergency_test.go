package main

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/render"
)

func TestSomeoneOnCallAndAloneBreaksTheGlassAndIsShownUntilAnotherPersonHasLooked(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	asked := s.gate(t, "bob").exits(t, 2)
	id := idOf(t, asked)
	asked.tells(t, "hint: you are on call: if it cannot wait for anyone else, `kubectl changeward approve "+id+" --emergency --reason WHY`")
	s.as("bob").run(t, "approve", id, "--yes").exits(t, 1).tells(t, "IsProposer", "hint: you are on call")
	s.as("bob").run(t, "approve", id, "--yes", "--emergency", "--reason", "the shop is down").exits(t, 0).prints(t, "approved "+id)
	s.gate(t, "bob").exits(t, 0).prints(t, "approved in an emergency, to be reviewed, by bob (the shop is down)")

	s.as("alice").run(t, "list").exits(t, 0).prints(t, id+"   approved, unreviewed")
	s.as("alice").run(t, "show", id).exits(t, 0).prints(t, "approved in an emergency by bob at ", "unreviewed: another person is to look at it by ")
	s.as("bob").run(t, "review", id, "--yes").exits(t, 1).tells(t, "a review needs a --reason")
	s.as("bob").run(t, "review", id, "--yes", "--reason", "fine").exits(t, 1).tells(t, "your review of "+id+" would not count: ")
	s.as("carol").run(t, "review", id, "--yes", "--reason", "right call").exits(t, 0).tells(t, "shop-config").prints(t, "reviewed "+id)
	s.as("alice").run(t, "show", id).exits(t, 0).prints(t, "reviewed by carol (SHA256:", ": right call")
	var request render.ChangeRequest
	s.as("alice").run(t, "show", id, "-o", "json").exits(t, 0).json(t, &request)
	assert.Assert(t, request.Emergency.Reviewed)
	assert.Equal(t, request.Emergency.ReviewedBy, "carol")
	s.as("carol").run(t, "review", id, "--yes", "--reason", "again").exits(t, 1).tells(t, "was reviewed already, by carol")
}

func TestWhatNobodyBrokeTheGlassForIsNotReviewed(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.as("carol").run(t, "review", s.approved(t).ID, "--yes", "--reason", "x").exits(t, 1).tells(t, "was not approved in an emergency")
}
