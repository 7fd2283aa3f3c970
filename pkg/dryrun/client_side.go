package dryrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kubectl/pkg/cmd/apply"
	"k8s.io/kubectl/pkg/util"
)

// clientSide asks what a client-side apply would leave: kubectl's own code
// compares what was applied last, the manifest and LIVE, and sends the patch,
// unless that is empty.
func (o *observer) clientSide(ctx context.Context, t *target, m *moment) error {
	desired := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(t.content(m.treatment))}
	if m.live == nil {
		return o.createFirst(ctx, t, m, desired)
	}
	modified, err := util.GetModifiedConfiguration(desired, true, unstructured.UnstructuredJSONScheme)
	if err != nil {
		return withoutObjects(err)
	}
	patcher, err := o.patcher(ctx, t, m.treatment)
	if err != nil {
		return err
	}
	said := &bytes.Buffer{}
	_, patched, err := patcher.Patch(m.live.DeepCopy(), modified, "", t.object.Namespace(), t.object.Name(), said)
	warn(ctx, said.String())
	if err != nil {
		return withoutObjects(err)
	}
	var ok bool
	if m.merged, ok = patched.(*unstructured.Unstructured); !ok {
		return fmt.Errorf("the patched object is a %T", patched)
	}
	return nil
}

// createFirst is what client-side apply does with an object that does not
// exist: it notes what it applies, drops nulls, and creates.
func (o *observer) createFirst(ctx context.Context, t *target, m *moment, desired *unstructured.Unstructured) error {
	if err := util.CreateApplyAnnotation(desired, unstructured.UnstructuredJSONScheme); err != nil {
		return withoutObjects(err)
	}
	pruneNulls(desired.Object)
	return t.createOnly(ctx, desired.Object, m)
}

// createOnly asks for a create that is no apply.
func (t *target) createOnly(ctx context.Context, content map[string]any, m *moment) error {
	posted, err := t.create(ctx, content, m.treatment)
	if apierrors.IsAlreadyExists(err) {
		return nil // someone created it just now: look again
	}
	if err == nil {
		m.merged, m.posted = posted, posted
	}
	return err
}

func (o *observer) patcher(ctx context.Context, t *target, treatment Treatment) (*apply.Patcher, error) {
	client, err := o.client.restClient(ctx, t.gvk.GroupVersion())
	if err != nil {
		return nil, err
	}
	mapping := &meta.RESTMapping{Resource: t.served.resource, GroupVersionKind: t.gvk, Scope: meta.RESTScopeRoot}
	if t.served.namespaced {
		mapping.Scope = meta.RESTScopeNamespace
	}
	return &apply.Patcher{
		Mapping: mapping,
		Helper: resource.NewHelper(client, mapping).DryRun(true).
			WithFieldManager(treatment.Applier.Manager).WithFieldValidation(treatment.validation()),
		Overwrite:     true,
		Retries:       -1, // the observer looks again itself
		OpenAPIV3Root: &o.specs,
	}, nil
}

// restClient is a client of kubectl's kind, which takes no context: all its
// requests, and their warnings, belong to this one.
func (c *Client) restClient(ctx context.Context, version schema.GroupVersion) (rest.Interface, error) {
	config := rest.CopyConfig(c.config)
	config.GroupVersion, config.APIPath = &version, "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	content := resource.UnstructuredPlusDefaultContentConfig()
	config.NegotiatedSerializer = content.NegotiatedSerializer
	config.AcceptContentTypes, config.ContentType = content.AcceptContentTypes, content.ContentType
	config.WarningHandlerWithContext = boundWarnings{ctx}
	client := *c.http
	client.Transport = bound{ctx: ctx, next: c.http.Transport}
	return rest.RESTClientForConfigAndClient(config, &client)
}

// bound gives all requests one context.
type bound struct {
	ctx  context.Context
	next http.RoundTripper
}

// RoundTrip sends the request under the context.
func (b bound) RoundTrip(request *http.Request) (*http.Response, error) {
	return b.next.RoundTrip(request.WithContext(b.ctx))
}

type boundWarnings struct{ ctx context.Context }

func (b boundWarnings) HandleWarningHeaderWithContext(_ context.Context, code int, agent, text string) {
	warningCollector{}.HandleWarningHeaderWithContext(b.ctx, code, agent, text)
}

// withoutObjects keeps the innermost cause of an error: kubectl puts whole
// objects in front of it.
func withoutObjects(err error) error {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return err
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("compute the patch: %s", text)
}

// specs keeps what kubectl's patcher asks of the server's OpenAPI documents.
type specs struct {
	openapi3.Root
	known sync.Map // by group and version
}

// GVSpec reads the document of a group and version once.
func (s *specs) GVSpec(version schema.GroupVersion) (*spec3.OpenAPI, error) {
	once, _ := s.known.LoadOrStore(version, sync.OnceValues(func() (*spec3.OpenAPI, error) { return s.Root.GVSpec(version) }))
	return once.(func() (*spec3.OpenAPI, error))()
}

// pruneNulls drops members that are null, at any depth.
func pruneNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if member == nil {
				delete(v, key)
				continue
			}
			pruneNulls(member)
		}
	case []any:
		for _, entry := range v {
			pruneNulls(entry)
		}
	}
}
