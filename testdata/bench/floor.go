package main

import (
	"bytes"
	"context"
	"os"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// concurrency is that of a plan.
const concurrency = 16

var resources = map[string]schema.GroupVersionResource{
	"Deployment": {Group: "apps", Version: "v1", Resource: "deployments"},
	"Service":    {Version: "v1", Resource: "services"},
	"ConfigMap":  {Version: "v1", Resource: "configmaps"},
	"Widget":     {Group: "bench.example.com", Version: "v1", Resource: "widgets"},
}

type place struct {
	resource  schema.GroupVersionResource
	namespace string
}

// floor fires the requests that no plan can do without, and looks at no
// answer: LIVE of all by paged LIST, and one dry-run apply an object.
func floor(ctx context.Context, kubeconfig, file string) error {
	config, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	objects, places := []*unstructured.Unstructured{}, map[place]bool{}
	for document := range bytes.SplitSeq(data, []byte(separator)) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return err
		}
		objects = append(objects, object)
		places[place{resources[object.GetKind()], object.GetNamespace()}] = true
	}
	return fire(ctx, client, objects, places)
}

func fire(ctx context.Context, client dynamic.Interface, objects []*unstructured.Unstructured, places map[place]bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for at := range places {
		group.Go(func() error {
			_, err := client.Resource(at.resource).Namespace(at.namespace).List(ctx, metav1.ListOptions{Limit: 500})
			return err
		})
	}
	force := false
	for _, object := range objects {
		group.Go(func() error {
			body, err := object.MarshalJSON()
			if err != nil {
				return err
			}
			_, err = client.Resource(resources[object.GetKind()]).Namespace(object.GetNamespace()).Patch(ctx, object.GetName(),
				types.ApplyPatchType, body, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "changeward", Force: &force})
			return err
		})
	}
	return group.Wait()
}
