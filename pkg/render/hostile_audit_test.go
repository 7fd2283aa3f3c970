package render

import (
	"bytes"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/state"
)

func TestNoAuditCarriesWhatCouldDeceive(t *testing.T) {
	for _, s := range hostileStrings() {
		person := state.Person{Username: s, Groups: []string{s}}
		found := []audit.Finding{{Reason: s, Record: s, Message: s}, {Reason: s, Message: s}}
		entry := audit.Entry{Name: s, Digest: s, SignedBy: s, Void: s, Detail: s, Audit: state.Audit{Actor: person, Scope: s, Verdict: s, Reason: s,
			PlanHash: "sha256:00", Request: 1, Time: s, Previous: s, Decisions: []string{s}, Requirements: []state.Requirement{{Rule: s, Users: []string{s}}}}}
		verification := audit.Verification{Head: s, FirstPolicy: s, Findings: found, Notes: found, Archived: 2, Behind: 2}
		decisions := []audit.Decision{{Name: s, SignedBy: s, Void: s, Detail: s, Decision: state.Decision{Action: s, Person: person, Reason: s, Ticket: s}},
			{Decision: state.Decision{Action: s, Person: person, Reason: s, Ticket: s, Emergency: true}}}
		change := audit.Change{Plan: audit.Plan{ID: s, Hash: s, Header: state.Plan{Author: &state.Author{Name: s}, CI: s, Proposer: person, Reason: s,
			Revision: s, Scope: s, Ticket: s}}, Verdict: s, Reason: s, Decisions: decisions, Doubts: found, Result: s, NotEnforced: true}
		changes := []audit.Change{change}
		report := audit.Report{Unapproved: changes, Emergencies: changes, Unenforced: changes, Changes: changes, Archived: 1, From: time.Unix(1, 0),
			Scopes: []audit.Coverage{{Scope: s, Result: s, Seen: time.Unix(1, 0)}}}
		limits := []string{s}
		assertSafe(t, AuditEntries("uid", []audit.Entry{entry}))
		assertSafe(t, Style{}.Verification(verification, limits))
		assertSafe(t, Style{}.AuditReport(s, report, limits))
		assertSafe(t, AuditReportMarkdown(s, report, limits))
		assertSafe(t, AuditExport{File: s, Head: s, FirstPolicy: s}.Text())
		assertSafe(t, AuditArchive{File: s, Checkpoint: s}.Text())
		for _, document := range []any{AuditLogDocument("uid", []audit.Entry{entry}), AuditVerificationDocument(verification, true, limits),
			AuditReportDocument(s, report, true, limits)} {
			var out bytes.Buffer
			assert.NilError(t, JSON(&out, document))
			assertSafe(t, out.String())
		}
	}
}
