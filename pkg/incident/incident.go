package incident

import (
	"fmt"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

// Incident is one incident, as its records tell it.
type Incident struct {
	ID    string // i_ and 12 hex digits
	Start gate.IncidentRecord
	End   *gate.IncidentRecord // nil: it is open
}

// IDOf is the id of the incident that a record of this name opened.
func IDOf(name string) string { return "i_" + strings.TrimPrefix(name, "cw-incident-") }

// Replay tells from the records, oldest first, which incidents there are. Only
// the first end counts.
func Replay(records []gate.IncidentRecord) []*Incident {
	var all []*Incident
	byName := map[string]*Incident{}
	for _, r := range records {
		if r.Action == state.IncidentStart {
			i := &Incident{ID: IDOf(r.Name), Start: r}
			all, byName[r.Name] = append(all, i), i
		}
	}
	for _, r := range records {
		if i := byName[r.Incident.Incident]; r.Action == state.IncidentEnd && i != nil && i.End == nil {
			i.End = &r
		}
	}
	return all
}

// Open says that nobody has ended it.
func (i *Incident) Open() bool { return i.End == nil }

// Until is when it is overdue; zero: never.
func (i *Incident) Until() time.Time {
	until, err := state.ParseTime(i.Start.Until)
	if err != nil {
		return time.Time{}
	}
	return until
}

// Overdue says that it should have ended.
func (i *Incident) Overdue(now time.Time) bool {
	until := i.Until()
	return i.Open() && !until.IsZero() && now.After(until)
}

// Holds says whether an owner is part of it.
func (i *Incident) Holds(key manifest.Key) bool {
	for _, o := range i.Start.Owners {
		if KeyOf(o) == key {
			return true
		}
	}
	return false
}

// KeyOf is the identity of an owner of an incident.
func KeyOf(o state.IncidentOwner) manifest.Key {
	return manifest.Key{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Find is the incident with an id, or the open one that holds an owner of a
// name; "" is the only open one. The error says what there is instead.
func Find(all []*Incident, ref string) (*Incident, error) {
	var found []*Incident
	for _, i := range all {
		if i.ID == ref {
			return i, nil
		}
		if i.Open() && (ref == "" || i.names(ref)) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("%d incidents are open: name one of %s", len(found), ids(found))
	case ref == "":
		return nil, fmt.Errorf("no incident is open")
	}
	return nil, fmt.Errorf("no incident %q, and none is open on an owner of that name", ref)
}

func (i *Incident) names(ref string) bool {
	for _, o := range i.Start.Owners {
		if o.Name == ref || o.Namespace+"/"+o.Name == ref {
			return true
		}
	}
	return false
}

func ids(all []*Incident) string {
	var out []string
	for _, i := range all {
		out = append(out, i.ID)
	}
	return strings.Join(out, ", ")
}

// Standing is the open incident on any of some owners; nil where there is none.
// Continued says that it was started on exactly these, so that starting again
// goes on with it.
func Standing(all []*Incident, named []manifest.Key) (found *Incident, continued bool) {
	for _, i := range all {
		held := 0
		for _, key := range named {
			if i.Open() && i.Holds(key) {
				held++
			}
		}
		if held == 0 {
			continue
		}
		own := 0
		for _, o := range i.Start.Owners {
			if !o.Parent {
				own++
			}
		}
		return i, held == len(named) && own == held
	}
	return nil, false
}
