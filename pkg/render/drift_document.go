package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/drift"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

// KindDrift is the kind of what drift answers.
const KindDrift = "Drift"

// Drifted is what a look for direct changes found, the oldest first.
type Drifted struct {
	Now     time.Time // of the server
	Changes []DirectChange
	Unseen  []string // what could not be looked at, and why
}

// DirectChange is one object that was changed past Git.
type DirectChange struct {
	drift.Change
	Request *gate.Request // nil: past changeward, too
	Settled bool          // recorded as reconciled by this run
}

// Open are those that Git does not have, and that are older than an age.
func (d *Drifted) Open(age time.Duration) (open []DirectChange) {
	for _, c := range d.Changes {
		if c.State == drift.Unreconciled && d.Now.Sub(c.Since) >= age {
			open = append(open, c)
		}
	}
	return open
}

// DriftList answers `drift -o json`.
type DriftList struct {
	Type
	Time    string          `json:"time"`
	Changes []DriftedObject `json:"changes"`
	Unseen  []string        `json:"unseen"`
}

// DriftedObject is one object that was changed past Git.
type DriftedObject struct {
	Change    *ChangeRef     `json:"change"` // null: past changeward, too
	Manager   string         `json:"manager,omitempty"`
	Who       string         `json:"who,omitempty"`
	Approvers []string       `json:"approvers"`
	Reason    string         `json:"reason,omitempty"`
	Ticket    string         `json:"ticket,omitempty"`
	Group     string         `json:"group"`
	Version   string         `json:"version"`
	Kind      string         `json:"kind"`
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	Operation string         `json:"operation"`
	Since     string         `json:"since"`
	Age       int64          `json:"ageSeconds"`
	Owner     *string        `json:"owner"`
	Revision  string         `json:"revision,omitempty"`
	State     string         `json:"state"`
	Message   string         `json:"message"`
	Settled   bool           `json:"settled"`
	Fields    []DriftedField `json:"fields"`
}

// DriftedField is one field of it.
type DriftedField struct {
	Path    string `json:"path"`
	State   string `json:"state"`
	Message string `json:"message"`
}

// DriftDocument is the JSON form of drift.
func DriftDocument(d *Drifted) DriftList {
	list := DriftList{Type: Head(KindDrift), Time: d.Now.UTC().Format(time.RFC3339), Changes: []DriftedObject{}, Unseen: append([]string{}, d.Unseen...)}
	for _, c := range d.Changes {
		list.Changes = append(list.Changes, c.document(d.Now))
	}
	return list
}

func (c DirectChange) document(now time.Time) DriftedObject {
	o := DriftedObject{Manager: c.Manager, Who: c.who(), Approvers: c.approvers(), Group: c.Key.Group, Version: c.Version, Kind: c.Key.Kind,
		Namespace: c.Key.Namespace, Name: c.Key.Name, Operation: string(c.Operation), Since: c.Since.UTC().Format(time.RFC3339),
		Age: int64(now.Sub(c.Since).Seconds()), Revision: c.Revision, State: string(c.State), Message: c.Why, Settled: c.Settled, Fields: []DriftedField{}}
	if c.Owner != "" {
		o.Owner = &c.Owner
	}
	if r := c.Request; r != nil {
		o.Change = &ChangeRef{ID: r.ID, Number: r.Number, Status: string(r.Status)}
		o.Reason, o.Ticket = r.Header.Reason, r.Header.Ticket
	}
	for _, f := range c.Fields {
		o.Fields = append(o.Fields, DriftedField{Path: f.Path, State: string(f.State), Message: f.Why})
	}
	return o
}

// who wrote it: who ran the last apply.
func (c DirectChange) who() string {
	if c.Request == nil {
		return ""
	}
	who := ""
	for _, o := range c.Request.Outcomes {
		if !o.Observed && o.Result != state.ResultReconciled {
			who = o.Actor.Username
		}
	}
	return who
}

func (c DirectChange) approvers() []string {
	if c.Request == nil {
		return []string{}
	}
	return append([]string{}, c.Request.ApprovedBy()...)
}

// Drift is the list as text.
func (s Style) Drift(d *Drifted) string {
	l := &lines{style: s}
	colours := map[drift.State]string{drift.Unreconciled: yellow, drift.Reconciled: green, drift.Reverted: faint}
	for _, c := range d.Changes {
		head := fmt.Sprintf("%s %s (%s), %s ago, %s", c.title(), c.Key, c.Operation, age(d.Now, c.Since), cmp.Or(c.Owner, "nobody's"))
		l.line(colours[c.State], Escape(string(c.State)+": "+head))
		l.line(faint, "     "+Escape(c.story()))
		if len(c.Fields) == 0 || c.Manager == "" && c.Operation != "update" {
			l.line(plain, "     "+Escape(c.Why))
		}
		for _, f := range c.Fields {
			l.line(plain, "     "+Escape(f.Path+": "+f.Why))
		}
		if c.Settled {
			l.line(green, "     recorded as reconciled")
		}
	}
	for _, unseen := range d.Unseen {
		l.line(red, "! not looked at: "+Escape(unseen))
	}
	switch open := len(d.Open(0)); {
	case open > 0:
		l.line(yellow, count(open, "object was", "objects were")+" changed past Git, and Git does not have it")
	case len(d.Unseen) == 0:
		l.line(green, "Git has every direct change")
	}
	return l.out.String()
}

func (c DirectChange) title() string {
	if c.Request == nil {
		return "past changeward:"
	}
	return fmt.Sprintf("%s (#%d)", c.Request.ID, c.Request.Number)
}

func (c DirectChange) story() string {
	if c.Request == nil {
		return "by " + c.Manager
	}
	story := "by " + cmp.Or(c.who(), "somebody")
	if approvers := c.approvers(); len(approvers) > 0 {
		story += ", approved by " + strings.Join(approvers, ", ")
	}
	if c.Request.Header.Reason != "" {
		story += ": " + c.Request.Header.Reason
	}
	if c.Request.Header.Ticket != "" {
		story += " (" + c.Request.Header.Ticket + ")"
	}
	return story
}
