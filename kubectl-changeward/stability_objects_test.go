package main

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.stability.example}
spec:
  group: stability.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              mode: {type: string, default: calm}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, weight: {type: integer}}
          status:
            type: object
            properties: {seen: {type: integer}}
`

// kindOfMany is one of the kinds that the large plan is made of: content(i, v)
// is the i-th object in its version v, apart from the head.
type kindOfMany struct {
	resource   schema.GroupVersionResource
	apiVersion string
	kind       string
	status     bool // others write to a status subresource
	content    func(i, v int) object
}

func kindsOfMany() []kindOfMany {
	core, apps := "v1", "apps/v1"
	return []kindOfMany{
		{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, core, "ConfigMap", false, func(i, v int) object {
			return object{"data": object{"level": fmt.Sprint(v), "name": fmt.Sprint("n", i), "text": "a: b\nc: |\n  d\n"}}
		}},
		{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, apps, "Deployment", true, deploymentOf},
		{schema.GroupVersionResource{Version: "v1", Resource: "services"}, core, "Service", true, func(i, v int) object {
			ports := []any{object{"name": "http", "port": 80 + v, "targetPort": "web"}, object{"name": "dns", "port": 53, "protocol": "UDP"}}
			return object{"spec": object{"selector": object{"app": fmt.Sprint("a", i)}, "ports": ports}}
		}},
		{schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, core, "Secret", false, func(i, v int) object {
			password := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "pw-%d-%d", i, v))
			return object{"type": "Opaque", "data": object{"password": password}, "stringData": object{"user": fmt.Sprint("u", i)}}
		}},
		{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}, "rbac.authorization.k8s.io/v1", "Role", false,
			func(i, v int) object {
				verbs := []any{"get", "list", "watch"}[:1+v]
				return object{"rules": []any{object{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": verbs}}}
			}},
		{schema.GroupVersionResource{Group: "stability.example", Version: "v1", Resource: "widgets"}, "stability.example/v1", "Widget", true,
			func(i, v int) object {
				parts := []any{object{"name": "a", "weight": v}, object{"name": "b", "weight": 2}}
				return object{"spec": object{"size": i, "parts": parts}}
			}},
	}
}

func deploymentOf(i, v int) object {
	app := object{"app": fmt.Sprint("a", i)}
	container := object{"name": "web", "image": fmt.Sprint("registry.example/web:", v),
		"env":       []any{object{"name": "B", "value": "1"}, object{"name": "A", "value": fmt.Sprint(i)}},
		"ports":     []any{object{"name": "web", "containerPort": 8080}},
		"resources": object{"requests": object{"cpu": "0.1", "memory": "64Mi"}}}
	return object{"spec": object{"selector": object{"matchLabels": app},
		"template": object{"metadata": object{"labels": app}, "spec": object{"containers": []any{container}}}}}
}

// many makes n objects of all kinds in the namespaces. desired are all of
// them; live are those that exist, a third of which is what is desired, and the
// others differ from it.
func many(n int, namespaces []string) (desired, live []object) {
	kinds := kindsOfMany()
	for i := range n {
		kind := kinds[i%len(kinds)]
		at := func(version int) object {
			o := kind.content(i, version)
			o["apiVersion"], o["kind"] = kind.apiVersion, kind.kind
			o["metadata"] = object{"name": fmt.Sprintf("many-%03d", i), "namespace": namespaces[i/18%len(namespaces)],
				"labels": object{"app": "many", "part-of": fmt.Sprint("p", i%7)}, "annotations": object{"example.com/note": fmt.Sprint(i)}}
			return o
		}
		desired = append(desired, at(1))
		switch i / len(kinds) % 3 {
		case 0:
			live = append(live, at(1))
		case 1:
			live = append(live, at(0))
		}
	}
	return desired, live
}
