package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kinds answers from the server's discovery.
type Kinds interface {
	// Scope says whether the server serves a kind, and whether its objects
	// live in namespaces.
	Scope(group, version, kind string) (namespaced, known bool)
}

// Unreadable is what Kinds may know besides: why the kinds of a group could
// not be read, nil where they could. Such a kind is not said to be unknown.
type Unreadable interface{ Unreadable(group string) error }

// Resolve makes the manifest set. What an export carries is stripped (Strip).
// Each object gets its identity, as kubectl would: objects of
// namespaced kinds without a namespace get defaultNamespace; a namespace on an
// object of a cluster-wide kind, which the server ignores, is dropped and
// noted. Kinds that the server does not know get their scope from the CRDs
// among the objects. Unknown kinds and objects of one identity (never the
// version) are left out, each with a Problem; hooks without a name have none.
// parsing are the problems of Parse: what those objects would bring counts, too.
func Resolve(objects []Object, kinds Kinds, defaultNamespace string, parsing ...Problem) (Set, []Problem) {
	refused := objectsOf(parsing)
	r := resolver{kinds: kinds, defined: defined(slices.Concat(objects, refused)), namespace: cmp.Or(defaultNamespace, "default")}
	places := map[Key][]string{}
	var resolved []Object
	for _, object := range objects {
		if object, ok := r.resolve(Strip(object)); ok {
			resolved = append(resolved, object)
			places[object.Key()] = append(places[object.Key()], object.Source.String())
		}
	}
	var set Set
	for _, object := range resolved {
		key := object.Key()
		where := places[key]
		if key.Name == "" || len(where) == 1 {
			set.Objects = append(set.Objects, object)
			continue
		}
		if len(where) > 1 {
			r.problems = append(r.problems, Problem{Source: object.Source, Key: key, Object: &object, Reason: ReasonDuplicateObject,
				Message: fmt.Sprintf("stands in the set %d times: %s", len(where), strings.Join(where, ", "))})
		}
		places[key] = nil // reported
	}
	unheard := resolver{kinds: r.kinds, defined: r.defined, namespace: r.namespace}
	for _, object := range slices.Concat(refused, objectsOf(r.problems)) {
		object, _ = unheard.resolve(object)
		set.Refused = append(set.Refused, object)
	}
	return set, r.problems
}

// objectsOf are the objects of problems, each once.
func objectsOf(problems []Problem) []Object {
	var out []Object
	for i, problem := range problems {
		if problem.Object != nil && (i == 0 || problems[i-1].Object != problem.Object) {
			out = append(out, *problem.Object)
		}
	}
	return out
}

// Outside are the objects of other namespaces than the one that a user named
// as the only one (-n with kubectl).
func Outside(set Set, namespace string) []Problem {
	var problems []Problem
	for _, object := range set.Objects {
		if own := object.Namespace(); own != "" && own != namespace {
			problems = append(problems, Problem{Source: object.Source, Key: object.Key(), Path: "metadata.namespace", Reason: ReasonOtherNamespace,
				Message: fmt.Sprintf("is %q, but only namespace %q was asked for", own, namespace)})
		}
	}
	return problems
}

type resolver struct {
	kinds     Kinds
	defined   map[gvk]bool
	namespace string
	problems  []Problem
}

func (r *resolver) resolve(object Object) (Object, bool) {
	namespaced, known := r.kinds.Scope(object.Group(), object.Version(), object.Kind())
	if !known {
		namespaced, known = r.defined[gvk{object.Group(), object.Version(), object.Kind()}]
	}
	switch {
	case !known:
		r.problems = append(r.problems, r.unknown(object))
		return object, false
	case namespaced && object.Namespace() == "":
		return object.withMetadata(func(metadata map[string]any) { metadata["namespace"] = r.namespace }), true
	case !namespaced && object.Namespace() != "":
		object.Notes = append(object.Notes, fmt.Sprintf("metadata.namespace %q ignored: the kind is cluster-wide", object.Namespace()))
		return object.withMetadata(func(metadata map[string]any) { delete(metadata, "namespace") }), true
	default:
		return object, true
	}
}

func (r *resolver) unknown(object Object) Problem {
	problem := Problem{Source: object.Source, Key: object.Key(), Object: &object, Reason: ReasonUnknownKind,
		Message: fmt.Sprintf("unknown kind %s in %s: neither the server nor a CRD of this set defines it", object.Kind(), object.APIVersion())}
	if kinds, ok := r.kinds.(Unreadable); ok && kinds.Unreadable(object.Group()) != nil {
		problem.Reason = ReasonUnreadable
		problem.Message = fmt.Sprintf("the server could not say which kinds it serves in group %s: %v", object.Group(), kinds.Unreadable(object.Group()))
	}
	return problem
}

// withMetadata is a copy of the object with changed metadata.
func (o Object) withMetadata(change func(metadata map[string]any)) Object {
	metadata := maps.Clone(o.metadata())
	if metadata == nil {
		metadata = map[string]any{}
	}
	change(metadata)
	o.Content = maps.Clone(o.Content)
	o.Content["metadata"] = metadata
	return o
}

type gvk struct{ group, version, kind string }

// defined are the kinds that the CRDs among the objects define, and whether
// they are namespaced.
func defined(objects []Object) map[gvk]bool {
	out := map[gvk]bool{}
	for _, object := range objects {
		if object.Group() != "apiextensions.k8s.io" || object.Kind() != "CustomResourceDefinition" {
			continue
		}
		spec, _ := object.Content["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		versions, _ := spec["versions"].([]any)
		for _, entry := range versions {
			version, _ := entry.(map[string]any)
			if served, ok := version["served"].(bool); served || !ok {
				out[gvk{text(spec, "group"), text(version, "name"), text(names, "kind")}] = text(spec, "scope") == "Namespaced"
			}
		}
	}
	return out
}
