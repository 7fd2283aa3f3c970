package audit

import (
	"fmt"
	"slices"

	"github.com/changeward/changeward/state"
)

// Expected is what someone knows from outside the records.
type Expected struct {
	Head  string // digest of an entry, as a gate printed it
	Trust string // digest of the first policy record
}

// Verification is what Verify found.
type Verification struct {
	Entries, Plans, Decisions, Outcomes, Keys int
	First, Last                               int    // numbers of the chain
	Head                                      string // digest of the newest entry
	FirstPolicy                               string
	Archived                                  int // entries that checkpoints account for
	Behind                                    int // entries since the expected head
	Findings                                  []Finding
	Notes                                     []Finding // worth knowing, no fault
}

// Verify walks the chain and checks that what was allowed was approved by those
// who were asked, with signatures that were good at that time.
func Verify(f Facts, expected Expected) Verification {
	w := walkChain(f)
	v := Verification{Entries: len(f.Entries), Plans: len(f.Plans), Decisions: len(f.Decisions), Outcomes: len(f.Outcomes),
		Keys: f.Keys, FirstPolicy: f.FirstPolicy, Findings: slices.Concat(w.findings, f.Faults), Notes: slices.Concat(w.notes, f.Mislabelled)}
	if len(f.Entries) > 0 {
		v.First = f.Entries[0].Number
	}
	if w.last != nil {
		v.Last, v.Head = w.last.Number, w.last.Digest
	}
	for _, r := range w.archived {
		v.Archived += r.Last - r.First + 1
	}
	v.compare(f, expected)
	v.records(f)
	for _, e := range f.Entries {
		switch {
		case inRanges(w.archived, e.Number):
			v.note(ArchiveUnfinished, e.Name, "is in a bundle, and still here: run the archive again, with the same --out")
		case e.Void == "" && e.Archive == nil:
			v.entry(f, e)
		}
	}
	return v
}

func (v *Verification) find(reason, record, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{Reason: reason, Record: record, Message: fmt.Sprintf(format, args...)})
}

func (v *Verification) note(reason, record, format string, args ...any) {
	v.Notes = append(v.Notes, Finding{Reason: reason, Record: record, Message: fmt.Sprintf(format, args...)})
}

// compare what is here with what is known from outside.
func (v *Verification) compare(f Facts, expected Expected) {
	if expected.Trust != "" && expected.Trust != f.FirstPolicy {
		v.find(TrustMismatch, "", "the first policy is %s, not the expected %s: these are the records of another install", none(f.FirstPolicy), expected.Trust)
	}
	if expected.Head == "" {
		return
	}
	at := slices.IndexFunc(f.Entries, func(e Entry) bool { return e.Digest == expected.Head })
	if at < 0 && !slices.ContainsFunc(walkChain(f).archived, func(r state.Range) bool { return r.Head == expected.Head }) {
		v.find(HeadMissing, "", "no entry has the expected digest %s: the tail of the chain was cut, or these are other records", expected.Head)
		return
	}
	if at >= 0 {
		v.Behind = len(f.Entries) - 1 - at
	}
}

// records names plans, decisions and outcomes that do not hold, or that nobody
// can be held to.
func (v *Verification) records(f Facts) {
	heard := map[int]bool{}
	for _, e := range f.Entries {
		heard[e.Request] = true
	}
	for _, p := range f.Plans {
		switch {
		case p.Void != "":
			v.find(p.Void, p.Name, "%s", p.Detail)
		case !p.Known:
			v.note(PlanKeyUnknown, p.Name, "signed with %s, which nobody has enrolled for %s", p.SignedBy, p.Header.Proposer.Username)
		}
		if !heard[p.Number] {
			v.note(PlanUnheard, p.Name, "no entry is about it: the gate was stopped before it wrote one, or the tail of the chain was cut")
		}
	}
	for _, d := range f.Decisions {
		if d.Void != "" {
			v.find(d.Void, d.Name, "%s", d.Detail)
		}
	}
	for _, r := range f.Reviews {
		if r.Void != "" {
			v.find(r.Void, r.Name, "%s", r.Detail)
		}
	}
	for _, o := range f.Outcomes {
		if o.Void != "" {
			v.find(o.Void, o.Name, "%s", o.Detail)
		}
	}
}

// entry checks what one entry rests on.
func (v *Verification) entry(f Facts, e Entry) {
	p, found := f.plan(e.Request, e.PlanHash)
	if !found {
		v.find(PlanMissing, e.Name, "it is about request #%d, whose plan is not there", e.Request)
	}
	if e.PolicyVersion < 1 || e.PolicyVersion > len(f.Policies) {
		v.find(PolicyUnknown, e.Name, "judged by policy version %d; %d versions hold", e.PolicyVersion, len(f.Policies))
	}
	if e.Epoch > f.Epochs {
		v.find(EpochUnknown, e.Name, "written in epoch %d; %d epochs hold", e.Epoch, f.Epochs)
	}
	_, doubts := f.proof(e, p)
	v.Findings = append(v.Findings, doubts...)
}
