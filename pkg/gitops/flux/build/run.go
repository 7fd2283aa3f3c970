package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	securejoin "github.com/cyphar/filepath-securejoin"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/resmap"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Run builds. The error is an *Error, but for a context that ended and a disk
// that cannot be written to.
func Run(ctx context.Context, reader Reader, request Request) (*Result, error) {
	r := &run{reader: reader, request: request, result: &Result{Hidden: map[manifest.Key][][]string{}}}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(request.Kustomization, &r.k); err != nil {
		return nil, invalid("it cannot be understood: %v", err)
	}
	var err error
	if r.dir, err = os.MkdirTemp("", "changeward-build-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(r.dir)
	if r.dir, err = filepath.EvalSymlinks(r.dir); err != nil {
		return nil, err
	}
	if err := r.layOut(ctx); err != nil {
		return nil, err
	}
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	return r.result, nil
}

type run struct {
	reader  Reader
	request Request
	k       kustomizev1.Kustomization
	dir     string // with the files of the source
	result  *Result
}

// build builds what lies in the folder.
func (r *run) build(ctx context.Context) error {
	path, err := securejoin.SecureJoin(r.dir, r.k.Spec.Path)
	if err != nil {
		return invalid("spec.path %q: %v", r.k.Spec.Path, err)
	}
	if _, err := os.Stat(path); err != nil {
		return &Error{Reason: plan.ReasonNotFound, Message: fmt.Sprintf("spec.path %q does not exist in %s", r.k.Spec.Path, r.place())}
	}
	vars, err := r.variables(ctx)
	if err != nil {
		return err
	}
	r.result.vars = vars
	spec := unstructured.Unstructured{Object: r.request.Kustomization}
	if _, err := kustomize.NewGenerator(r.dir, spec).WriteFile(path); err != nil {
		return r.failed(path, err)
	}
	built, err := kustomize.SecureBuild(r.dir, path, !r.request.NoRemoteBases)
	if err != nil {
		return r.failed(path, err)
	}
	if err := r.substitute(ctx, built, vars); err != nil {
		return err
	}
	return r.take(path, built)
}

// take reads the objects that were built. Their source is the folder: what is
// built has no lines.
func (r *run) take(path string, built resmap.ResMap) error {
	var problems []manifest.Problem
	for _, resource := range built.Resources() {
		why, err := r.seal(resource)
		var data []byte
		if err == nil {
			data, err = resource.AsYAML()
		}
		if err != nil {
			return r.failed(path, err)
		}
		objects, wrong := manifest.Parse(r.named(path), data)
		for _, object := range objects {
			object.Source.Line, object.Sealed = 0, why
			if object.Group() != "kustomize.config.k8s.io" { // which the controller skips
				r.result.Objects = append(r.result.Objects, object)
			}
		}
		for _, problem := range wrong {
			problem.Source.Line = 0
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		return &Error{Reason: plan.ReasonInvalid, Message: r.result.Redact(joined(problems).Error()), Problems: problems}
	}
	return nil
}

// place is where the files came from, for people.
func (r *run) place() string {
	if r.request.Checkout != "" {
		return r.request.Checkout
	}
	return r.source() + " at " + r.result.Revision
}

// named is a path of the folder as people know it: in their checkout, or in
// the source.
func (r *run) named(path string) string {
	relative, err := filepath.Rel(r.dir, path)
	if err != nil {
		relative = path
	}
	return filepath.Join(r.request.Checkout, relative)
}

// renamed names paths of the folder in a text as named does.
func (r *run) renamed(text string) string {
	prefix := ""
	if r.request.Checkout != "" {
		prefix = filepath.Clean(r.request.Checkout) + string(filepath.Separator)
	}
	text = strings.ReplaceAll(text, r.dir+string(filepath.Separator), prefix)
	return strings.ReplaceAll(text, r.dir, r.place())
}

func invalid(format string, args ...any) *Error {
	return &Error{Reason: plan.ReasonInvalid, Message: fmt.Sprintf(format, args...)}
}

func joined(problems []manifest.Problem) error {
	var all []error
	for _, problem := range problems {
		all = append(all, problem)
	}
	return errors.Join(all...)
}
