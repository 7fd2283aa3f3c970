package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/gitops/flux"
	"github.com/changeward/changeward/pkg/gitops/flux/build"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// build builds what the owner would, and finds kinds and owner on the way.
func (s *Session) build(ctx context.Context, p *planning) ([]manifest.Object, []manifest.Problem, error) {
	kustomization := manifest.Object{Content: map[string]any{"apiVersion": flux.Group + "/v1", "kind": "Kustomization"}}
	var err error
	if p.kinds, err = s.Client.KindsFor(ctx, []manifest.Object{kustomization}); err != nil {
		return nil, nil, err
	}
	if p.owner, err = s.owner(ctx, p); err != nil {
		return nil, nil, err
	}
	controller := p.owner.Flux.Controller
	p.built, err = build.Run(ctx, sources{dryrun.Reader{Client: s.Client, Kinds: p.kinds}, s.Kube}, build.Request{
		Kustomization: p.owner.Object, Checkout: p.input.checkout, Revision: p.input.artifact(),
		Lenient: controller.Lenient, NoRemoteBases: controller.NoRemoteBases, NoForeignSources: controller.NoForeignSources})
	if err != nil {
		return nil, nil, buildFailure(p.owner.Ref, err)
	}
	p.owner.Notes = append(p.owner.Notes, p.built.Notes...)
	if p.kinds, err = s.Client.KindsFor(ctx, p.built.Objects); err != nil {
		return nil, nil, err
	}
	var kept []manifest.Object
	var problems []manifest.Problem
	for _, object := range p.built.Objects {
		if namespaced, known := p.kinds.Scope(object.Group(), object.Version(), object.Kind()); known && namespaced && object.Namespace() == "" {
			problems = append(problems, manifest.Problem{Source: object.Source, Key: object.Key(), Path: "metadata.namespace", Reason: plan.ReasonInvalid,
				Message: "names no namespace, and Flux applies it to none: set it, or spec.targetNamespace of the Kustomization"})
			continue
		}
		kept = append(kept, object)
	}
	return kept, problems, nil
}

// redact takes values of Secrets, which were substituted, out of what the
// server said of the objects that hold some.
func (p *planning) redact(seen []plan.Observation) {
	for i := range seen {
		o := &seen[i]
		if p.built == nil || p.built.Hidden[o.Object.Key()] == nil {
			continue
		}
		if o.Failure != nil {
			o.Failure.Message = p.built.Redact(o.Failure.Message)
		}
		for _, texts := range [][]string{o.Notes, o.Warnings} {
			for j := range texts {
				texts[j] = p.built.Redact(texts[j])
			}
		}
	}
}

// buildFailure names the owner, and all that is wrong with its files.
func buildFailure(ref gitops.Ref, err error) error {
	var failed *build.Error
	if !errors.As(err, &failed) {
		return fmt.Errorf("build %s: %w", ref, err)
	}
	failure := Fail(failed.Reason, &gitops.Error{Ref: ref, Reason: failed.Reason, Message: failed.Message})
	for _, problem := range failed.Problems {
		failure.Problems = append(failure.Problems, problemDocument(problem))
	}
	return failure
}

// sources reads what a build needs.
type sources struct {
	dryrun.Reader
	kube kubernetes.Interface
}

// Data reads a ConfigMap or Secret.
func (s sources) Data(ctx context.Context, kind, namespace, name string) (map[string]string, error) {
	if kind == "ConfigMap" {
		found, err := s.kube.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return found.Data, nil
	}
	found, err := s.kube.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for key, value := range found.Data {
		out[key] = string(value)
	}
	return out, nil
}

// Fetch opens an artifact. An address inside of the cluster is reached through
// the API server, but from a Pod.
func (s sources) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if service, namespace, ok := serviceOf(at.Hostname()); ok && !inPod() {
		return s.kube.CoreV1().Services(namespace).ProxyGet(at.Scheme, service, at.Port(), at.EscapedPath(), nil).Stream(ctx)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", address, answer.Status)
	}
	return answer.Body, nil
}

// serviceOf reads the name that a Service has inside of a cluster:
// NAME.NAMESPACE.svc, and what may follow.
func serviceOf(host string) (service, namespace string, ok bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) < 3 || parts[2] != "svc" {
		return "", "", false
	}
	return parts[0], parts[1], true
}
