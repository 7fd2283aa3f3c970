package dryrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/diff"
)

// schemas keeps the types of each group and version that was asked for, by the
// address of its document, which carries a hash: a changed schema has another.
type schemas struct {
	client openapi.ClientWithContext

	mu        sync.Mutex
	documents map[string]*document
}

// document is the types of one group and version; each is fetched once,
// however many objects wait for it. A failed fetch is not kept.
type document struct {
	mu      sync.Mutex
	kinds   map[schema.GroupVersionKind]*diff.Schema
	dryRuns bool // names the parameter dryRun
}

func newSchemas(client *discovery.DiscoveryClient) *schemas {
	return &schemas{
		client:    client.OpenAPIV3WithContext(context.Background()),
		documents: map[string]*document{},
	}
}

// schemaIndex is the addresses of all documents at one moment.
type schemaIndex struct {
	schemas *schemas
	awaited sync.Map // by kind: what waiting for its schema came to

	mu    sync.Mutex
	known map[string]openapi.GroupVersionWithContext // nil: not read
}

// The server publishes the schema of a new kind some time after it serves the
// kind. So often, and at such a distance, it is asked again.
const (
	schemaTries = 20
	schemaPause = 500 * time.Millisecond
)

// published is the schema of a kind that the server itself serves, which it
// always publishes, sooner or later. Without it no path of a list could be
// named, so a plan without it would be another one a second later.
func (i *schemaIndex) published(ctx context.Context, gvk schema.GroupVersionKind) (*diff.Schema, error) {
	if found, err := i.of(ctx, gvk); err != nil || found != nil {
		return found, err
	}
	once, _ := i.awaited.LoadOrStore(gvk, sync.OnceValues(func() (*diff.Schema, error) { return i.await(ctx, gvk) }))
	return once.(func() (*diff.Schema, error))()
}

func (i *schemaIndex) await(ctx context.Context, gvk schema.GroupVersionKind) (*diff.Schema, error) {
	ticker := time.NewTicker(schemaPause)
	defer ticker.Stop()
	for range schemaTries {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
		i.forget()
		if found, err := i.of(ctx, gvk); err != nil || found != nil {
			return found, err
		}
	}
	return nil, fmt.Errorf("the server has not published the schema of %s %s, without which list entries cannot be named", gvk.GroupVersion(), gvk.Kind)
}

func (i *schemaIndex) forget() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known = nil
}

func (i *schemaIndex) paths(ctx context.Context) (map[string]openapi.GroupVersionWithContext, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known == nil {
		known, err := i.schemas.client.PathsWithContext(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the server's list of schemas: %w", err)
		}
		i.known = known
	}
	return i.known, nil
}

// of is the schema of a kind, nil where the server publishes none, or not yet:
// every list is atomic then.
func (i *schemaIndex) of(ctx context.Context, gvk schema.GroupVersionKind) (*diff.Schema, error) {
	document, err := i.document(ctx, gvk)
	if err != nil || document == nil {
		return nil, err
	}
	return document.kinds[gvk], nil
}

// dryRuns says whether the description of a kind's API knows dry runs.
func (i *schemaIndex) dryRuns(ctx context.Context, gvk schema.GroupVersionKind) (bool, error) {
	document, err := i.document(ctx, gvk)
	return document != nil && document.dryRuns, err
}

func (i *schemaIndex) document(ctx context.Context, gvk schema.GroupVersionKind) (*document, error) {
	paths, err := i.paths(ctx)
	if err != nil {
		return nil, err
	}
	path := "apis/" + gvk.Group + "/" + gvk.Version
	if gvk.Group == "" {
		path = "api/" + gvk.Version
	}
	groupVersion, found := paths[path]
	if !found {
		return nil, nil
	}
	document := i.schemas.document(groupVersion.ServerRelativeURL())
	if err := document.read(ctx, groupVersion); err != nil {
		return nil, fmt.Errorf("read the server's schema of %s: %w", gvk.GroupVersion(), err)
	}
	return document, nil
}

func (s *schemas) document(url string) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.documents[url] == nil {
		s.documents[url] = &document{}
	}
	return s.documents[url]
}

func (d *document) read(ctx context.Context, groupVersion openapi.GroupVersionWithContext) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kinds != nil {
		return nil
	}
	content, err := groupVersion.SchemaWithContext(ctx, runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	kinds, err := parseSchemas(content)
	if err != nil {
		return err
	}
	d.kinds, d.dryRuns = kinds, bytes.Contains(content, []byte(`"name":"dryRun"`))
	return nil
}

// parseSchemas reads an OpenAPI v3 document. Its paths, which are most of it,
// are skipped.
func parseSchemas(content []byte) (map[schema.GroupVersionKind]*diff.Schema, error) {
	var document struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	for name, model := range document.Components.Schemas {
		if model == nil {
			return nil, fmt.Errorf("schema %s is null", name)
		}
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(document.Components.Schemas, false)
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	// A value of its own: the schema holds a lock, and is shared by all kinds.
	types := &smd.Schema{Types: converted.Types}
	kinds := map[schema.GroupVersionKind]*diff.Schema{}
	for name, model := range document.Components.Schemas {
		var gvks []schema.GroupVersionKind
		if err := model.Extensions.GetObject("x-kubernetes-group-version-kind", &gvks); err != nil {
			return nil, fmt.Errorf("kinds of %s: %w", name, err)
		}
		for _, gvk := range gvks {
			root := name
			kinds[gvk] = &diff.Schema{Types: types, Root: smd.TypeRef{NamedType: &root}}
		}
	}
	return kinds, nil
}
