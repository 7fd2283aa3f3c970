package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// kinds are the four that a set is made of, in equal parts. The verb takes the
// namespace, the name, and a value that may change.
var kinds = []string{`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]s, labels: {app: %[2]s}}
spec:
  replicas: 2
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec:
      containers:
      - name: web
        image: registry.example.com/web:%[3]s
        ports: [{containerPort: 8080, name: http}]
        env: [{name: MODE, value: "%[3]s"}, {name: REGION, value: eu}]
        resources: {requests: {cpu: 100m, memory: 64Mi}}
`, `apiVersion: v1
kind: Service
metadata: {name: %[2]s, namespace: %[1]s, annotations: {release: "%[3]s"}}
spec: {selector: {app: %[2]s}, ports: [{name: http, port: 80, targetPort: 8080}]}
`, `apiVersion: v1
kind: ConfigMap
metadata: {name: %[2]s, namespace: %[1]s}
data: {mode: "%[3]s", region: eu, text: "some words of configuration"}
`, `apiVersion: bench.example.com/v1
kind: Widget
metadata: {name: %[2]s, namespace: %[1]s}
spec: {size: 3, mode: "%[3]s", parts: [{name: a, count: 1}, {name: b, count: 2}]}
`}

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.bench.example.com}
spec:
  group: bench.example.com
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              mode: {type: string}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, count: {type: integer}}
`

// prepare puts size objects into namespaces of 250 and writes manifests of
// which every twentieth asks for another value. It returns their folder.
func (c *cluster) prepare(ctx context.Context, size int) (string, error) {
	var live bytes.Buffer
	folder := filepath.Join(c.dir, fmt.Sprintf("manifests-%d", size))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for i := 0; i < size; i += 250 {
		fmt.Fprintf(&live, "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n%d-%d}\n", size, i/250)
	}
	if err := c.apply(ctx, definition); err != nil {
		return "", err
	}
	if err := c.apply(ctx, live.String()); err != nil {
		return "", err
	}
	live.Reset()
	for i := range size {
		namespace, name, value := fmt.Sprintf("n%d-%d", size, i/250), fmt.Sprintf("o%04d", i), "one"
		fmt.Fprintf(&live, "---\n"+kinds[i%4], namespace, name, value)
		if i%20 == 0 {
			value = "two"
		}
		file := filepath.Join(folder, name+".yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, kinds[i%4], namespace, name, value), 0o600); err != nil {
			return "", err
		}
	}
	return folder, c.apply(ctx, live.String())
}

// apply writes objects server-side as changeward, as a rollout would have.
func (c *cluster) apply(ctx context.Context, manifests string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "kubectl"), "--kubeconfig", c.kubeconfig, "apply", "--server-side",
		"--field-manager=changeward", "-f", "-")
	cmd.Stdin = bytes.NewBufferString(manifests)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply: %w: %s", err, out)
	}
	return nil
}
