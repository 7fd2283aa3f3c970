package dryrun

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"

	"github.com/changeward/changeward/pkg/manifest"
)

// Kinds is what the server served at one moment. It does not change; read it
// once per run, so that a kind installed since is found by the next one.
type Kinds struct {
	served    map[schema.GroupVersionKind]served
	preferred map[schema.GroupKind]string // version that the server names first
	failed    map[string]error            // by group; what is served of it is not known in full
}

type served struct {
	resource   schema.GroupVersionResource
	namespaced bool
	status     bool // has a status subresource
	scale      bool // has a scale subresource
	deletable  bool // objects can be listed and deleted
}

// Kinds reads what the server serves. A group that could not be read is kept
// as unknown, with the reason; only a failure of the whole is an error, an
// *Error with its reason.
func (c *Client) Kinds(ctx context.Context) (*Kinds, error) {
	_, lists, err := c.discovery.ServerGroupsAndResourcesWithContext(ctx)
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return nil, wrap("read which kinds the server serves", err)
	}
	k := &Kinds{served: map[schema.GroupVersionKind]served{}, preferred: map[schema.GroupKind]string{}, failed: map[string]error{}}
	for groupVersion, err := range failed {
		k.failed[groupVersion.Group] = fmt.Errorf("%s: %w", groupVersion, err)
	}
	for _, list := range lists {
		if err := k.add(list); err != nil {
			return nil, wrap("read which kinds the server serves", err)
		}
	}
	return k, nil
}

// KindsFor is Kinds that looks twice where a kind of these objects is unknown:
// a server that has just been started names its own kinds before those that
// definitions bring, until it says that it is ready.
func (c *Client) KindsFor(ctx context.Context, objects []manifest.Object) (*Kinds, error) {
	kinds, err := c.Kinds(ctx)
	if err != nil || !slices.ContainsFunc(objects, kinds.lacks) {
		return kinds, err
	}
	if err := c.ready(ctx); err != nil {
		return nil, wrap("a kind of the manifests is unknown, and the server does not say that it is ready", err)
	}
	return c.Kinds(ctx)
}

func (k *Kinds) lacks(object manifest.Object) bool {
	_, known := k.served[gvkOf(object)]
	return !known
}

// ready waits a few seconds for the server to say that it is ready. A server
// that keeps that to itself has to be believed.
func (c *Client) ready(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, readyInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		last = c.discovery.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return last == nil || apierrors.IsForbidden(last) || apierrors.IsUnauthorized(last) || apierrors.IsNotFound(last), nil
	})
	if err != nil {
		return cmp.Or(ctx.Err(), last, err)
	}
	return nil
}

const (
	readyInterval = 500 * time.Millisecond
	readyTimeout  = 10 * time.Second
)

func (k *Kinds) add(list *metav1.APIResourceList) error {
	groupVersion, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return err
	}
	parts := map[string]bool{}
	for _, resource := range list.APIResources {
		parts[resource.Name] = true
	}
	for _, resource := range list.APIResources {
		if strings.Contains(resource.Name, "/") {
			continue
		}
		gvk := groupVersion.WithKind(resource.Kind)
		k.served[gvk] = served{
			resource:   groupVersion.WithResource(resource.Name),
			namespaced: resource.Namespaced,
			status:     parts[resource.Name+"/status"],
			scale:      parts[resource.Name+"/scale"],
			deletable:  slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "delete"),
		}
		if k.preferred[gvk.GroupKind()] == "" {
			k.preferred[gvk.GroupKind()] = gvk.Version
		}
	}
	return nil
}

// Scope says whether objects of a kind live in namespaces, and whether the
// server serves the kind in that version at all.
func (k *Kinds) Scope(group, version, kind string) (namespaced, known bool) {
	s, known := k.served[schema.GroupVersionKind{Group: group, Version: version, Kind: kind}]
	return s.namespaced, known
}

// HasStatus says whether a kind has a status subresource, so that its status
// is not part of what one applies.
func (k *Kinds) HasStatus(group, version, kind string) bool {
	return k.served[schema.GroupVersionKind{Group: group, Version: version, Kind: kind}].status
}

// Versions are the versions in which the server serves a kind, sorted.
func (k *Kinds) Versions(group, kind string) []string {
	var versions []string
	for gvk := range k.served {
		if gvk.Group == group && gvk.Kind == kind {
			versions = append(versions, gvk.Version)
		}
	}
	slices.Sort(versions)
	return versions
}

// Preferred is the version of a kind that the server names first, "" where it
// does not serve the kind.
func (k *Kinds) Preferred(group, kind string) string {
	return k.preferred[schema.GroupKind{Group: group, Kind: kind}]
}

// Path is where the server keeps an object of a kind, from the root of its API;
// "" where it does not serve the kind in that version.
func (k *Kinds) Path(version string, key manifest.Key) string {
	found, known := k.served[schema.GroupVersionKind{Group: key.Group, Version: version, Kind: key.Kind}]
	if !known {
		return ""
	}
	root := "/apis/" + key.Group
	if key.Group == "" {
		root = "/api"
	}
	parts := []string{root, version}
	if found.namespaced {
		parts = append(parts, "namespaces", key.Namespace)
	}
	return strings.Join(append(parts, found.resource.Resource, key.Name), "/")
}

// Unreadable is why the kinds of a group are not known in full: its API
// answered no discovery. Nil means that they are known.
func (k *Kinds) Unreadable(group string) error { return k.failed[group] }
