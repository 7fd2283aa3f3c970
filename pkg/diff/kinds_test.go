package diff_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
)

// One case of a kind: what changes, in the words of the plan. The manifest is
// MERGED.
type kindCase struct {
	apiVersion, kind, live, merged string
	want                           string // one transition a line
}

func TestEveryKindChangesByItsOwnListKinds(t *testing.T) {
	real := realSchemas(t)
	for _, c := range append(workloadKinds(), otherKinds()...) {
		t.Run(c.kind, func(t *testing.T) {
			got := diff.Objects(decoded(t, c.live), decoded(t, c.merged), nil, real.of(t, c.apiVersion, c.kind))
			assert.DeepEqual(t, lines(t, got), strings.Split(c.want, "\n"))
			back := diff.Objects(decoded(t, c.merged), decoded(t, c.live), nil, real.of(t, c.apiVersion, c.kind))
			assert.Assert(t, len(back) > 0, "the way back is a change, too")
		})
	}
}

func workloadKinds() []kindCase {
	return []kindCase{
		{"apps/v1", "Deployment",
			`spec: {template: {spec: {containers: [{name: c, image: "a:1", ports: [{containerPort: 80, protocol: TCP}]}]}}}`,
			`spec: {template: {spec: {containers: [{name: c, image: "a:2", ports: [{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP}]}]}}}`,
			`spec.template.spec.containers[name="c"].image: "a:1" → "a:2"
+ spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="UDP"]: {"containerPort":80,"protocol":"UDP"}`},
		{"apps/v1", "StatefulSet",
			`spec: {replicas: 3, volumeClaimTemplates: [{metadata: {name: d}, spec: {resources: {requests: {storage: 1Gi}}}}]}`,
			`spec: {replicas: 0, volumeClaimTemplates: [{metadata: {name: d}, spec: {resources: {requests: {storage: 2Gi}}}}]}`,
			`spec.replicas: 3 → 0
spec.volumeClaimTemplates[0].spec.resources.requests.storage: "1Gi" → "2Gi"`},
		{"apps/v1", "DaemonSet",
			`spec: {template: {spec: {tolerations: [{operator: Exists}], volumes: [{name: v, emptyDir: {}}]}}}`,
			`spec: {template: {spec: {tolerations: [{operator: Exists}, {key: x}], volumes: [{name: v, hostPath: {path: /}}]}}}`,
			`spec.template.spec.tolerations: [{"operator":"Exists"}] → [{"operator":"Exists"},{"key":"x"}]
- spec.template.spec.volumes[name="v"].emptyDir: {}
+ spec.template.spec.volumes[name="v"].hostPath.path: "/"`},
		{"batch/v1", "Job",
			`spec: {template: {spec: {initContainers: [{name: a}, {name: b}]}}}`,
			`spec: {template: {spec: {initContainers: [{name: b}, {name: a}]}}}`,
			`order spec.template.spec.initContainers: ["a","b"] → ["b","a"]`},
		{"batch/v1", "CronJob",
			`spec: {schedule: "* * * * *"}`,
			`spec: {schedule: "0 * * * *", suspend: true}`,
			`spec.schedule: "* * * * *" → "0 * * * *"
+ spec.suspend: true`},
		{"v1", "Pod",
			`spec: {containers: [{name: c, args: [a, b], env: [{name: E, value: "1"}], volumeMounts: [{mountPath: /x, name: v}]}]}`,
			`spec: {containers: [{name: c, args: [a, c], env: [], volumeMounts: [{mountPath: /y, name: v}]}]}`,
			`spec.containers[name="c"].args[1]: "b" → "c"
- spec.containers[name="c"].env[name="E"]: {"name":"E","value":"1"}
+ spec.containers[name="c"].env: []
- spec.containers[name="c"].volumeMounts[mountPath="/x"]: {"mountPath":"/x","name":"v"}
+ spec.containers[name="c"].volumeMounts[mountPath="/y"]: {"mountPath":"/y","name":"v"}`},
		{"autoscaling/v2", "HorizontalPodAutoscaler",
			`spec: {maxReplicas: 5, metrics: [{type: Resource}]}`,
			`spec: {maxReplicas: 9}`,
			`spec.maxReplicas: 5 → 9
- spec.metrics: [{"type":"Resource"}]`},
		{"policy/v1", "PodDisruptionBudget",
			`spec: {minAvailable: 1}`, `spec: {minAvailable: "50%"}`,
			`spec.minAvailable: 1 → "50%"`},
		{"v1", "ServiceAccount",
			`imagePullSecrets: [{name: a}]
secrets: [{name: s}]`,
			`imagePullSecrets: [{name: a}, {name: b}]
secrets: [{name: s}]
automountServiceAccountToken: false`,
			`+ automountServiceAccountToken: false
imagePullSecrets: [{"name":"a"}] → [{"name":"a"},{"name":"b"}]`},
		{"v1", "PersistentVolumeClaim",
			`spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`,
			`spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 2Gi}}}`,
			`spec.accessModes[0]: "ReadWriteOnce" → "ReadWriteMany"
spec.resources.requests.storage: "1Gi" → "2Gi"`},
	}
}

func otherKinds() []kindCase {
	return []kindCase{
		{"v1", "ConfigMap",
			`data: {a: "1", tls.crt: x}`, `data: {a: "2", "größe": z}`,
			`data.a: "1" → "2"
+ data["größe"]: "z"
- data["tls.crt"]: "x"`},
		{"v1", "Secret", `{type: Opaque, data: {a: YQ==}}`, `{type: Opaque, immutable: true, data: {a: YQ==}}`, `+ immutable: true`},
		{"v1", "Namespace", `metadata: {name: n, finalizers: [x/a, x/b]}`, `metadata: {name: n, finalizers: [x/b, x/a, x/c]}`,
			`+ metadata.finalizers[="x/c"]: "x/c"
order metadata.finalizers: ["x/a","x/b"] → ["x/b","x/a","x/c"]`},
		{"v1", "Service",
			`spec: {selector: {app: a}, ports: [{port: 80, protocol: TCP, targetPort: 8080}]}`,
			`spec: {selector: {app: b}, ports: [{port: 80, protocol: TCP, targetPort: http}, {port: 443, protocol: TCP}]}`,
			`spec.ports[port=80,protocol="TCP"].targetPort: 8080 → "http"
+ spec.ports[port=443,protocol="TCP"]: {"port":443,"protocol":"TCP"}
spec.selector.app: "a" → "b"`},
		{"networking.k8s.io/v1", "Ingress",
			`spec: {rules: [{host: a.example}]}`, `spec: {rules: [{host: b.example}], tls: [{hosts: [b.example]}]}`,
			`spec.rules[0].host: "a.example" → "b.example"
+ spec.tls: [{"hosts":["b.example"]}]`},
		{"networking.k8s.io/v1", "NetworkPolicy",
			`spec: {podSelector: {matchLabels: {app: a}}, policyTypes: [Ingress]}`,
			`spec: {podSelector: {}, policyTypes: [Ingress]}`,
			`- spec.podSelector.matchLabels.app: "a"
+ spec.podSelector: {}`},
		{"rbac.authorization.k8s.io/v1", "ClusterRole",
			`rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]`,
			`rules: [{apiGroups: [""], resources: [pods], verbs: ["*"]}]`,
			`rules[0].verbs[0]: "get" → "*"`},
		{"rbac.authorization.k8s.io/v1", "RoleBinding",
			`subjects: [{kind: User, name: a}]`, `subjects: [{kind: User, name: a}, {kind: User, name: b}]`,
			`subjects: [{"kind":"User","name":"a"}] → [{"kind":"User","name":"a"},{"kind":"User","name":"b"}]`},
		{"storage.k8s.io/v1", "StorageClass",
			`{provisioner: p, parameters: {type: a}}`, `{provisioner: p, parameters: {type: b}, allowVolumeExpansion: true}`,
			`+ allowVolumeExpansion: true
parameters.type: "a" → "b"`},
		{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
			`webhooks: [{name: a.example, failurePolicy: Fail}, {name: b.example}]`,
			`webhooks: [{name: a.example, failurePolicy: Ignore}]`,
			`webhooks[name="a.example"].failurePolicy: "Fail" → "Ignore"
- webhooks[name="b.example"]: {"name":"b.example"}`},
		{"v1", "LimitRange",
			`spec: {limits: [{type: Container, max: {cpu: "1"}}]}`, `spec: {limits: [{type: Container, max: {cpu: "2"}}]}`,
			`spec.limits[0].max.cpu: "1" → "2"`},
	}
}
