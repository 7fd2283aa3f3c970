package render

import (
	"time"

	"github.com/changeward/changeward/pkg/audit"
	"github.com/changeward/changeward/state"
)

// Kinds of documents about the audit.
const (
	KindAuditLog          = "AuditLog"
	KindAuditVerification = "AuditVerification"
	KindAuditReport       = "AuditReport"
	KindAuditExport       = "AuditExport"
	KindAuditArchive      = "AuditArchive"
)

// AuditLog answers `audit log -o json`, newest first.
type AuditLog struct {
	Type
	Items []AuditEntry `json:"items"`
}

// AuditEntry is one entry of the chain. Times are RFC 3339.
type AuditEntry struct {
	Number        int                 `json:"number"`
	Record        string              `json:"record"`
	Time          string              `json:"time"`
	Verdict       string              `json:"verdict"`
	Reason        string              `json:"reason,omitempty"`
	Change        string              `json:"change,omitempty"` // c_…
	Request       int                 `json:"request,omitempty"`
	PlanHash      string              `json:"planHash,omitempty"`
	Scope         string              `json:"scope,omitempty"`
	Actor         state.Person        `json:"actor"`
	SignedBy      string              `json:"signedBy"`
	ByGate        bool                `json:"byGate"`
	Auto          bool                `json:"auto"`
	Enforced      bool                `json:"enforced"`
	PolicyVersion int                 `json:"policyVersion"`
	Epoch         int                 `json:"epoch"`
	Requirements  []state.Requirement `json:"requirements"`
	Decisions     []string            `json:"decisions"` // digests of those counted
	Archive       *state.Archive      `json:"archive,omitempty"`
	Digest        string              `json:"digest"`
	Previous      string              `json:"previous,omitempty"`
	Void          *Reason             `json:"void,omitempty"` // why it does not hold
}

// AuditVerification answers `audit verify -o json`.
type AuditVerification struct {
	Type
	OK          bool           `json:"ok"`      // no findings
	Offline     bool           `json:"offline"` // no cluster was asked
	Entries     int            `json:"entries"`
	First       int            `json:"first"` // numbers of the chain
	Last        int            `json:"last"`
	Head        string         `json:"head"`
	Behind      int            `json:"behind"` // entries since the expected head
	Archived    int            `json:"archived"`
	FirstPolicy string         `json:"firstPolicy"`
	Plans       int            `json:"plans"`
	Decisions   int            `json:"decisions"`
	Outcomes    int            `json:"outcomes"`
	Keys        int            `json:"keys"`
	Findings    []AuditFinding `json:"findings"`
	Notes       []AuditFinding `json:"notes"`
	Limits      []string       `json:"limits"` // what was not proven
}

// AuditFinding is one thing that is wrong, or worth knowing.
type AuditFinding struct {
	Reason  string `json:"reason"`
	Record  string `json:"record,omitempty"`
	Message string `json:"message"`
}

// AuditReport answers `audit report -o json`: what went around the gate first.
type AuditReport struct {
	Type
	Cluster     string        `json:"cluster"`
	Offline     bool          `json:"offline"`
	Since       string        `json:"since,omitempty"` // as asked for
	From        string        `json:"from,omitempty"`  // the oldest entry that is here
	Archived    int           `json:"archived"`        // entries that are in bundles only
	Unapproved  []AuditChange `json:"unapproved"`      // applied without an approval that holds
	Emergencies []AuditChange `json:"emergencies"`     // to be reviewed
	Unenforced  []AuditChange `json:"unenforced"`      // passed though policy did not allow it
	Changes     []AuditChange `json:"changes"`
	Scopes      []AuditScope  `json:"scopes"`
	Limits      []string      `json:"limits"`
}

// AuditChange is one request and what became of it.
type AuditChange struct {
	ID            string          `json:"id"`
	Number        int             `json:"number"`
	Hash          string          `json:"hash"`
	Scope         string          `json:"scope"`
	Created       string          `json:"created"`
	Proposer      state.Person    `json:"proposer"`
	Author        *state.Author   `json:"author"`
	Revision      string          `json:"revision,omitempty"`
	CI            string          `json:"ci,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Ticket        string          `json:"ticket,omitempty"`
	Verdict       string          `json:"verdict"` // "": no entry says
	VerdictReason string          `json:"verdictReason,omitempty"`
	Auto          bool            `json:"auto"`
	Enforced      bool            `json:"enforced"`
	PolicyVersion int             `json:"policyVersion"`
	Decided       string          `json:"decided,omitempty"`
	Decisions     []AuditDecision `json:"decisions"`
	Doubts        []AuditFinding  `json:"doubts"` // why the verdict is not proven
	Result        string          `json:"result,omitempty"`
	Observed      bool            `json:"observed,omitempty"`
	Finished      string          `json:"finished,omitempty"`
}

// AuditDecision is what one person said.
type AuditDecision struct {
	Record    string   `json:"record"`
	Action    string   `json:"action"`
	Person    string   `json:"person"`
	Groups    []string `json:"groups,omitempty"`
	Time      string   `json:"time"`
	Reason    string   `json:"reason,omitempty"`
	Ticket    string   `json:"ticket,omitempty"`
	Emergency bool     `json:"emergency,omitempty"`
	Key       string   `json:"key"`
	Revoked   bool     `json:"revoked,omitempty"` // the key has been since
	Counted   bool     `json:"counted"`           // by the newest entry
	Why       *Reason  `json:"why,omitempty"`     // why the signature proves nothing
}

// AuditScope is how far a scope was looked at.
type AuditScope struct {
	Scope   string `json:"scope"`
	Changes int    `json:"changes"`
	Passed  string `json:"passed,omitempty"` // last plan that passed a gate
	Seen    string `json:"seen,omitempty"`   // last comparison of live and allowed
	Result  string `json:"result,omitempty"`
}

// AuditExport answers `audit export -o json`.
type AuditExport struct {
	Type
	File        string `json:"file"`
	Digest      string `json:"digest"`
	Records     int    `json:"records"`
	Head        string `json:"head"`
	FirstPolicy string `json:"firstPolicy"`
}

// AuditArchive answers `audit archive -o json`.
type AuditArchive struct {
	Type
	File       string `json:"file,omitempty"` // "": nothing was old enough
	Digest     string `json:"digest,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"` // its record
	Before     string `json:"before"`
	Entries    int    `json:"entries"` // archived by this run
	Deleted    int    `json:"deleted"` // records, of all types
	Resumed    bool   `json:"resumed,omitempty"`
}

// AuditLogDocument is the JSON form of entries.
func AuditLogDocument(clusterUID string, entries []audit.Entry) AuditLog {
	document := AuditLog{Type: Head(KindAuditLog), Items: []AuditEntry{}}
	for _, e := range entries {
		item := AuditEntry{Number: e.Number, Record: e.Name, Time: e.Time, Verdict: e.Verdict, Reason: e.Audit.Reason, Request: e.Request,
			PlanHash: e.PlanHash, Scope: e.Scope, Actor: e.Actor, SignedBy: e.SignedBy, ByGate: e.ByGate, Auto: e.Auto,
			Enforced: !e.NotEnforced, PolicyVersion: e.PolicyVersion, Epoch: e.Epoch, Requirements: list(e.Requirements),
			Decisions: list(e.Audit.Decisions), Archive: e.Archive, Digest: e.Digest, Previous: e.Previous, Void: voidReason(e.Void, e.Detail)}
		if e.Request > 0 {
			item.Change = state.ChangeID(clusterUID, e.PlanHash, e.Request)
		}
		document.Items = append(document.Items, item)
	}
	return document
}

// AuditVerificationDocument is the JSON form of a verification.
func AuditVerificationDocument(v audit.Verification, offline bool, limits []string) AuditVerification {
	return AuditVerification{Type: Head(KindAuditVerification), OK: len(v.Findings) == 0, Offline: offline, Entries: v.Entries,
		First: v.First, Last: v.Last, Head: v.Head, Behind: v.Behind, Archived: v.Archived, FirstPolicy: v.FirstPolicy,
		Plans: v.Plans, Decisions: v.Decisions, Outcomes: v.Outcomes, Keys: v.Keys,
		Findings: auditFindings(v.Findings), Notes: auditFindings(v.Notes), Limits: list(limits)}
}

// AuditReportDocument is the JSON form of a report.
func AuditReportDocument(cluster string, r audit.Report, offline bool, limits []string) AuditReport {
	document := AuditReport{Type: Head(KindAuditReport), Cluster: cluster, Offline: offline, Since: stamp(r.Since), From: stamp(r.From),
		Archived: r.Archived, Unapproved: auditChanges(r.Unapproved), Emergencies: auditChanges(r.Emergencies),
		Unenforced: auditChanges(r.Unenforced), Changes: auditChanges(r.Changes), Scopes: []AuditScope{}, Limits: list(limits)}
	for _, s := range r.Scopes {
		document.Scopes = append(document.Scopes, AuditScope{Scope: s.Scope, Changes: s.Changes, Passed: stamp(s.Passed), Seen: stamp(s.Seen), Result: s.Result})
	}
	return document
}

func auditChanges(changes []audit.Change) []AuditChange {
	out := []AuditChange{}
	for _, c := range changes {
		item := AuditChange{ID: c.ID, Number: c.Number, Hash: c.Hash, Scope: c.Header.Scope, Created: stamp(c.Created), Proposer: c.Header.Proposer,
			Author: c.Header.Author, Revision: c.Header.Revision, CI: c.Header.CI, Reason: c.Header.Reason, Ticket: c.Header.Ticket,
			Verdict: c.Verdict, VerdictReason: c.Reason, Auto: c.Auto, Enforced: !c.NotEnforced, PolicyVersion: c.PolicyVersion,
			Decided: stamp(c.Decided), Decisions: []AuditDecision{}, Doubts: auditFindings(c.Doubts), Result: c.Result, Observed: c.Observed, Finished: stamp(c.Finished)}
		for _, d := range c.Decisions {
			item.Decisions = append(item.Decisions, AuditDecision{Record: d.Name, Action: d.Action, Person: d.Person.Username, Groups: d.Person.Groups,
				Time: stamp(d.Created), Reason: d.Reason, Ticket: d.Ticket, Emergency: d.Emergency, Key: d.SignedBy, Revoked: d.Revoked,
				Counted: c.Counted(d), Why: voidReason(d.Void, d.Detail)})
		}
		out = append(out, item)
	}
	return out
}

func auditFindings(all []audit.Finding) []AuditFinding {
	out := []AuditFinding{}
	for _, f := range all {
		out = append(out, AuditFinding{Reason: f.Reason, Record: f.Record, Message: f.Message})
	}
	return out
}

func voidReason(reason, detail string) *Reason {
	if reason == "" {
		return nil
	}
	return &Reason{Reason: reason, Message: detail}
}

// day is a date for people, in UTC; "never" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return Time(t)
}
