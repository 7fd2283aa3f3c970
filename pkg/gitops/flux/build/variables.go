package build

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/kustomize"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/changeward/changeward/pkg/plan"
)

// variables are what is substituted after the build: those of Secrets, and all
// of them.
type variables struct {
	secret map[string]string
	all    map[string]string
}

// variables reads what spec.postBuild.substituteFrom names. A later reference
// wins over an earlier one, and what stands in the spec over all.
func (r *run) variables(ctx context.Context) (variables, error) {
	out := variables{secret: map[string]string{}, all: map[string]string{}}
	if r.k.Spec.PostBuild == nil {
		return out, nil
	}
	var missing []string
	for _, ref := range r.k.Spec.PostBuild.SubstituteFrom {
		data, err := r.reader.Data(ctx, ref.Kind, r.k.Namespace, ref.Name)
		name := fmt.Sprintf("%s %s/%s of spec.postBuild.substituteFrom", ref.Kind, r.k.Namespace, ref.Name)
		switch {
		case apierrors.IsNotFound(err) && ref.Optional:
			continue
		case apierrors.IsNotFound(err):
			missing = append(missing, name+" does not exist, and is not optional")
			continue
		case apierrors.IsForbidden(err):
			return out, &Error{Reason: plan.ReasonForbidden, Message: name + " may not be read, and without it nobody knows what Flux would build: " + err.Error()}
		case err != nil:
			return out, &Error{Reason: plan.ReasonUnreadable, Message: name + " could not be read: " + err.Error()}
		}
		for key, value := range data {
			value = strings.ReplaceAll(value, "\n", "")
			out.all[key] = value
			delete(out.secret, key)
			if ref.Kind == "Secret" {
				out.secret[key] = value
			}
		}
	}
	if len(missing) > 0 {
		return out, &Error{Reason: plan.ReasonNotFound, Message: strings.Join(missing, "\n")}
	}
	for key, value := range r.k.Spec.PostBuild.Substitute {
		out.all[key] = value
		delete(out.secret, key)
	}
	return out, nil
}

// substitute replaces variables in what was built, in place, and finds out
// where values of Secrets went.
func (r *run) substitute(ctx context.Context, built resmap.ResMap, vars variables) error {
	if r.k.Spec.PostBuild == nil {
		return nil
	}
	var problems []string
	for _, resource := range built.Resources() {
		name, before := resource.GetKind()+"/"+resource.GetName(), resource.DeepCopy()
		done, err := r.replaced(ctx, resource, vars.all)
		if err == nil && done != nil {
			if err = r.hide(ctx, before, done, vars); err == nil {
				_, err = built.Replace(done)
			}
		}
		if err != nil {
			problems = append(problems, name+": "+vars.redact(err.Error()))
		}
	}
	if len(problems) > 0 {
		return invalid("variables cannot be substituted: %s", strings.Join(problems, "\n"))
	}
	return nil
}

// replaced substitutes in one object, in place; nil where the object is to be
// left alone.
func (r *run) replaced(ctx context.Context, resource *resource.Resource, vars map[string]string) (*resource.Resource, error) {
	spec, inline := runtime.DeepCopyJSON(r.request.Kustomization), map[string]any{}
	for key, value := range vars {
		inline[key] = value
	}
	if err := unstructured.SetNestedMap(spec, inline, "spec", "postBuild", "substitute"); err != nil {
		return nil, err
	}
	return kustomize.SubstituteVariables(ctx, nil, unstructured.Unstructured{Object: spec}, resource,
		kustomize.SubstituteWithDryRun(true), // the variables are in the spec already
		kustomize.SubstituteWithStrict(!r.request.Lenient),
		kustomize.SubstituteWithAlways(r.k.GetSubstituteStrategy() == kustomizev1.SubstituteStrategyAlways))
}

// redact takes the values of Secrets out of a text. What is left of one that
// is too short to be told from other words tells nothing.
func (v variables) redact(text string) string {
	for _, key := range slices.Sorted(maps.Keys(v.secret)) {
		if value := v.secret[key]; value != "" {
			text = strings.ReplaceAll(text, value, "(masked)")
		}
	}
	return text
}
