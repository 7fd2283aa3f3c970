package manifest

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/state"
)

// Source is where an object came from.
type Source struct {
	File string // as given; "-" for standard input
	Line int    // of the object's first line, from 1
}

// String is "file:line".
func (s Source) String() string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Object is one desired object: decoded JSON (string, bool, int64, float64,
// nil, []any, map[string]any) and where it came from.
type Object struct {
	Content map[string]any
	Source  Source
	Notes   []string // what was changed in it on the way in, for people
	// Sealed says why values of it are not known; "" says that they are.
	Sealed string
	// Stripped is what Strip dropped: status, and members of metadata. Appliers
	// other than changeward send it.
	Stripped map[string]any
}

// APIVersion, Kind, Name, GenerateName and Namespace read the usual members;
// "" where absent or not a string (Parse has refused the latter).
func (o Object) APIVersion() string { return text(o.Content, "apiVersion") }

// Kind of the object.
func (o Object) Kind() string { return text(o.Content, "kind") }

// Group is the API group, "" for the core group.
func (o Object) Group() string {
	group, _, found := strings.Cut(o.APIVersion(), "/")
	if !found {
		return ""
	}
	return group
}

// Version is the API version without the group.
func (o Object) Version() string {
	_, version, found := strings.Cut(o.APIVersion(), "/")
	if !found {
		return o.APIVersion()
	}
	return version
}

// Name of the object.
func (o Object) Name() string { return text(o.metadata(), "name") }

// GenerateName of the object.
func (o Object) GenerateName() string { return text(o.metadata(), "generateName") }

// Namespace of the object, as resolved.
func (o Object) Namespace() string { return text(o.metadata(), "namespace") }

// Key is the object's identity.
func (o Object) Key() Key {
	return Key{Group: o.Group(), Kind: o.Kind(), Namespace: o.Namespace(), Name: o.Name()}
}

// Annotations are the object's annotations. Values that are no strings were
// refused by Parse, and a masked one reads as such: nothing is hidden here.
func (o Object) Annotations() map[string]string { return texts(o.metadata(), "annotations") }

// Labels are the object's labels.
func (o Object) Labels() map[string]string { return texts(o.metadata(), "labels") }

func (o Object) metadata() map[string]any {
	metadata, _ := o.Content["metadata"].(map[string]any)
	return metadata
}

// Key is the identity of an object: never its version.
type Key struct{ Group, Kind, Namespace, Name string }

// String is namespace/Kind/name, or Kind/name, with the group behind the kind
// where there is one: shop/Deployment.apps/web.
func (k Key) String() string {
	kind := k.Kind
	if k.Group != "" {
		kind += "." + k.Group
	}
	if k.Namespace == "" {
		return kind + "/" + k.Name
	}
	return k.Namespace + "/" + kind + "/" + k.Name
}

// Problem is one thing wrong with an input. It is an error; several are
// reported at once.
type Problem struct {
	Source  Source
	Key     Key    // of the object, as far as known
	Path    string // field path, where there is one
	Reason  string // a Reason constant
	Message string
	// Object is the one that is left out, where it could be read and is no
	// Secret: others of the set may need what it would bring.
	Object *Object
}

// Error names file, line, object, path and cause.
func (p Problem) Error() string {
	parts := []string{p.Source.String()}
	if p.Key.Kind != "" {
		parts = append(parts, p.Key.String())
	}
	if p.Path != "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(append(parts, p.Message), ": ")
}

// Set is the manifest set: the desired objects, in order, each of one
// identity, namespaces resolved.
type Set struct {
	Objects []Object
	// Refused are objects that are left out for their problems. They are not
	// planned, but what needs them is planned as if they arrived, so that one
	// error makes no others.
	Refused []Object
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func texts(m map[string]any, key string) map[string]string {
	out := map[string]string{}
	members, _ := m[key].(map[string]any)
	for k, v := range members {
		switch v := v.(type) {
		case string:
			out[k] = v
		case state.Masked:
			out[k] = "(masked)"
		}
	}
	return out
}
