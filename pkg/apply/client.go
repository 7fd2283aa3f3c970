package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/plan"
)

// Client writes to one cluster, with the caller's own rights.
type Client struct {
	server rest.Interface
}

// New makes a client from kubeconfig settings, and sends nothing. An error means
// that the settings cannot be used.
func New(config *rest.Config) (*Client, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion = nil
	server, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client settings: %w", err)
	}
	return &Client{server: server}, nil
}

// absent is a resourceVersion that no object has: with it an apply creates what
// is not there, and is refused (409) where something is.
const absent = "1"

// apply sends content as a server-side apply of changeward, and says which
// answer it got.
func (c *Client) apply(ctx context.Context, path string, content map[string]any, at version, force bool) (*unstructured.Unstructured, int, error) {
	body, err := json.Marshal(at.in(content))
	if err != nil {
		return nil, 0, err
	}
	request := c.server.Patch(types.ApplyPatchType).AbsPath(path).Body(body).
		Param("fieldManager", plan.DirectManager).Param("fieldValidation", metav1.FieldValidationStrict)
	if force {
		request.Param("force", "true")
	}
	return answer(request.Do(ctx))
}

// put replaces an object by this content.
func (c *Client) put(ctx context.Context, path string, content map[string]any, at version) (*unstructured.Unstructured, int, error) {
	body, err := json.Marshal(at.in(content))
	if err != nil {
		return nil, 0, err
	}
	return answer(c.server.Put().AbsPath(path).Body(body).SetHeader("Content-Type", "application/json").
		Param("fieldManager", plan.DirectManager).Param("fieldValidation", metav1.FieldValidationStrict).Do(ctx))
}

// get reads an object.
func (c *Client) get(ctx context.Context, path string) (*unstructured.Unstructured, error) {
	object, _, err := answer(c.server.Get().AbsPath(path).Do(ctx))
	return object, err
}

// remove deletes exactly this object.
func (c *Client) remove(ctx context.Context, path string, at version, propagation string) error {
	policy := metav1.DeletionPropagation(strings.ToUpper(propagation[:1]) + propagation[1:])
	uid := types.UID(at.uid)
	only := &metav1.Preconditions{UID: &uid, ResourceVersion: &at.resourceVersion}
	body, err := json.Marshal(metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		PropagationPolicy: &policy, Preconditions: only})
	if err != nil {
		return err
	}
	return c.server.Delete().AbsPath(path).Body(body).SetHeader("Content-Type", "application/json").Do(ctx).Error()
}

func answer(result rest.Result) (*unstructured.Unstructured, int, error) {
	code := 0
	result.StatusCode(&code)
	if err := result.Error(); err != nil { // reads the server's reasons, as Raw does not
		return nil, code, err
	}
	raw, err := result.Raw()
	if err != nil {
		return nil, code, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		return nil, code, fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return object, code, nil
}

// version is one object at one moment.
type version struct{ uid, resourceVersion string }

// in is content that the server takes for this version only.
func (v version) in(content map[string]any) map[string]any {
	out := maps.Clone(content)
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["resourceVersion"] = v.resourceVersion
	if v.uid != "" {
		metadata["uid"] = v.uid
	}
	out["metadata"] = metadata
	return out
}

// created says that an answer is that of a create.
func created(code int) bool { return code == http.StatusCreated }
