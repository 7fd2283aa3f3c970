package state

import (
	"slices"
	"time"
)

// Type names a record type: one word, the same in label, object name, JSON
// kind and documentation.
type Type string

// The record types. Plans, chunks, outcomes and audit entries are Secrets;
// the others, which people write, are ConfigMaps, so that RBAC alone keeps the
// roles apart.
const (
	TypePlan     Type = "plan"
	TypeChunk    Type = "chunk"
	TypeOutcome  Type = "outcome"
	TypeAudit    Type = "audit"
	TypeDecision Type = "decision"
	TypeKey      Type = "key"
	TypeIncident Type = "incident"
	TypeReview   Type = "review"
	TypePolicy   Type = "policy"
	TypeRoster   Type = "roster"
	TypeEpoch    Type = "epoch"
)

// Types lists every type.
func Types() []Type {
	return []Type{TypePlan, TypeChunk, TypeOutcome, TypeAudit, TypeDecision, TypeKey,
		TypeIncident, TypeReview, TypePolicy, TypeRoster, TypeEpoch}
}

// Secret says whether records of this type are kept as Secrets.
func (t Type) Secret() bool {
	return slices.Contains([]Type{TypePlan, TypeChunk, TypeOutcome, TypeAudit}, t)
}

// AboutPlan says whether the subject of such records is a change request and
// its plan hash; that of others is the record itself.
func (t Type) AboutPlan() bool {
	return slices.Contains([]Type{TypePlan, TypeOutcome, TypeDecision, TypeReview}, t)
}

// Data keys of records.
const (
	DataEnvelope = "envelope.json"
	DataPlan     = "plan.json.gz"
	DataBefore   = "before.json.gz"
	DataPart     = "part"
)

// Labels and annotations of records. They are indexes and claims that
// admission checks; what counts is in the signed bytes.
const (
	LabelType            = "changeward.dev/type"
	LabelPlan            = "changeward.dev/plan"
	LabelScope           = "changeward.dev/scope"
	AnnotationActor      = "changeward.dev/actor"
	AnnotationGroups     = "changeward.dev/actor-groups"
	AnnotationCredential = "changeward.dev/actor-credential"
	AnnotationPlanHash   = "changeward.dev/plan-hash"
)

// Claims say who wrote a record. Admission refuses claims that are not true.
type Claims struct {
	Actor      string
	Groups     []string // only the groups that matter
	Credential string
	PlanHash   string // on decisions
}

// Record is one record as a store keeps it. Records are created once and
// never edited.
type Record struct {
	Type   Type
	Name   string
	Data   map[string][]byte
	Plan   string // label value, see PlanLabel
	Scope  string // label value, see ScopeLabel
	Claims Claims

	// Set by the store when a record is read or was created.
	Created time.Time
	UID     string
	// Immutable is false for a record that could have been edited: such a
	// record does not count.
	Immutable bool
}
