package reconcile

import (
	"errors"
	"strings"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Wanted is one object that Git should have as the cluster has it.
type Wanted struct {
	Key       manifest.Key
	Operation plan.Operation
	// Fields are those of an update.
	Fields []Field
	// Object is that of a create or replace, as it was desired.
	Object map[string]any
}

// Field is one field that Git should have.
type Field struct {
	Path   string
	Action diff.Action
	Value  any // the value that it should have; of Order the sequence of keys
}

// Edit is one thing that was done, or need not be done.
type Edit struct {
	Key   manifest.Key
	Field string // path; "" for the object as a whole
	File  string // absolute; "" where nothing was to do
	How   string // where in the file, for people
}

// Reasons of a Refusal. They are API.
const (
	// ReasonNoSource: nothing in the directory defines the object.
	ReasonNoSource = "NoSource"
	// ReasonTwoSources: more than one file defines the object.
	ReasonTwoSources = "TwoSources"
	// ReasonSharedBase: the directory is a base that others build on.
	ReasonSharedBase = "SharedBase"
	// ReasonSecretValue: a Secret's value would have to be written.
	ReasonSecretValue = "SecretValue"
	// ReasonEncrypted: the file is encrypted with SOPS.
	ReasonEncrypted = "Encrypted"
	// ReasonGenerated: the file says that it is generated.
	ReasonGenerated = "Generated"
	// ReasonHelm: only a Helm chart can define the object.
	ReasonHelm = "Helm"
	// ReasonOutside: the file lies outside the directory.
	ReasonOutside = "OutsideDirectory"
	// ReasonUnreadable: a file could not be read, or a kustomization not be built.
	ReasonUnreadable = "Unreadable"
	// ReasonNotInPlace: no edit in place means just what is wanted.
	ReasonNotInPlace = "NotInPlace"
	// ReasonDiffers: Git has an object of that name, and it is another.
	ReasonDiffers = "Differs"
)

// Refusal says why an object or a field cannot be brought in line.
type Refusal struct {
	Key     manifest.Key
	Field   string // "" for the object as a whole
	Reason  string // a Reason constant
	Message string
	Hint    string
}

// Error names object, field and cause.
func (r *Refusal) Error() string {
	parts := []string{r.Key.String()}
	if r.Field != "" {
		parts = append(parts, r.Field)
	}
	return strings.Join(append(parts, r.Message), ": ")
}

// Result is what Bring found out. Nothing of it is on disk yet.
type Result struct {
	Dir     string // absolute, links resolved
	Files   []File
	Edits   []Edit
	Already []Edit // what the directory has already
	Refused []*Refusal
}

// Write puts the edits into the files, each replaced at once. Where one cannot
// be written, those before it get their old content back.
func (r *Result) Write() error { return writeAll(r.Files) }

// Failure joins the refusals; nil if there are none.
func (r *Result) Failure() error {
	var all []error
	for _, refusal := range r.Refused {
		all = append(all, refusal)
	}
	return errors.Join(all...)
}
