package soak_test

import (
	"fmt"
	"strings"
)

// A set has objects of several kinds in a namespace of its own, NS. Where the
// text has «old|new», version 1 is what is live, version 2 what is planned.
// Documents of which nothing is left in version 1 arrive with version 2.

// fragments are what sets are made of. No manifest says how many replicas
// there are: that is the autoscaler's.
func fragments() []string {
	return []string{
		`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NS, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "registry.example/web:«1|2»", ports: [{containerPort: 8080}], env: [{name: MODE, value: "«off|on»"}, {name: SAME, value: x}]}
      - {name: log, image: "registry.example/log:1", resources: {requests: {cpu: 500m, memory: «64Mi|128Mi»}}}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS, annotations: {team: shop}}
data: {mode: "«off|on»", same: "1", more: "«a|b»"}
`, `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NS}
spec: {selector: {app: «web|web2»}, ports: [{name: http, port: 80, targetPort: «8080|8081»}]}
`, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: NS}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}, annotations: {rev: "«1|2»"}}
    spec: {containers: [{name: db, image: "registry.example/db:«1|2»"}]}
`, `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: NS}
data: {password: «b2xk|bmV3», user: c2hvcA==}
`, `
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: NS}
spec:
  schedule: "«0 1|0 2» * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example/report:1"}]}}}}
`, `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: NS}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: «5|7»}
`, `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: NS}
spec: {rules: [{host: shop.example, http: {paths: [{path: «/|/shop», pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`, `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: NS}
spec: {podSelector: {matchLabels: {app: web}}, ingress: [{ports: [{port: «8080|8081»}]}]}
`, `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: NS}
spec: {minAvailable: «1|2», selector: {matchLabels: {app: web}}}
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: read, namespace: NS}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get«|, list»]}]
`, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: NS}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: a, image: "registry.example/agent:«1|2»"}]}}
`, `
apiVersion: soak.example/v1
kind: Widget
metadata: {name: w, namespace: NS}
spec: {size: «1|2», parts: [{name: a, count: «1|3»}, {name: b, count: 1}]}
`, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: NS, annotations: {role: "«reader|writer»"}}
`,
	}
}

// arriving are objects that only version 2 has.
func arriving() []string {
	return []string{
		`
apiVersion: v1
kind: Service
metadata: {name: fresh, namespace: NS}
spec: {selector: {app: fresh}, ports: [{port: 80}]}
`, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: fresh, namespace: NS}
spec:
  selector: {matchLabels: {app: fresh}}
  template: {metadata: {labels: {app: fresh}}, spec: {containers: [{name: c, image: "registry.example/fresh:1"}]}}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: fresh, namespace: NS}
data: {k: v}
`, `
apiVersion: batch/v1
kind: Job
metadata: {name: fresh, namespace: NS}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example/job:1"}]}}}
`,
	}
}

// manySettings are so many ConfigMaps that LIVE is read by a list.
func manySettings() string {
	var out strings.Builder
	for i := range 14 {
		value := "same"
		if i%5 == 0 {
			value = "«old|new»"
		}
		fmt.Fprintf(&out, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%02d, namespace: NS}\ndata: {k: %q}\n", i, value)
	}
	return out.String()
}

// sets is how many manifest sets there are.
const sets = 20

// manifests are those of a set, in version 1 or 2.
func manifests(set int, namespace string, version int) string {
	all, fresh := fragments(), arriving()
	documents := []string{}
	for _, step := range []int{0, 1, 3, 6, 10} {
		documents = append(documents, all[(set+step)%len(all)])
	}
	text := strings.Join(documents, "---\n")
	if set%4 == 3 {
		text += manySettings()
	}
	text = render(text, version)
	if version == 2 && set%2 == 0 {
		text += "---\n" + fresh[set/2%len(fresh)]
	}
	return strings.ReplaceAll(text, "NS", namespace)
}

func render(text string, version int) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "«")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		choice, after, _ := strings.Cut(rest, "»")
		old, now, _ := strings.Cut(choice, "|")
		if version == 1 {
			now = old
		}
		out.WriteString(now)
		text = after
	}
}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.soak.example}
spec:
  group: soak.example
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            properties:
              size: {type: integer}
              colour: {type: string, default: blue}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, count: {type: integer}}}
`
