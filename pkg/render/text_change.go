package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/plan"
)

const indent = "     "

func (l *lines) change(c plan.Change) {
	l.line(colourOf(c.Body.Operation), plan.Symbol(c.Body.Operation)+" "+Object(c.Body.Key())+" ("+title(c)+")")
	for _, risk := range c.Risks {
		if !shownAbove(risk) {
			l.line(yellow, indent+"! "+Escape(strings.TrimSuffix(risk.Name+": "+risk.Detail, ": ")))
		}
	}
	for _, transition := range c.Body.Transitions {
		l.transition(transition)
	}
	l.content(c)
	for _, key := range slices.Sorted(maps.Keys(c.Body.Control)) {
		if l.style.Full {
			l.line(plain, indent+"steered by "+Escape(key)+": "+Quote(c.Body.Control[key]))
		}
	}
	for _, taken := range c.Body.TakesOver {
		l.line(yellow, indent+"takes over "+Escape(taken.Path)+" from "+Quote(taken.Manager))
	}
	for _, added := range c.Body.Admission {
		l.line(yellow, indent+l.admission(added))
	}
	if c.Why != "" {
		l.line(plain, indent+"not reversible: "+Escape(c.Why))
	}
	if c.Unverified != "" {
		l.line(yellow, indent+"unverified: "+Escape(c.Unverified))
	}
	for _, note := range c.Notes {
		l.line(faint, indent+"note: "+Escape(note))
	}
}

func colourOf(op plan.Operation) string {
	switch op {
	case plan.Create:
		return green
	case plan.Update:
		return yellow
	case plan.Delete, plan.Replace:
		return red
	case plan.Hook:
		return blue
	}
	return faint
}

// shownAbove are risks that the title, another line of the change, or the head
// of the plan says already.
func shownAbove(risk plan.Risk) bool {
	return slices.Contains([]string{plan.RiskHook, plan.RiskDelete, plan.RiskReplace, plan.RiskTakesOver, plan.RiskUnverified, plan.RiskMany}, risk.Name)
}

// title is the operation, and whatever makes this one special.
func title(c plan.Change) string {
	parts := []string{string(c.Body.Operation)}
	if c.Body.Operation == plan.Hook {
		parts = append(parts, c.Body.Phases...)
	}
	if mode := c.Body.Applier.Mode; mode != "" && mode != plan.ModeServerSide {
		parts = append(parts, mode)
	}
	if c.Body.Applier.Force && c.Body.Operation != plan.Delete {
		parts = append(parts, "force")
	}
	if c.Owner != "" {
		parts = append(parts, "owner "+c.Owner)
	}
	return Escape(strings.Join(parts, ", "))
}

// content is the object of a create, replace or hook, and what goes with a
// delete.
func (l *lines) content(c plan.Change) {
	if c.Body.Object != nil {
		l.block(plain, indent, EscapeBlock(object(c.Body.Object)))
	}
	d := c.Body.Delete
	if d == nil {
		return
	}
	if text := plan.DeletionText(c.Body); text != "" {
		l.line(red, indent+Escape(text))
	}
	l.line(plain, indent+"propagation: "+Escape(d.Propagation))
	for _, kind := range slices.Sorted(maps.Keys(d.Contents)) {
		l.line(red, fmt.Sprintf("%sdies with it: %d × %s", indent, d.Contents[kind], Escape(kind)))
	}
	for _, key := range slices.Sorted(maps.Keys(d.Guards)) {
		l.line(plain, indent+"guard "+Escape(key)+": "+Quote(d.Guards[key]))
	}
	if l.style.Full && d.Fields != nil {
		l.block(plain, indent, EscapeBlock(object(d.Fields)))
	}
}

func (l *lines) transition(t diff.Transition) {
	path := Escape(t.Path)
	if plan.IsDiffers(t.New) {
		l.line(yellow, indent+path+": "+plan.DiffersText)
		return
	}
	if large(t.Old) || large(t.New) {
		l.largeTransition(path, t)
		return
	}
	switch t.Action {
	case diff.Add:
		l.line(green, indent+path+": + "+l.style.inline(t.New))
	case diff.Remove:
		l.line(red, indent+path+": - "+l.style.inline(t.Old))
	case diff.Order:
		l.line(plain, indent+path+": order "+l.style.inline(t.Old)+" → "+l.style.inline(t.New))
	default:
		l.line(plain, indent+path+": "+l.style.inline(t.Old)+" → "+l.style.inline(t.New))
	}
}

// largeTransition shows a text of several lines, a list or a map as a hunk.
func (l *lines) largeTransition(path string, t diff.Transition) {
	var before, after string
	if t.Action != diff.Add {
		before = text(t.Old)
	}
	if t.Action != diff.Remove {
		after = text(t.New)
	}
	l.line(plain, fmt.Sprintf("%s%s: (%s)", indent, path, t.Action))
	shown := 0
	hunk := hunks(before, after)
	for _, line := range hunk {
		if shown++; shown > maxLines && !l.style.Full {
			l.line(faint, indent+"  … "+count(len(hunk)-maxLines, "more line", "more lines")+
				", now "+size(t.New, after)+" (shown by -o json and by approve)")
			return
		}
		l.line(hunkColour(line), indent+"  "+l.style.cut(line, line))
	}
}

func hunkColour(line string) string {
	switch line[0] { // never empty: the operation comes first
	case '+':
		return green
	case '-':
		return red
	case '@':
		return blue
	}
	return plain
}

func (l *lines) admission(added plan.AdmissionValue) string {
	switch added.Mark {
	case plan.MarkAssigned:
		return Escape(added.Path) + ": " + plan.AssignedText
	case plan.MarkDiffers:
		return Escape(added.Path) + ": (set by admission, differs from run to run)"
	}
	return "set by admission: " + Escape(added.Path) + ": " + l.style.inline(added.Value)
}
