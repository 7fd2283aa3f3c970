package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// container is one more of a large Deployment.
const container = `      - name: NAME
        image: registry.example.com/team/NAME:%[3]s
        ports: [{containerPort: PORT, name: NAME}]
        env:
        - {name: LOG_LEVEL, value: info}
        - {name: REGION, value: eu}
        - {name: UPSTREAM, value: "http://upstream.example.com:8080"}
        - {name: TIMEOUT, value: 30s}
        - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 256Mi}}
        livenessProbe: {httpGet: {path: /healthz, port: NAME}, periodSeconds: 10}
        readinessProbe: {httpGet: {path: /readyz, port: NAME}, periodSeconds: 5}
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
`

// templates are the kinds; large Deployments have three containers, and large
// ConfigMaps a file of 2 KB.
func templates(large bool) []string {
	out := slices.Clone(kinds)
	if !large {
		return out
	}
	out[0] += strings.NewReplacer("NAME", "proxy", "PORT", "8443").Replace(container) +
		strings.NewReplacer("NAME", "metrics", "PORT", "9090").Replace(container) + "      volumes: [{name: tmp, emptyDir: {}}]\n"
	out[2] = strings.Replace(out[2], "some words of configuration", strings.Repeat("some words of configuration, ", 70), 1)
	return out
}

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

// separator parts the objects of a file.
const separator = "---\n"

// manifests are one set of objects, twice: all in a file, and a file each.
type manifests struct {
	size         int
	file, folder string
}

// prepare puts size objects into namespaces of 250 and writes manifests of
// which every twentieth asks for another value.
func (c *cluster) prepare(ctx context.Context, size int) (manifests, error) {
	folder := filepath.Join(c.dir, fmt.Sprintf("manifests-%d", size))
	set := manifests{size: size, folder: folder, file: folder + ".yaml"}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return set, err
	}
	var namespaces, live, wanted []string
	kinds := templates(c.large)
	for i := 0; i < size; i += 250 {
		namespaces = append(namespaces, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: n%d-%d}\n", size, i/250))
	}
	for i := range size {
		namespace, name, value := fmt.Sprintf("n%d-%d", size, i/250), fmt.Sprintf("o%04d", i), "one"
		live = append(live, fmt.Sprintf(kinds[i%4], namespace, name, value))
		if i%20 == 0 {
			value = "two"
		}
		wanted = append(wanted, fmt.Sprintf(kinds[i%4], namespace, name, value))
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(wanted[i]), 0o600); err != nil {
			return set, err
		}
	}
	if err := os.WriteFile(set.file, []byte(strings.Join(wanted, separator)), 0o600); err != nil {
		return set, err
	}
	for _, manifests := range []string{definition, strings.Join(namespaces, separator), strings.Join(live, separator)} {
		if err := c.apply(ctx, manifests); err != nil {
			return set, err
		}
	}
	return set, nil
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
