package state

// Actions of an incident record.
const (
	IncidentStart = "start" // opens an incident
	IncidentEnd   = "end"   // closes one
)

// Incident opens or closes an incident: owners of GitOps are suspended while
// people change their objects directly. Written before the first is suspended,
// and after the last has proved to run again.
type Incident struct {
	Action     string `json:"action"`
	ClusterUID string `json:"clusterUID"`
	Forced     bool   `json:"forced,omitempty"`   // of an end: though Git lacked a change
	Incident   string `json:"incident,omitempty"` // of an end: name of the record that opened it
	// Objects are direct changes: of a start those that were there already, of an
	// end all that were looked at once the owners ran again.
	Objects []IncidentObject `json:"objects,omitempty"`
	Owners  []IncidentOwner  `json:"owners"`
	Person  Person           `json:"person"`
	Reason  string           `json:"reason,omitempty"`
	Ticket  string           `json:"ticket,omitempty"`
	Time    string           `json:"time"`
	Until   string           `json:"until,omitempty"` // of a start: when it is overdue
}

// IncidentOwner is a Kustomization or HelmRelease of an incident.
type IncidentOwner struct {
	Adopted   bool   `json:"adopted,omitempty"` // somebody had suspended it before
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Parent    bool   `json:"parent,omitempty"`   // it would have resumed another
	Revision  string `json:"revision,omitempty"` // of an end: at which it was ready
	UID       string `json:"uid"`
}

// IncidentObject is an object that was changed directly. State is a word of
// package drift.
type IncidentObject struct {
	Group     string   `json:"group"`
	Kind      string   `json:"kind"`
	Manager   string   `json:"manager,omitempty"` // who changed it past changeward
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	Paths     []string `json:"paths,omitempty"`
	State     string   `json:"state,omitempty"`
	Version   string   `json:"version"`
}
