package dryrun

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
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
type listed struct {
	mu    sync.Mutex
	homes map[home]map[string]*unstructured.Unstructured // by name
}

// take gives what a list said of an object: nil where it does not exist. False
// means that no list was made, or that it was taken before.
func (l *listed) take(t *target) (live *unstructured.Unstructured, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, made := l.homes[home{t.gvk, t.object.Namespace()}]
	if !made || t.taken {
		return nil, false
	}
	live = names[t.object.Name()]
	delete(names, t.object.Name())
	t.taken = true
	return live, true
}

// list reads LIVE by lists where that takes fewer bytes and requests. Secrets
// are never listed: a namespace full of Helm releases is megabytes. What
// cannot be listed is read one by one later, and fails then if it must.
func (o *observer) list(ctx context.Context, set manifest.Set) *listed {
	wanted := map[home]map[string]bool{}
	for _, object := range set.Objects {
		at := home{gvkOf(object), object.Namespace()}
		_, served := o.options.Kinds.served[at.gvk]
		if !served || o.isHook(object) || manifest.IsSecret(object.Content) {
			continue
		}
		if wanted[at] == nil {
			wanted[at] = map[string]bool{}
		}
		wanted[at][object.Name()] = true
	}
	out := &listed{homes: map[home]map[string]*unstructured.Unstructured{}}
	group := errgroup.Group{}
	group.SetLimit(o.options.Concurrency)
	for at, names := range wanted {
		if len(names) < listFrom {
			continue
		}
		group.Go(func() error {
			return o.client.pace.do(ctx, func() {
				if found, ok := o.listHome(ctx, at, names); ok {
					out.mu.Lock()
					defer out.mu.Unlock()
					out.homes[at] = found
				}
			})
		})
	}
	_ = group.Wait() // no list is no error
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
