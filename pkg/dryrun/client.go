package dryrun

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Client asks one API server. It is safe for concurrent use, and keeps what it
// has read of the server's schemas.
type Client struct {
	config    *rest.Config // with http, for clients of other kinds
	http      *http.Client
	dynamic   dynamic.Interface
	discovery *discovery.DiscoveryClient
	metadata  metadata.Interface
	reviews   authenticationv1.AuthenticationV1Interface
	schemas   *schemas
	pace      *pace
}

// New makes a client from kubeconfig settings, and sends nothing. The
// client-side rate limiter is off: the server's own 429 answers are honoured
// instead. An error means that the settings cannot be used.
func New(config *rest.Config) (*Client, error) { return NewWithCache(config, "") }

// NewWithCache is New with a folder in which the server's kinds and schemas are
// kept between runs; "" keeps nothing. Whatever lies in the folder, plans are
// the same with it and without.
func NewWithCache(config *rest.Config, folder string) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.RateLimiter = nil
	config.WarningHandler = nil
	config.WarningHandlerWithContext = warningCollector{}
	pace := newPace()
	guarded, err := guardedClient(config, pace)
	if err != nil {
		return nil, fmt.Errorf("client settings: %w", err)
	}
	c := &Client{config: config, http: guarded, pace: pace}
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, guarded); err != nil {
		return nil, fmt.Errorf("client settings: %w", err)
	}
	if c.metadata, err = metadata.NewForConfigAndClient(metadata.ConfigFor(config), guarded); err != nil {
		return nil, fmt.Errorf("client settings: %w", err)
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(config, cached(guarded, folder)); err != nil {
		return nil, fmt.Errorf("client settings: %w", err)
	}
	if c.reviews, err = authenticationv1.NewForConfigAndClient(config, guarded); err != nil {
		return nil, fmt.Errorf("client settings: %w", err)
	}
	c.schemas = newSchemas(c.discovery)
	return c, nil
}

// guardedClient puts the guard around everything that the settings ask for,
// so that credentials plugins and other wrappers stay inside of it. The pace
// hears of all answers.
func guardedClient(config *rest.Config, pace *pace) (*http.Client, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	guarded := *client
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	guarded.Transport = &guard{next: &paced{next: next, pace: pace}, base: strings.TrimSuffix(host.Path, "/")}
	return &guarded, nil
}

// cached puts a cache in front of the guard: what it sends passes the guard, too.
func cached(guarded *http.Client, folder string) *http.Client {
	if folder == "" {
		return guarded
	}
	client := *guarded
	client.Transport = &cache{next: guarded.Transport, dir: folder}
	return &client
}

// Cluster is the identity of the cluster: the UID of Namespace kube-system.
// The error is an *Error with its reason.
func (c *Client) Cluster(ctx context.Context) (string, error) {
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	namespace, err := c.dynamic.Resource(namespaces).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", wrap("read Namespace kube-system, which identifies the cluster", err)
	}
	return string(namespace.GetUID()), nil
}

// ServerVersion is the API server's version as it names it, such as v1.37.2.
// The error is an *Error with its reason.
func (c *Client) ServerVersion(ctx context.Context) (string, error) {
	version, err := c.discovery.ServerVersionWithContext(ctx)
	if err != nil {
		return "", wrap("read the server's version", err)
	}
	return version.GitVersion, nil
}
