package flux

import (
	"strconv"

	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/go-openapi/jsonpointer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/changeward/changeward/pkg/dryrun"
)

// ignored are the rules of spec.ignore, ready to be matched.
type ignored jsondiff.CompiledIgnoreRules

func (k *Kustomization) ignored() (ignored, error) {
	var rules []jsondiff.IgnoreRule
	for _, rule := range k.Ignore {
		compiled := jsondiff.IgnoreRule{Paths: rule.Paths}
		if rule.Target != nil {
			selector := jsondiff.Selector(*rule.Target)
			compiled.Selector = &selector
		}
		rules = append(rules, compiled)
	}
	compiled, err := jsondiff.CompileIgnoreRules(rules)
	return ignored(compiled), err
}

// paths that are ignored in an object, as JSON pointers.
func (i ignored) paths(merged *unstructured.Unstructured) []string {
	var out []string
	for selector, paths := range i {
		if selector.MatchUnstructured(merged) {
			out = append(out, paths...)
		}
	}
	return out
}

// unmoved says that the controller sends nothing: labels, annotations and all
// that is outside metadata and status are as they were, but for ignored paths.
func (i ignored) unmoved(live, merged *unstructured.Unstructured) bool {
	if paths := i.paths(merged); len(paths) > 0 {
		patch := jsondiff.GenerateRemovePatch(paths...)
		live, merged = live.DeepCopy(), merged.DeepCopy()
		for _, object := range []*unstructured.Unstructured{live, merged} {
			if err := jsondiff.ApplyPatchToUnstructured(object, patch); err != nil {
				return false
			}
		}
	}
	equal := apiequality.Semantic.DeepEqual
	return equal(live.GetLabels(), merged.GetLabels()) && equal(live.GetAnnotations(), merged.GetAnnotations()) &&
		equal(compared(live), compared(merged))
}

// compared is what the controller compares of an object beside labels and
// annotations.
func compared(object *unstructured.Unstructured) map[string]any {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	for key, member := range object.Object {
		if key != "metadata" && key != "status" {
			out.Object[key] = member
		}
	}
	if err := normalize.DryRunUnstructured(out); err != nil {
		return object.Object
	}
	return out.Object
}

// adjust is the content that is sent where the dry run moves ignored paths:
// without those that another applier holds, with the live value of the others.
// nil means that nothing is adjusted.
func (i ignored) adjust(desired map[string]any, live, merged *unstructured.Unstructured) (map[string]any, error) {
	var strip jsondiff.IgnorePaths
	var adopt []jsondiff.ReplaceOp
	for _, path := range i.paths(merged) {
		before, had := lookup(live, path)
		after, has := lookup(merged, path)
		switch {
		case had == has && apiequality.Semantic.DeepEqual(before, after):
		case heldByOthers(live, path):
			strip = append(strip, path)
		default:
			adopt = append(adopt, jsondiff.ReplaceOp{Path: path, Value: before})
		}
	}
	if len(strip)+len(adopt) == 0 {
		return nil, nil
	}
	out := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(desired)}
	if err := jsondiff.ApplyPatchToUnstructured(out, jsondiff.GenerateRemovePatch(strip...)); err != nil {
		return nil, err
	}
	err := jsondiff.ApplyPatchToUnstructured(out, jsondiff.GenerateReplacePatch(adopt...))
	return out.Object, err
}

func lookup(object *unstructured.Unstructured, pointer string) (any, bool) {
	at, err := jsonpointer.New(pointer)
	if err != nil {
		return nil, false
	}
	found, _, err := at.Get(object.Object)
	return found, err == nil
}

// heldByOthers says whether an applier other than Flux holds a path of LIVE.
func heldByOthers(live *unstructured.Unstructured, pointer string) bool {
	held := &fieldpath.Set{}
	for _, entry := range live.GetManagedFields() {
		if entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" || entry.Manager == Manager || entry.FieldsV1 == nil {
			continue
		}
		if set, err := dryrun.FieldsOf(entry); err == nil {
			held = held.Union(set)
		}
	}
	at, err := jsonpointer.New(pointer)
	if err != nil {
		return false
	}
	return holds(held, live.Object, at.DecodedTokens())
}

// holds follows a path in a set and in the object, which tells the keys of
// list entries.
func holds(set *fieldpath.Set, object any, tokens []string) bool {
	if len(tokens) == 0 {
		return false
	}
	element, below := fieldpath.FieldNameElement(tokens[0]), object
	if index, err := strconv.Atoi(tokens[0]); err == nil {
		entries, _ := object.([]any)
		if index < 0 || index >= len(entries) {
			return false
		}
		var found bool
		if element, found = keyOf(set, entries[index]); !found {
			return false
		}
		below = entries[index]
	} else {
		members, _ := object.(map[string]any)
		below = members[tokens[0]]
	}
	next, deeper := set.Children.Get(element)
	if len(tokens) == 1 {
		return deeper || set.Members.Has(element)
	}
	return deeper && holds(next, below, tokens[1:])
}

// keyOf is the key in a set that an entry of a list has.
func keyOf(set *fieldpath.Set, entry any) (found fieldpath.PathElement, ok bool) {
	content, _ := entry.(map[string]any)
	look := func(element fieldpath.PathElement) {
		if element.Key == nil || ok {
			return
		}
		for _, field := range *element.Key {
			if !value.Equals(field.Value, value.NewValueInterface(content[field.Name])) {
				return
			}
		}
		found, ok = element, true
	}
	set.Members.Iterate(look)
	set.Children.Iterate(look)
	return found, ok
}
