package dryrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
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

// Unreadable is why the kinds of a group are not known in full: its API
// answered no discovery. Nil means that they are known.
func (k *Kinds) Unreadable(group string) error { return k.failed[group] }
