package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// Look is what a second dry run of an object answered: only what is compared
// with the first.
type Look struct {
	Live, Merged map[string]any
	Admission    []AdmissionValue
}

// Differs is the mark that stands in a plan for a value that differs from one
// dry run to the next.
func Differs() any { return map[string]any{"mark": MarkDiffers} }

// IsDiffers says whether a value is that mark.
func IsDiffers(value any) bool {
	members, ok := value.(map[string]any)
	return ok && len(members) == 1 && members["mark"] == MarkDiffers
}

// Twice joins two looks at one object. What it answers holds the second in
// Again, and Build marks what differs between them. With moved, someone wrote
// fields in between that the plan touches, or the object itself came or went:
// the answer is the second look alone, and another is needed.
func Twice(first, second Observation) (joined Observation, moved bool) {
	second.Owners = first.Owners // not a matter of dry runs
	switch {
	case second.Failure != nil:
		return second, false
	case first.Live == nil != (second.Live == nil), metadata(first.Live, "uid") != metadata(second.Live, "uid"),
		first.Unverified != second.Unverified, first.Skip != second.Skip, first.Replace != second.Replace,
		!slices.Equal(first.TakesOver, second.TakesOver):
		return second, true
	}
	if first.Live != nil && !first.Replace && touched(first, second) {
		return second, true
	}
	first.Again = &Look{Live: second.Live, Merged: second.Merged, Admission: second.Admission}
	return first, false
}

// touched says that LIVE moved in between where the plan touches it: at a path
// that changes in one look and not in the other, or from another old value to
// the same new one.
func touched(first, second Observation) bool {
	now := byPath(second.transitions())
	var suspects []string
	for _, t := range first.transitions() {
		other, still := now[t.Path]
		delete(now, t.Path)
		switch {
		case !still:
			suspects = append(suspects, t.Path)
		case diff.Equal(t.New, other.New) && !diff.Equal(t.Old, other.Old):
			return true
		}
	}
	suspects = slices.AppendSeq(suspects, maps.Keys(now))
	if len(suspects) == 0 {
		return false
	}
	for _, foreign := range diff.Objects(first.clean(first.Live), second.clean(second.Live), nil, first.schema(second)) {
		if slices.ContainsFunc(suspects, func(path string) bool { return overlap(path, foreign.Path) }) {
			return true
		}
	}
	return false
}

func overlap(a, b string) bool {
	x, _ := diff.ParsePath(a)
	y, _ := diff.ParsePath(b)
	n := min(len(x), len(y))
	return slices.Equal(x[:n], y[:n])
}

func (o Observation) clean(object map[string]any) map[string]any {
	return diff.Clean(object, o.StatusSubresource)
}

// schema is the one of either look: an object that would not change has none.
func (o Observation) schema(other Observation) *diff.Schema {
	if o.Schema == nil {
		return other.Schema
	}
	return o.Schema
}

func (o Observation) transitions() []diff.Transition {
	out := diff.Objects(o.clean(o.Live), o.clean(o.Merged), o.Object.Content, o.Schema)
	markAssigned(out, o.Admission)
	return out
}

// again is the object as the second look has it.
func (o Observation) again() Observation {
	o.Live, o.Merged, o.Admission = o.Again.Live, o.Again.Merged, o.Again.Admission
	return o
}

func byPath(transitions []diff.Transition) map[string]diff.Transition {
	out := make(map[string]diff.Transition, len(transitions))
	for _, t := range transitions {
		out[t.Path] = t
	}
	return out
}

// random is the outcome of comparing two looks: the paths of values that
// differ, and of fields that are there in one of them only.
type random struct{ differ, come []string }

// failure refuses what no mark can stand for: a plan must bind every field.
func (r random) failure() *Failure {
	if len(r.come) == 0 {
		return nil
	}
	return &Failure{Reason: ReasonRandom, Message: fmt.Sprintf(
		"two dry runs in a row set other fields: %s; policy can leave them out (ignorePaths)", strings.Join(r.come, ", "))}
}

func (r random) notes() []string {
	if len(r.differ) == 0 {
		return nil
	}
	return []string{"differs from one dry run to the next: " + strings.Join(r.differ, ", ")}
}

// transitions marks what differs between the two looks at an update. A field
// that is set anew at each write held such a value before, too: its old value,
// and whether there was one, say nothing. One that changes in a single look had
// LIVE's value in the other, as a time stamp has within its second.
func (r *random) transitions(first, second []diff.Transition) []diff.Transition {
	here, there := byPath(first), byPath(second)
	out := make([]diff.Transition, 0, len(first))
	for len(first) > 0 || len(second) > 0 {
		switch {
		case len(first) > 0 && len(second) > 0 && first[0].Path == second[0].Path:
			out = append(out, r.both(first[0], second[0]))
			first, second = first[1:], second[1:]
		case alone(first, there) && (!alone(second, here) || first[0].Path < second[0].Path):
			out, first = append(out, r.one(first[0])), first[1:]
		case alone(second, here):
			out, second = append(out, r.one(second[0])), second[1:]
		default: // the same fields in another order: nothing that a walk does
			r.come = append(r.come, first[0].Path)
			return out
		}
	}
	return out
}

// alone says that the first of these is not in the other look.
func alone(transitions []diff.Transition, other map[string]diff.Transition) bool {
	if len(transitions) == 0 {
		return false
	}
	_, shared := other[transitions[0].Path]
	return !shared
}

func (r *random) both(t, other diff.Transition) diff.Transition {
	switch {
	case t.Action != other.Action && (t.Action == diff.Remove || other.Action == diff.Remove):
		r.come = append(r.come, t.Path)
	case t.Action != diff.Remove:
		t.New = r.value(t.Path, t.New, other.New)
		if IsDiffers(t.New) {
			t.Action, t.Old = diff.Change, Differs()
		}
	}
	return t
}

func (r *random) one(t diff.Transition) diff.Transition {
	if t.Action != diff.Change {
		r.come = append(r.come, t.Path)
		return t
	}
	r.differ = append(r.differ, t.Path)
	t.Old, t.New = Differs(), Differs()
	return t
}

// onlyDrawn says that nothing would change but annotations and labels that are
// set to another value at each write, whoever writes: nobody decides those.
func onlyDrawn(transitions []diff.Transition) bool {
	return !slices.ContainsFunc(transitions, func(t diff.Transition) bool {
		return !IsDiffers(t.New) || !strings.HasPrefix(t.Path, "metadata.annotations") && !strings.HasPrefix(t.Path, "metadata.labels")
	})
}

// admission marks what differs of what admission adds to a new object.
func (r *random) admission(first, second []AdmissionValue) []AdmissionValue {
	again := map[string]AdmissionValue{}
	for _, a := range second {
		again[a.Path] = a
	}
	out := make([]AdmissionValue, 0, len(first))
	for _, a := range first {
		other, still := again[a.Path]
		delete(again, a.Path)
		if !still || a.Mark != other.Mark {
			r.come = append(r.come, a.Path)
		} else if a.Value = r.value(a.Path, a.Value, other.Value); IsDiffers(a.Value) {
			a.Value, a.Mark = nil, MarkDiffers
		}
		out = append(out, a)
	}
	r.come = append(r.come, slices.Sorted(maps.Keys(again))...)
	return out
}

// value is what both looks agree on, with the mark in place of each value that
// differs, as deep as they have the same form.
func (r *random) value(path string, a, b any) any {
	if diff.Equal(a, b) {
		return a
	}
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok && sameKeys(x, y) {
			out := make(map[string]any, len(x))
			for _, key := range slices.Sorted(maps.Keys(x)) {
				out[key] = r.value(manifest.Child(path, key), x[key], y[key])
			}
			return out
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			out := make([]any, len(x))
			for i := range x {
				out[i] = r.value(manifest.Item(path, i), x[i], y[i])
			}
			return out
		}
	default:
		if !composite(b) {
			r.differ = append(r.differ, path)
			return Differs()
		}
	}
	r.come = append(r.come, path)
	return a
}

func sameKeys(a, b map[string]any) bool {
	return len(a) == len(b) && !slices.ContainsFunc(slices.Collect(maps.Keys(a)), func(key string) bool {
		_, there := b[key]
		return !there
	})
}

func composite(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
