package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// observed is the change that an observation stands for, and what the server
// warned of.
type observed struct {
	subject
	warnings []string
}

// changeOf decides the operation and fills in the body. A failure is the
// observation's own, or says why no operation is right.
func changeOf(o Observation, b bounds) (observed, *Failure) {
	phases, warnings, isHook := manifest.Hook(o.Object)
	out := observed{warnings: append(slices.Clone(warnings), o.Warnings...)}
	out.live, out.merged, out.owners = o.Live, o.Merged, o.Owners
	out.Change = Change{
		Body: bodyOf(o), Applier: o.Applier.Name, Source: o.Object.Source,
		Unverified: o.Unverified, Skipped: o.Skip, Notes: slices.Clone(o.Notes), Holders: o.Holders,
		Owner: ownerOf(o.Owners),
	}
	switch {
	case o.Failure != nil:
		return out, o.Failure
	case isHook && !o.NoHooks:
		out.Body.Operation, out.Body.Phases = Hook, phases
		out.Body.Object = desired(o)
	case o.Skip != "":
		out.Body.Operation = None
	case o.Merged == nil && (o.Live != nil || o.Unverified == ""):
		return out, unaccounted("there is no answer of the server to compare with")
	case o.Live == nil || o.Replace:
		out.Body.Operation, out.Body.Object = Create, desired(o)
		if o.Effective != nil {
			out.Body.Object, out.Stated = diff.Clean(o.Effective, o.StatusSubresource), out.Body.Object
		}
		if o.Replace {
			if err := out.replace(o, b); err != nil {
				return out, &Failure{Reason: ReasonInvalid, Message: err.Error()}
			}
		}
		return out, out.admit(o, b)
	default:
		return out, out.compare(o, b)
	}
	return out, nil
}

func (out *observed) replace(o Observation, b bounds) (err error) {
	out.Body.Operation = Replace
	out.Body.LiveUID, _ = metadata(o.Live, "uid").(string)
	out.Body.Live, err = b.digestOf(o.clean(o.Live), o.Schema)
	return err
}

// admit fills in what admission adds to a new object.
func (out *observed) admit(o Observation, b bounds) *Failure {
	added, ignored := b.admission(o.Admission)
	var random random
	if o.Again != nil {
		again, _ := b.admission(o.Again.Admission)
		added = random.admission(added, again)
	}
	out.Body.Admission = slices.SortedFunc(slices.Values(added), func(a, b AdmissionValue) int {
		return strings.Compare(a.Path, b.Path)
	})
	out.Notes = slices.Concat(out.Notes, noteIgnored(ignored), random.notes())
	return random.failure()
}

func bodyOf(o Observation) Body {
	key := keyOf(o.Object)
	control := manifest.Control(o.Object)
	if len(control) == 0 {
		control = nil // as it is read back
	}
	return Body{
		Group: key.Group, Version: o.Object.Version(), Kind: key.Kind, Namespace: key.Namespace, Name: key.Name,
		Applier: HashedApplier{Mode: o.Applier.Mode, Manager: o.Applier.Manager, Force: o.Applier.Force},
		Control: control,
	}
}

func desired(o Observation) any { return diff.Clean(o.Object.Content, o.StatusSubresource) }

// compare makes an update of what differs. An object is unchanged only if LIVE
// and MERGED are equal, but for what policy leaves out, and the server would not
// count a new generation either.
func (out *observed) compare(o Observation, b bounds) *Failure {
	if metadata(o.Live, "uid") != metadata(o.Merged, "uid") {
		return unaccounted("LIVE and MERGED are two objects: their uid differs")
	}
	live, all := o.clean(o.Live), o.transitions()
	equal := diff.Equal(live, o.clean(o.Merged))
	switch {
	case equal != (len(all) == 0):
		return unaccounted("LIVE and MERGED differ, and no field accounts for it")
	case equal && !diff.Equal(metadata(o.Live, "generation"), metadata(o.Merged, "generation")) && !bookkept(o):
		return unaccounted("the server would count a new generation, and no field accounts for it")
	}
	transitions, ignored := b.transitions(all)
	var random random
	if o.Again != nil {
		again, _ := b.transitions(o.again().transitions())
		transitions = random.transitions(transitions, again)
	}
	out.Notes = slices.Concat(out.Notes, noteIgnored(ignored), random.notes())
	out.noteLastApplied(o)
	if onlyDrawn(transitions) {
		out.Body.Operation = None
		for _, path := range random.differ {
			out.warnings = append(out.warnings, path+" would get another value, as at each write")
		}
		return random.failure()
	}
	if err := out.update(o, transitions, b); err != nil {
		return &Failure{Reason: ReasonInvalid, Message: err.Error()}
	}
	return random.failure()
}

func (out *observed) update(o Observation, transitions []diff.Transition, b bounds) (err error) {
	out.Body.Operation, out.Body.Transitions = Update, transitions
	out.Body.LiveUID, _ = metadata(o.Live, "uid").(string)
	out.Body.TakesOver = slices.SortedFunc(slices.Values(o.TakesOver), func(a, b Takeover) int {
		return strings.Compare(a.Path+"\x00"+a.Manager, b.Path+"\x00"+b.Manager)
	})
	out.Body.Live, err = b.digestOf(o.clean(o.Live), o.Schema)
	return err
}

// noteLastApplied says when a client-side applier's bookkeeping begins or
// ends: what it holds is none of a plan's business.
func (out *observed) noteLastApplied(o Observation) {
	before, after := annotated(o.Live, diff.LastApplied), annotated(o.Merged, diff.LastApplied)
	switch {
	case !before && after:
		out.Notes = append(out.Notes, "the annotation "+diff.LastApplied+" will be there for the first time")
	case before && !after:
		out.Notes = append(out.Notes, "the annotation "+diff.LastApplied+" will be gone")
	}
}

func unaccounted(message string) *Failure {
	return &Failure{Reason: ReasonUnaccounted, Message: message}
}

func metadata(obj map[string]any, key string) any {
	members, _ := obj["metadata"].(map[string]any)
	return members[key]
}

// bookkept says that last-applied changes: where annotations count for a new
// generation, as those of Deployments do, that accounts for it.
func bookkept(o Observation) bool {
	of := func(object map[string]any) any {
		annotations, _ := metadata(object, "annotations").(map[string]any)
		return annotations[diff.LastApplied]
	}
	return !diff.Equal(of(o.Live), of(o.Merged))
}

func annotated(obj map[string]any, key string) bool {
	annotations, _ := metadata(obj, "annotations").(map[string]any)
	_, there := annotations[key]
	return there
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
