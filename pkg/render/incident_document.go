package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/incident"
	"github.com/changeward/changeward/state"
)

// Kinds of documents about incidents.
const (
	KindIncident     = "Incident"
	KindIncidentList = "IncidentList"
)

// Statuses of an incident.
const (
	IncidentOpen    = "open"
	IncidentOverdue = "overdue"
	IncidentEnded   = "ended"
	// IncidentUnrecorded: owners were suspended without a record.
	IncidentUnrecorded = "unrecorded"
)

// States of an owner of an incident.
const (
	OwnerSuspended = "suspended"
	OwnerRunning   = "running"
	OwnerGone      = "gone"
	OwnerReplaced  = "replaced"   // deleted and made anew
	OwnerHeld      = "held"       // somebody else keeps it suspended
	OwnerUnread    = "unreadable" // why is in the notes
)

// IncidentOwner is an owner of an incident, as it is now.
type IncidentOwner struct {
	Kind        string `json:"kind"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	State       string `json:"state"`
	Adopted     bool   `json:"adopted,omitempty"`
	Parent      bool   `json:"parent,omitempty"`
	SuspendedBy string `json:"suspendedBy,omitempty"`
	Revision    string `json:"revision,omitempty"`
}

// Incident answers the verbs of incidents with -o json.
type Incident struct {
	Type
	incidentBody
}

type incidentBody struct {
	ID      string          `json:"id,omitempty"` // none where nothing is recorded
	Status  string          `json:"status"`
	By      string          `json:"by"`
	Reason  string          `json:"reason"`
	Ticket  string          `json:"ticket,omitempty"`
	Started string          `json:"started,omitempty"`
	Until   string          `json:"until,omitempty"`
	Ended   string          `json:"ended,omitempty"`
	EndedBy string          `json:"endedBy,omitempty"`
	Forced  bool            `json:"forced,omitempty"`
	Owners  []IncidentOwner `json:"owners"`
	Notes   []string        `json:"notes"`
}

// IncidentList answers `incident list -o json`.
type IncidentList struct {
	Type
	Items []incidentBody `json:"items"`
}

// NewIncident is an incident as its records tell it; its owners are as recorded,
// without a state.
func NewIncident(i *incident.Incident, now time.Time) *Incident {
	body := incidentBody{ID: i.ID, Status: IncidentOpen, By: i.Start.Person.Username, Reason: i.Start.Reason, Ticket: i.Start.Ticket,
		Started: i.Start.Time, Until: i.Start.Until, Notes: []string{}, Owners: IncidentOwners(i.Start.Owners)}
	if i.Overdue(now) {
		body.Status = IncidentOverdue
	}
	if i.End != nil {
		body.Status, body.Ended, body.EndedBy, body.Forced = IncidentEnded, i.End.Time, i.End.Person.Username, i.End.Forced
		body.Owners = IncidentOwners(i.End.Owners)
	}
	return &Incident{Type: Head(KindIncident), incidentBody: body}
}

// UnrecordedIncident is one that nobody could record.
func UnrecordedIncident(by, reason, ticket string, owners []state.IncidentOwner) *Incident {
	return &Incident{Type: Head(KindIncident), incidentBody: incidentBody{Status: IncidentUnrecorded, By: by, Reason: reason, Ticket: ticket,
		Owners: IncidentOwners(owners), Notes: []string{}}}
}

// IncidentOwners are owners as recorded.
func IncidentOwners(owners []state.IncidentOwner) []IncidentOwner {
	out := make([]IncidentOwner, 0, len(owners))
	for _, o := range owners {
		out = append(out, IncidentOwner{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Adopted: o.Adopted, Parent: o.Parent, Revision: o.Revision})
	}
	return out
}

// NewIncidentList lists incidents.
func NewIncidentList(all []*incident.Incident, now time.Time) IncidentList {
	list := IncidentList{Type: Head(KindIncidentList), Items: []incidentBody{}}
	for _, i := range all {
		list.Items = append(list.Items, NewIncident(i, now).incidentBody)
	}
	return list
}

// Text is the list as a table.
func (l IncidentList) Text(now time.Time) string {
	rows := make([][]string, 0, len(l.Items))
	for _, i := range l.Items {
		var names []string
		for _, o := range i.Owners {
			names = append(names, o.Namespace+"/"+o.Name)
		}
		started, _ := state.ParseTime(i.Started)
		rows = append(rows, []string{i.ID, i.Status, i.By, strings.Join(names, ","), age(now, started), i.Reason})
	}
	return Table([]string{"INCIDENT", "STATUS", "BY", "OWNERS", "AGE", "REASON"}, rows)
}

// Incident is an incident as text.
func (s Style) Incident(i *Incident) string {
	l := &lines{style: s}
	colour := plain
	switch i.Status {
	case IncidentOverdue:
		colour = red
	case IncidentEnded:
		colour = green
	}
	name := i.ID
	if name == "" {
		name = "without a record"
	}
	l.line(colour, Escape(fmt.Sprintf("incident %s: %s, by %s: %s", name, i.Status, i.By, i.Reason)))
	for _, text := range []struct{ label, value string }{{"ticket", i.Ticket}, {"started", i.Started}, {"until", i.Until}, {"ended", i.Ended}, {"ended by", i.EndedBy}} {
		if text.value != "" {
			l.line(plain, "  "+text.label+": "+Escape(text.value))
		}
	}
	for _, o := range i.Owners {
		l.line(plain, Escape("  "+o.text()))
	}
	for _, note := range i.Notes {
		l.line(plain, "note: "+Escape(note))
	}
	return l.out.String()
}

func (o IncidentOwner) text() string {
	text := strings.ToLower(o.Kind) + "/" + o.Namespace + "/" + o.Name
	if o.State != "" {
		text += ": " + o.State
	}
	if o.Revision != "" {
		text += " at " + o.Revision
	}
	if o.State == OwnerHeld {
		text += " by " + o.SuspendedBy
	}
	if o.Adopted {
		text += " (was suspended before)"
	}
	if o.Parent {
		text += " (would resume another)"
	}
	return text
}
