package dryrun

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// cache is a transport that keeps on disk what the server says of its kinds
// and schemas, most of what a small plan downloads. Nothing in its folder is
// believed. A schema is used only if its content has the hash by which the
// server names it in this run; the list of kinds only if the server answers
// that what it would send has the hash of the content at hand (HTTP 304). So
// what is old, cut off or forged costs a download, and never a plan. A folder
// that cannot be written to is no error.
type cache struct {
	next http.RoundTripper
	dir  string
}

// kindsType is how the server lists all its kinds at once. The hash of older
// forms cannot be computed here, so they are not kept.
const kindsType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// RoundTrip answers from the folder where that is safe, and asks the server
// for all else.
func (c *cache) RoundTrip(request *http.Request) (*http.Response, error) {
	accept, hash := request.Header.Get("Accept"), request.URL.Query().Get("hash")
	switch {
	case request.Method != http.MethodGet:
	case hash != "" && accept == runtime.ContentTypeJSON:
		return c.schema(request, hash)
	case strings.HasPrefix(accept, kindsType):
		return c.kinds(request)
	}
	return c.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the transport inside.
func (c *cache) WrappedRoundTripper() http.RoundTripper { return c.next }

func (c *cache) schema(request *http.Request, hash string) (*http.Response, error) {
	if content, err := os.ReadFile(c.file(request)); err == nil && contentHash(content) == hash {
		return found(request, runtime.ContentTypeJSON, content), nil
	}
	response, err := c.next.RoundTrip(request)
	return c.keep(request, response, err, func(content []byte) bool { return contentHash(content) == hash })
}

func (c *cache) kinds(request *http.Request) (*http.Response, error) {
	kept, err := os.ReadFile(c.file(request))
	if known := kindsHash(kept); err == nil && known != "" {
		request = request.Clone(request.Context())
		request.Header.Set("If-None-Match", known)
	}
	response, err := c.next.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusNotModified {
		_ = response.Body.Close()
		return found(request, kindsType, kept), nil
	}
	return c.keep(request, response, err, func(content []byte) bool { return kindsHash(content) == response.Header.Get("ETag") })
}

// keep stores an answer whose hash can be computed here.
func (c *cache) keep(request *http.Request, response *http.Response, err error, hashes func(content []byte) bool) (*http.Response, error) {
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	content, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	if hashes(content) {
		c.store(c.file(request), content)
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(content)), int64(len(content))
	return response, nil
}

// file is where the answer to a request is kept; a newer one takes its place.
func (c *cache) file(request *http.Request) string {
	return filepath.Join(c.dir, fmt.Sprintf("%x", sha256.Sum256([]byte(request.URL.Host+" "+request.URL.Path))))
}

func (c *cache) store(file string, content []byte) {
	if os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	temporary, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return
	}
	_, err = temporary.Write(content)
	if closed := temporary.Close(); err != nil || closed != nil || os.Rename(temporary.Name(), file) != nil {
		_ = os.Remove(temporary.Name())
	}
}

func found(request *http.Request, contentType string, content []byte) *http.Response {
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader(content)),
		ContentLength: int64(len(content)), Request: request}
}

// contentHash is how the server names a schema.
func contentHash(content []byte) string { return fmt.Sprintf("%X", sha512.Sum512(content)) }

// kindsHash is the ETag that the server gives to a list of kinds; "" where it
// cannot be computed.
func kindsHash(content []byte) string {
	var list discoveryv2.APIGroupDiscoveryList
	if json.Unmarshal(content, &list) != nil || list.Kind != "APIGroupDiscoveryList" {
		return ""
	}
	list.TypeMeta = metav1.TypeMeta{} // the server hashes it without
	hashed, err := json.Marshal(list)
	if err != nil {
		return ""
	}
	return `"` + contentHash(hashed) + `"`
}
