package plan

import (
	"time"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

// Operation of a change.
type Operation string

// The operations.
const (
	Create  Operation = "create"
	Update  Operation = "update"
	Delete  Operation = "delete"
	Replace Operation = "replace"
	Hook    Operation = "hook"
	None    Operation = "none"
)

// Apply modes.
const (
	ModeServerSide = "server-side"
	ModeClientSide = "client-side"
	ModePut        = "put"
)

// DirectManager is the field manager of changeward's own applies.
const DirectManager = "changeward"

// Applier is who will really apply an object, and how. The name is for
// display; mode, manager and force are hashed.
type Applier struct {
	Name    string `json:"name"`
	Mode    string `json:"mode"`
	Manager string `json:"manager"`
	Force   bool   `json:"force"`
}

// Cluster is the cluster planned against: the UID of Namespace kube-system,
// and the policy's clusterName ("" without an install).
type Cluster struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// Failure says why an object could not be planned.
type Failure struct {
	Reason    string     // a Reason constant
	Message   string     // redacted, escaped by render
	Conflicts []Conflict // for Reason Conflict
}

// Conflict is one field that another manager holds, with the value that it
// would become.
type Conflict struct {
	Path, Manager string
	New           any
}

// Observation is what the server answered for one object: all that a plan is
// built from. Secret values are masked already.
type Observation struct {
	Object manifest.Object // desired, masked, server-assigned members stripped
	Live   map[string]any  // nil: the object does not exist
	Merged map[string]any  // nil: hook, or failed
	// Effective is of a new object what is hashed: desired without empty members
	// that make no difference, as the server says; nil: all of it.
	Effective map[string]any
	Schema    *diff.Schema // list kinds; nil: every list is atomic
	// StatusSubresource says that status is not part of an apply.
	StatusSubresource bool
	// ResourceVersion is LIVE's.
	ResourceVersion string
	Applier         Applier
	// NoHooks says that the applier knows no hooks: what looks like one is
	// applied like all other objects.
	NoHooks bool
	// Skip says why the applier leaves the object alone; "" means that it does
	// not.
	Skip string
	// Replace says that the applier deletes LIVE, and creates MERGED.
	Replace bool
	// TakesOver are the fields whose value is taken from another manager.
	TakesOver []Takeover
	// Unverified says what the server could not check; "" means that it did.
	Unverified string
	// Admission is what the server adds beyond manifest and defaults. Of an
	// update it is only what the server makes up: transitions show all else.
	Admission []AdmissionValue
	Warnings  []string
	Notes     []string
	Failure   *Failure
	// Holders tell who wrote a field of LIVE last, by its path. They are there
	// where LIVE and MERGED differ, and where they conflict.
	Holders map[string]Holder
	// Owners are who keeps the live object as it is, or says so.
	Owners []Owner
	// Again is a second look at the object, where one was taken (see Twice).
	Again *Look
}

// Holder is the manager of a field of LIVE, and when it last wrote.
type Holder struct {
	Manager string
	Time    time.Time
}

// AdmissionValue is a value that neither the manifest nor a default accounts
// for. Mark is "assigned" or "differs" where there is no value to bind; without
// mark and value, admission takes away what the manifest has.
type AdmissionValue struct {
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
	Mark  string `json:"mark,omitempty"`
}

// Body is the hashed part of a change.
type Body struct {
	Group       string            `json:"group"`
	Version     string            `json:"version"`
	Kind        string            `json:"kind"`
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	Operation   Operation         `json:"operation"`
	Applier     HashedApplier     `json:"applier"`
	LiveUID     string            `json:"liveUID,omitempty"`     // update, replace, delete
	Control     map[string]string `json:"control,omitempty"`     // annotations that steer appliers
	Transitions []diff.Transition `json:"transitions,omitempty"` // update
	TakesOver   []Takeover        `json:"takesOver,omitempty"`   // update
	Object      any               `json:"object,omitempty"`      // create, replace, hook
	Admission   []AdmissionValue  `json:"admission,omitempty"`   // create, replace
	Delete      *Deletion         `json:"delete,omitempty"`      // delete
	Phases      []string          `json:"phases,omitempty"`      // hook
	Live        string            `json:"live,omitempty"`        // update, replace, delete: digest of LIVE, where policy binds it whole
}

// HashedApplier is the part of an applier that decides the result.
type HashedApplier struct {
	Mode    string `json:"mode"`
	Manager string `json:"manager"`
	Force   bool   `json:"force"`
}

// Takeover is a field whose value is taken from another manager by force.
type Takeover struct {
	Manager string `json:"manager"`
	Path    string `json:"path"`
}

// Deletion is what a delete binds.
type Deletion struct {
	Propagation string            `json:"propagation"`
	Guards      map[string]string `json:"guards,omitempty"`
	Fields      any               `json:"fields,omitempty"`   // what the owner applied
	Contents    map[string]int    `json:"contents,omitempty"` // what dies with it, by kind
	Wanted      int               `json:"wanted,omitempty"`   // how much of that the manifests hold
	Volumes     []string          `json:"volumes,omitempty"`  // UIDs of the claims among it
	Claims      []string          `json:"claims,omitempty"`   // names of the claims among it
}

// Key is the identity of the changed object.
func (b Body) Key() manifest.Key {
	return manifest.Key{Group: b.Group, Kind: b.Kind, Namespace: b.Namespace, Name: b.Name}
}

// Risk is a named finding about a change. Names are API (see risk.go).
type Risk struct {
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"`
}

// Change is one object and its operation. Body is hashed; the rest is derived
// or for display.
type Change struct {
	Body       Body
	Digest     string // of Body
	Applier    string // display name
	Source     manifest.Source
	Reversible bool
	Why        string // why not reversible
	Unverified string
	Skipped    string // why the applier leaves the object alone
	Owner      string
	Risks      []Risk
	Notes      []string
	Holders    map[string]Holder // who wrote the fields that differ, by path
	// Stated is what the manifest says of a new object, where that is more than
	// Body.Object: empty members that make no difference.
	Stated any
}

// Failed is an object that could not be planned.
type Failed struct {
	Key     manifest.Key
	Version string
	Source  manifest.Source
	Failure
	Holders map[string]Holder
}

// Header is what planHash is made over.
type Header struct {
	Schema     string   `json:"schema"` // SchemaV1
	Rules      int      `json:"rules"`
	Cluster    Cluster  `json:"cluster"`
	Prune      bool     `json:"prune"`
	Changes    []string `json:"changes"`    // digests
	Unverified []string `json:"unverified"` // group/kind/namespace/name
}

// Plan is the sorted changes of one manifest set against one cluster.
type Plan struct {
	Header     Header
	Hash       string   // "sha256:…" of canonical(Header)
	Changes    []Change // all but none: group, kind, namespace, name, digest
	Unchanged  []Change // operation none, same order
	Failed     []Failed
	Scope      string
	Reversible bool
	Namespaces []string // that changed or failed objects live in
	Warnings   []string
}

// Complete says that every object could be planned: only then can a plan be
// approved or allowed.
func (p *Plan) Complete() bool { return len(p.Failed) == 0 }

// Empty says that nothing would change.
func (p *Plan) Empty() bool { return len(p.Changes) == 0 }

// Schema and rule number of the hash that this version writes.
const (
	SchemaV1 = "changeward.dev/plan/v1"
	Rules    = 1
)
