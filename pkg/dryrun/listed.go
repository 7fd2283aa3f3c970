package dryrun

import (
	"context"
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/changeward/changeward/pkg/manifest"
)

// When LIVE is listed: for at least so many objects of a kind in one
// namespace, and if there are not more than so many others for each of them.
const (
	listFrom  = 10
	listShare = 2
	listPage  = 500
)

// home is where objects of a kind live.
type home struct {
	gvk       schema.GroupVersionKind
	namespace string
}

// listed is what lists have said of LIVE. It may be old by the time of the dry
// run, which shows by the resourceVersion: so it serves the first look only.
// Each list is made when the first of its objects is looked at: all at once
// would take most of the memory of a large plan.
type listed struct {
	homes map[home]*household
	list  func(at home, names map[string]bool) (map[string]*unstructured.Unstructured, bool)
}

// household is what a set wants of a home, and what was found there.
type household struct {
	names map[string]bool
	once  sync.Once
	mu    sync.Mutex
	made  bool
	found map[string]*unstructured.Unstructured // by name; each is taken once
}

// take gives what a list said of an object: nil where it does not exist. False
// means that no list could be made, or that it was taken before.
func (l *listed) take(t *target) (live *unstructured.Unstructured, known bool) {
	at := home{t.gvk, t.object.Namespace()}
	h, wanted := l.homes[at]
	if !wanted || t.taken {
		return nil, false
	}
	h.once.Do(func() { h.found, h.made = l.list(at, h.names) })
	if !h.made {
		return nil, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	live = h.found[t.object.Name()]
	delete(h.found, t.object.Name())
	t.taken = true
	return live, true
}

// lists says where LIVE is read by lists: where that takes fewer bytes and
// requests. Secrets are never listed: a namespace full of Helm releases is
// megabytes. What cannot be listed is read one by one, and fails then if it
// must.
func (o *observer) lists(ctx context.Context, set manifest.Set) *listed {
	out := &listed{homes: map[home]*household{}, list: func(at home, names map[string]bool) (map[string]*unstructured.Unstructured, bool) {
		return o.listHome(ctx, at, names)
	}}
	for _, object := range set.Objects {
		at := home{gvkOf(object), object.Namespace()}
		_, served := o.options.Kinds.served[at.gvk]
		if !served || o.isHook(object) || manifest.IsSecret(object.Content) {
			continue
		}
		if out.homes[at] == nil {
			out.homes[at] = &household{names: map[string]bool{}}
		}
		out.homes[at].names[object.Name()] = true
	}
	maps.DeleteFunc(out.homes, func(_ home, h *household) bool { return len(h.names) < listFrom })
	return out
}

func (o *observer) listHome(ctx context.Context, at home, names map[string]bool) (map[string]*unstructured.Unstructured, bool) {
	resource := o.resource(o.options.Kinds.served[at.gvk], at.namespace)
	found := make(map[string]*unstructured.Unstructured, len(names))
	options := metav1.ListOptions{Limit: min(listPage, int64(len(names)))}
	for {
		page, err := resource.List(ctx, options)
		if err != nil || options.Continue == "" && !pays(page, len(names)) {
			return nil, false
		}
		for _, item := range page.Items { // a copy each, so that none keeps its page in memory
			if names[item.GetName()] {
				item.SetGroupVersionKind(at.gvk) // lists of built-in kinds leave it out, and masks need it
				found[item.GetName()] = &item
			}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return found, true
		}
		options.Limit = listPage
	}
}

// pays says by the first page of a list, which is no longer than what is wanted
// of it, whether to read on.
func pays(first *unstructured.UnstructuredList, wanted int) bool {
	remaining := first.GetRemainingItemCount()
	if remaining == nil {
		return first.GetContinue() == "" // else the server does not say how many there are
	}
	return int64(len(first.Items))+*remaining <= int64(wanted*(1+listShare))
}

// resource is where the server keeps objects of a kind.
func (o *observer) resource(kind served, namespace string) dynamic.ResourceInterface {
	if kind.namespaced {
		return o.client.dynamic.Resource(kind.resource).Namespace(namespace)
	}
	return o.client.dynamic.Resource(kind.resource)
}
