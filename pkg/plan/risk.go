package plan

// Names of risks: named findings about a change. They are API: in JSON, in
// policies, and never renamed.
const (
	RiskProtected = "protected"
	RiskDelete    = "delete"
)

func risksOf(s subject, prune bool, total int) []Risk { return nil }
