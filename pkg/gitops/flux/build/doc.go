// Package build builds what kustomize-controller would build for a
// Kustomization, with the controller's own library: from the artifact of its
// source, or from a checkout of which it makes that artifact first.
//
// Enter at Run. It finds the source, lays out its files in a folder of its own,
// collects the variables, writes the kustomization.yaml that the controller
// would, builds it, and substitutes. Nothing is decrypted: what is
// encrypted is marked. Nothing is written to the checkout.
package build

import (
	"context"
	"io"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Reader reads what a build needs from the cluster.
type Reader interface {
	// Read reads a source. A failure has a reason of package plan.
	Read(ctx context.Context, key manifest.Key) (map[string]any, *plan.Failure)
	// Data are the values of a ConfigMap or Secret. The error is the API
	// server's.
	Data(ctx context.Context, kind, namespace, name string) (map[string]string, error)
	// Fetch opens the URL of an artifact.
	Fetch(ctx context.Context, url string) (io.ReadCloser, error)
}

// Request says what to build.
type Request struct {
	// Kustomization as it is in the cluster.
	Kustomization map[string]any
	// Checkout is a folder that holds what the source would; "" is the source
	// itself.
	Checkout string
	// Revision that the source must have, in full or as the commit's id; "" is
	// any.
	Revision string
	// Lenient leaves variables empty that nobody sets, as controllers before 1.9
	// do.
	Lenient bool
	// NoRemoteBases and NoForeignSources are what the controller's flags forbid:
	// to build what lies elsewhere, and to use a source of another namespace.
	NoRemoteBases, NoForeignSources bool
}

// Result is what was built.
type Result struct {
	Objects []manifest.Object
	// Revision of the artifact; "" of a checkout.
	Revision string
	// Notes are what people should know of how it was built.
	Notes []string
	// Hidden are the fields into which the value of a Secret was substituted, see
	// manifest.Masker.
	Hidden map[manifest.Key][][]string
	vars   variables
}

// Redact takes the values of Secrets that were substituted out of a text.
func (r *Result) Redact(text string) string { return r.vars.redact(text) }

// Error is why nothing could be built.
type Error struct {
	Reason   string // a constant of package plan
	Message  string
	Problems []manifest.Problem // where single files are to blame
}

// Error names the cause.
func (e *Error) Error() string { return e.Message }
