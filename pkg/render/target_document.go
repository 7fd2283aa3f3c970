package render

// Kinds of documents about targets and this binary.
const (
	KindTarget     = "Target"
	KindTargetList = "TargetList"
	KindVersion    = "Version"
)

// Target is a local alias for kubeconfig flags.
type Target struct {
	Name       string `json:"name"`
	Context    string `json:"context,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Kubeconfig string `json:"kubeconfig,omitempty"` // absolute path; "" for the usual one
	Env        string `json:"env,omitempty"`
	// RolloutTimeout is how long a direct apply waits, such as "5m".
	RolloutTimeout string `json:"rolloutTimeout,omitempty"`
}

// TargetList answers `targets -o json`.
type TargetList struct {
	Type
	Items []Target `json:"items"`
}

// TargetResult answers `connect -o json`.
type TargetResult struct {
	Type
	Target
	// Replaced says that the name stood for another target before.
	Replaced bool `json:"replaced"`
}

// Version answers `version -o json`.
type Version struct {
	Type
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	// PlanSchema and PlanRules are what plan hashes are made by.
	PlanSchema string `json:"planSchema"`
	PlanRules  int    `json:"planRules"`
}
