package dryrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard is the transport that lets nothing through that could change the
// cluster. It sits around every other transport of the client, so that no
// wrapper, plugin or redirect passes it by.
type guard struct {
	next http.RoundTripper
	base string // path of the server's address, without trailing slash
}

// RoundTrip sends a request that reads, a dry run of a whole object, or a
// review of the caller's own identity and rights. All else is an error, and
// leaves this process not at all.
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := g.check(request); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, fmt.Errorf("refused to send %s %s: %w", request.Method, request.URL.Path, err)
	}
	return g.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the transport inside.
func (g *guard) WrappedRoundTripper() http.RoundTripper { return g.next }

func (g *guard) check(request *http.Request) error {
	at, err := locate(strings.TrimPrefix(request.URL.Path, g.base))
	if err != nil {
		return err
	}
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return checkRead(request, at)
	case http.MethodPost:
		if isSelfReview(at) {
			return nil
		}
		return checkDryRun(request, at)
	case http.MethodPut, http.MethodPatch:
		return checkDryRun(request, at)
	case http.MethodDelete:
		return checkDelete(request, at)
	}
	return fmt.Errorf("the method is not known")
}

// place is what a request path names.
type place struct{ group, resource, name, subresource string }

// locate reads a path as the API server does. A path of no resource has the
// zero place.
func locate(path string) (place, error) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		return place{}, fmt.Errorf("the path is not clean")
	}
	at := place{}
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		at.group, parts = parts[1], parts[3:]
	default:
		return place{}, nil
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	at.resource = parts[0]
	if len(parts) > 1 {
		at.name = parts[1]
	}
	at.subresource = strings.Join(parts[min(2, len(parts)):], "/")
	return at, nil
}

// checkRead refuses the reads that run something: exec and its like are a GET
// over WebSockets, and a proxied GET reaches any service.
func checkRead(request *http.Request, at place) error {
	first, _, _ := strings.Cut(at.subresource, "/")
	if slices.Contains([]string{"exec", "attach", "portforward", "proxy"}, first) || request.Header.Get("Upgrade") != "" {
		return fmt.Errorf("it is no plain read")
	}
	return nil
}

// isSelfReview knows the POSTs that store nothing and ask about nobody but the
// caller.
func isSelfReview(at place) bool {
	if at.name != "" {
		return false
	}
	switch at.group {
	case "authentication.k8s.io":
		return at.resource == "selfsubjectreviews"
	case "authorization.k8s.io":
		return at.resource == "selfsubjectaccessreviews" || at.resource == "selfsubjectrulesreviews"
	}
	return false
}

func checkDryRun(request *http.Request, at place) error {
	if err := checkWhole(at); err != nil {
		return err
	}
	query, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("the query cannot be read: %w", err)
	}
	return checkAll(query["dryRun"])
}

// checkDelete reads the options from the body when there is one: the server
// then ignores those in the query.
func checkDelete(request *http.Request, at place) error {
	if request.Body == nil || request.Body == http.NoBody {
		return checkDryRun(request, at)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return fmt.Errorf("the body cannot be read: %w", err)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	if len(body) == 0 {
		return checkDryRun(request, at)
	}
	if err := checkWhole(at); err != nil {
		return err
	}
	// A map, since a struct would take the key in any case of letters, which
	// the server does not.
	var options map[string]json.RawMessage
	var dryRun []string
	if err := json.Unmarshal(body, &options); err != nil {
		return fmt.Errorf("the delete options cannot be read: %w", err)
	}
	if err := json.Unmarshal(options["dryRun"], &dryRun); err != nil {
		return checkAll(nil)
	}
	return checkAll(dryRun)
}

// checkWhole refuses subresources: a TokenRequest with dryRun=All answers with
// a real token.
func checkWhole(at place) error {
	switch {
	case at.resource == "":
		return fmt.Errorf("it names no resource")
	case at.subresource != "":
		return fmt.Errorf("a subresource is never dry-run")
	}
	return nil
}

func checkAll(dryRun []string) error {
	if len(dryRun) == 0 || slices.ContainsFunc(dryRun, func(value string) bool { return value != "All" }) {
		return fmt.Errorf("it would change the cluster: dryRun=All is missing")
	}
	return nil
}
