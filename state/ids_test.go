package state

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// Ids are written into records, and quoted by people: they never change.
func TestIdsAreGolden(t *testing.T) {
	assert.Equal(t, PlanID(testHash), "p_9f86d081884c")
	assert.Equal(t, PlanLabel(testHash), "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b")
	// printf '["%s","%s",%d]' … | sha256sum
	assert.Equal(t, ChangeID("0b5e8d6e-4c0c-4b5e-9e53-5d2a5b0a7a11", testHash, 3), "c_91506409d7c6")
	// printf apps/shop | sha256sum
	assert.Equal(t, ScopeLabel("apps/shop"), "629ad553216e")
	assert.Equal(t, NumberedName(TypePlan, 3), "cw-plan-000003")
	assert.Equal(t, NumberedName(TypePolicy, 1234567), "cw-policy-1234567")
	assert.Equal(t, NumberedName(TypeAudit, 42), "cw-audit-0000000042")
	assert.Equal(t, OutcomeName(3, 1), "cw-outcome-000003-1")
	assert.Equal(t, ContentName(TypeDecision, []byte("test")), "cw-decision-9f86d081884c")
	assert.Equal(t, ChunkName(testHash), "cw-chunk-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b")
	assert.Equal(t, Namespace(TypeDecision), "decision@changeward.dev")
	assert.Equal(t, PredicateType(TypeDecision), "https://changeward.dev/decision/v1")
}

func TestANumberReadsBackFromItsOneName(t *testing.T) {
	for _, number := range []int{1, 42, 999999, 1000000} {
		for _, kind := range []Type{TypePlan, TypeAudit, TypeEpoch} {
			got, ok := NumberOf(kind, NumberedName(kind, number))
			assert.Assert(t, ok)
			assert.Equal(t, got, number)
		}
		n, sequence, ok := OutcomeOf(OutcomeName(number, 12))
		assert.Assert(t, ok)
		assert.Equal(t, n, number)
		assert.Equal(t, sequence, 12)
	}
	for _, name := range []string{"cw-plan-3", "cw-plan-0000003", "cw-plan-000000", "cw-plan--00001", "cw-plan-+00003",
		"cw-plan-canary", "cw-audit-000003", "000003", "cw-plan-", "cw-plan-000003-1"} {
		_, ok := NumberOf(TypePlan, name)
		assert.Assert(t, !ok, name)
	}
	for _, name := range []string{"cw-outcome-000003", "cw-outcome-000003-0", "cw-outcome-000003-01", "cw-outcome-3-1", "cw-outcome-000003-1-1"} {
		_, _, ok := OutcomeOf(name)
		assert.Assert(t, !ok, name)
	}
}

func TestTheLastNumberIsTheHighestNotTheLastByName(t *testing.T) {
	assert.Equal(t, LastNumber(TypePlan, nil), 0)
	assert.Equal(t, LastNumber(TypePlan, []Record{{Name: "cw-plan-1000000"}, {Name: "cw-plan-999999"}, {Name: "cw-plan-zzz"}}), 1000000)
}

func TestDigestsAndIdsAreToldFromOtherText(t *testing.T) {
	assert.Assert(t, IsDigest(testHash) && IsChangeID("c_9dd33d8939b8"))
	for _, bad := range []string{"", Hex(testHash), "sha256:", testHash + "0", "sha512:" + Hex(testHash), "SHA256:" + Hex(testHash)} {
		assert.Assert(t, !IsDigest(bad), bad)
	}
	for _, bad := range []string{"", "c_", "p_9dd33d8939b8", "c_9dd33d8939b", "c_9dd33d8939bG"} {
		assert.Assert(t, !IsChangeID(bad), bad)
	}
}

func TestATimeHasOneForm(t *testing.T) {
	moment := time.Date(2026, 3, 1, 11, 0, 0, 999, time.FixedZone("CET", 3600))
	assert.Equal(t, FormatTime(moment), "2026-03-01T10:00:00Z")
	read, err := ParseTime("2026-03-01T10:00:00Z")
	assert.NilError(t, err)
	assert.Assert(t, read.Equal(moment.Truncate(time.Second)))
	for _, bad := range []string{"", "2026-03-01", "2026-03-01T11:00:00+01:00", "2026-03-01T10:00:00.5Z", "2026-03-01T10:00:00+00:00", "2026-02-30T10:00:00Z"} {
		_, err := ParseTime(bad)
		assert.Assert(t, err != nil, bad)
	}
}
