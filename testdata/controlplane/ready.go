package main

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
)

// client asks the API server whether it is ready, as admin.
type client struct {
	http   *http.Client
	server string
}

func newClient(ca *authority, admin user) (*client, error) {
	cert, key, err := ca.client(admin)
	if err != nil {
		return nil, err
	}
	web, err := rest.HTTPClientFor(&rest.Config{
		TLSClientConfig: rest.TLSClientConfig{CAData: ca.certPEM, CertData: cert, KeyData: key},
	})
	return &client{http: web}, err
}

// serves: ready, and what the API server itself creates is there.
func (c *client) serves(ctx context.Context) error {
	return c.found(ctx, "/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system")
}

// controlled: the controller manager has acted. That says more than its
// health check, and needs no second port.
func (c *client) controlled(ctx context.Context) error {
	return c.found(ctx, "/api/v1/namespaces/default/serviceaccounts/default",
		"/api/v1/namespaces/default/configmaps/kube-root-ca.crt")
}

func (c *client) found(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server+path, nil)
		if err != nil {
			return err
		}
		response, err := c.http.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s", path, response.Status)
		}
	}
	return nil
}
