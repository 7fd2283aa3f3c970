package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
)

// chained are entries in order, each naming the one before: "1 2 3".
func chained(numbers string) Facts {
	var f Facts
	previous := ""
	for field := range strings.FieldsSeq(numbers) {
		e := Entry{Name: "e" + field, Digest: "d" + field, Audit: state.Audit{Previous: previous, Time: state.FormatTime(time.Unix(0, 0))}}
		_, _ = fmt.Sscan(field, &e.Number)
		previous = e.Digest
		f.Entries = append(f.Entries, e)
	}
	return f
}

// without takes entries out.
func (f Facts) without(numbers ...int) Facts {
	f.Entries = slices.DeleteFunc(f.Entries, func(e Entry) bool { return slices.Contains(numbers, e.Number) })
	return f
}

// archived makes the last entry an admin's checkpoint of ranges.
func (f Facts) archived(ranges ...state.Range) Facts {
	last := &f.Entries[len(f.Entries)-1]
	last.Admin, last.Archive = true, &state.Archive{Ranges: ranges}
	return f
}

func to(first, last int) state.Range {
	return state.Range{First: first, Last: last, Head: fmt.Sprint("d", last)}
}

func TestTheChainTellsGapsFromArchivesAndSkippedNumbers(t *testing.T) {
	wrongHead := state.Range{First: 1, Last: 2, Head: "d9"}
	for name, test := range map[string]struct {
		facts Facts
		want  string
	}{
		"whole":                              {chained("1 2 3"), ""},
		"empty":                              {Facts{}, ""},
		"numbers that never were entries":    {chained("1 2 5 6"), "NumberSkipped e5"},
		"one missing":                        {chained("1 2 3 4").without(3), "EntryMissing e4: 3 missing before it"},
		"two gaps":                           {chained("1 2 3 4 5 6 7").without(2, 3, 6), "EntryMissing e4: 2–3 missing before it; EntryMissing e7: 6 missing before it"},
		"the start is missing":               {chained("1 2 3 4").without(1, 2), "ChainStart e3: the chain starts here: 1–2 missing, and no checkpoint names them"},
		"the start is archived":              {chained("1 2 3 4").without(1, 2).archived(to(1, 2)), ""},
		"archived around what stays":         {chained("1 2 3 4 5 6").without(1, 3, 4).archived(to(1, 1), to(3, 4)), ""},
		"more is missing than was archived":  {chained("1 2 3 4 5").without(1, 2, 3).archived(to(1, 2)), "ChainStart e4: the chain starts here: 3 missing, and no checkpoint names them"},
		"archived with another head":         {chained("1 2 3 4").without(1, 2).archived(wrongHead), "ChainBroken e3"},
		"an archive that was stopped midway": {chained("1 2 3 4 5").without(1, 3).archived(to(1, 3)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := walkChain(test.facts)
			var got []string
			for _, f := range slices.Concat(w.findings, w.notes) {
				text := f.Reason + " " + f.Record
				if f.Reason == EntryMissing || f.Reason == ChainStart {
					text += ": " + f.Message
				}
				got = append(got, text)
			}
			assert.Equal(t, strings.Join(got, "; "), test.want)
		})
	}
}

func TestAnEditedOrReorderedEntryBreaksTheChain(t *testing.T) {
	edited := chained("1 2 3")
	edited.Entries[1].Digest = "d2, edited"
	assert.Equal(t, walkChain(edited).findings[0].Reason, ChainBroken)
	assert.Equal(t, walkChain(edited).findings[0].Record, "e3")

	late := chained("1 2 3")
	late.Entries[0].Time = state.FormatTime(time.Unix(3600, 0))
	assert.Equal(t, walkChain(late).findings[0].Reason, TimeReversed)
}

func TestACheckpointsRangesGrowTogether(t *testing.T) {
	f := chained("1 2 3 4 5 6 7").archived(to(1, 2), to(5, 5))
	a := NewArchive(f, []Entry{f.Entries[3], f.Entries[2], f.Entries[4]}, "bundle")
	assert.DeepEqual(t, a.Ranges, []state.Range{to(1, 5)})
}

func TestAQuorumCountsPeopleForEachRequirement(t *testing.T) {
	by := func(name string, groups ...string) Decision {
		return Decision{Decision: state.Decision{Action: state.ActionApprove, Person: state.Person{Username: name, Groups: groups}}}
	}
	emergency := by("carol")
	emergency.Emergency = true
	two := []state.Requirement{{Rule: "sre", Groups: []string{"sre"}, Count: 2}, {Rule: "db", Users: []string{"dan"}, Count: 1}}
	for want, approvals := range map[string][]Decision{
		"": {by("alice", "sre"), by("bob", "sre"), by("dan")},
		"rule sre asked for 2, and the approvals of 1 hold":    {by("alice", "sre"), by("alice", "sre"), by("dan")},
		"rule db asked for 1, and the approvals of 0 hold":     {by("alice", "sre"), by("bob", "sre")},
		"allowed by people, and none of their approvals holds": nil,
	} {
		assert.Equal(t, short(two, approvals), want)
	}
	assert.Equal(t, short(two, []Decision{emergency}), "")
}
