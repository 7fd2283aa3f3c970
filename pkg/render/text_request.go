package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

// Requests is change requests as a table. now is the store's clock, for ages.
func Requests(requests []gate.Request, now time.Time) string {
	rows := make([][]string, 0, len(requests))
	for _, r := range requests {
		rows = append(rows, []string{"#" + strconv.Itoa(r.Number), r.ID, status(r, now), r.Header.Scope,
			who(r.Header), age(now, r.Created)})
	}
	return Table([]string{"NUMBER", "CHANGE", "STATUS", "SCOPE", "BY", "AGE"}, rows)
}

// RequestRows are the rows of some of all requests, aligned as in the table of
// all, without its header.
func RequestRows(all, some []gate.Request, now time.Time) string {
	shown := map[string]bool{}
	for _, r := range some {
		shown[r.ID] = true
	}
	rows := ""
	_, table, _ := strings.Cut(Requests(all, now), "\n")
	for i, row := range slices.Collect(strings.Lines(table)) {
		if shown[all[i].ID] {
			rows += row
		}
	}
	return rows
}

// status is that of a request, and whether somebody still has to look at it.
func status(r gate.Request, now time.Time) string {
	switch {
	case !r.Unreviewed():
		return string(r.Status)
	case r.Emergency.Overdue(now):
		return string(r.Status) + ", REVIEW OVERDUE"
	}
	return string(r.Status) + ", unreviewed"
}

// who is the person behind a request: the author where the forge names one.
func who(header state.Plan) string {
	if header.Author == nil {
		return header.Proposer.Username
	}
	return author(*header.Author)
}

func author(a state.Author) string {
	if a.Claimed {
		return a.Name + " (claimed)"
	}
	return a.Name
}

func age(now, then time.Time) string {
	if then.IsZero() {
		return "unknown"
	}
	return duration.HumanDuration(now.Sub(then))
}

// Request is a change request as text: who asks, from where, what was
// decided. The plan is printed apart.
func (s Style) Request(r gate.Request) string {
	l := &lines{style: s}
	l.line(bold, fmt.Sprintf("change %s (#%d): %s", Escape(r.ID), r.Number, Escape(string(r.Status))))
	if r.Void != "" {
		l.line(red, "  cannot be used: "+Escape(r.Void+because(r.Detail)))
	}
	l.field("scope", r.Header.Scope)
	l.field("proposer", r.Header.Proposer.Username)
	if a := r.Header.Author; a != nil {
		l.field("author", author(*a))
	}
	l.field("created", Time(r.Created))
	l.field("revision", r.Header.Revision)
	l.field("run", r.Header.CI)
	l.field("reason", r.Header.Reason)
	l.field("ticket", r.Header.Ticket)
	l.field("plan signed by", r.SignedBy)
	l.field("plan hash", r.Hash)
	l.decisions(r.Decisions)
	l.emergency(r.Emergency)
	for _, o := range r.Outcomes {
		l.outcome(o)
	}
	return l.out.String()
}

// outcome names the objects that are not simply as approved: the others are
// counted.
func (l *lines) outcome(o state.Outcome) {
	text := fmt.Sprintf("%s, %s by %s", o.Result, written(o.Time), cmp.Or(o.Actor.Username, "unknown"))
	if o.Revision != "" {
		text += ", in Git at " + o.Revision
	}
	if len(o.Objects) > 0 {
		text += ": " + count(len(o.Objects), "object", "objects")
	}
	l.line(plain, "  "+Escape(text))
	for _, r := range o.Objects {
		if slices.Contains([]string{state.ObjectWritten, state.ObjectUnchanged, state.ObjectReconciled}, r.Result) {
			continue
		}
		l.line(yellow, "    "+Escape(objectResult(r)))
	}
}

// objectResult is what became of one object, in one line.
func objectResult(r state.ObjectResult) string {
	key := manifest.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
	text := key.String() + ": " + r.Result + because(r.Reason)
	if len(r.Fields) > 0 {
		text += " at " + strings.Join(r.Fields, ", ")
	}
	if len(r.Managers) > 0 {
		text += ", by " + strings.Join(r.Managers, ", ")
	}
	return text
}

// written is a time of a record for people; as it stands where it is none.
func written(stamp string) string {
	if t, err := time.Parse(time.RFC3339, stamp); err == nil {
		return Time(t)
	}
	return stamp
}

func (l *lines) field(name, value string) {
	if value != "" {
		l.line(plain, "  "+name+": "+Escape(value))
	}
}

func (l *lines) emergency(e *gate.Emergency) {
	if e == nil {
		return
	}
	l.line(yellow, "  "+Escape(fmt.Sprintf("approved in an emergency by %s at %s%s", e.By, Time(e.At), because(e.Reason))))
	if e.Reviewed == nil {
		l.line(red, "  unreviewed: another person is to look at it by "+Time(e.Due))
	} else {
		d := e.Reviewed
		l.line(plain, "  "+Escape(fmt.Sprintf("reviewed by %s (%s) at %s%s", d.Predicate.Person.Username, d.Fingerprint, Time(d.Record.Created), because(d.Predicate.Reason))))
	}
	for _, d := range e.Void {
		l.line(yellow, "  "+Escape(fmt.Sprintf("a review by %s does not count: %s%s", d.Predicate.Person.Username, d.Reason, because(d.Detail))))
	}
}
