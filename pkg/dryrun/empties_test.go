package dryrun_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

// hollow is new objects whose lines with # say nothing.
const hollow = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: hollow
  namespace: team-a
  labels: {} #
  annotations: {} #
  finalizers: [] #
  ownerReferences: null #
spec:
  replicas: null #
  strategy: {} #
  selector: {matchLabels: {app: b31}}
  template:
    metadata:
      annotations: null #
      labels: {app: b31}
    spec:
      initContainers: null #
      nodeSelector: {} #
      tolerations: [] #
      imagePullSecrets: [] #
      containers:
      - name: c
        image: registry.example/app:1
        args: [] #
        env: [] #
        resources: {} #
        volumeMounts: null #
      - name: d
        image: registry.example/app:1
        ports:
        - {containerPort: 80}
        resources: #
          limits: {} #
          requests: null #
      volumes:
      - name: v
        configMap:
          name: c
          items: [] #
---
apiVersion: v1
kind: Service
metadata: {name: hollow, namespace: team-a}
spec:
  selector: {a: b}
  externalIPs: [] #
  loadBalancerSourceRanges: null #
  sessionAffinityConfig: null #
  ports: [{port: 80}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: hollow, namespace: team-a}
binaryData: {} #
data: null #
---
apiVersion: v1
kind: Secret
metadata: {name: hollow, namespace: team-a}
stringData: {} #
data: {a: YQ==}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: hollow, namespace: team-a}
imagePullSecrets: [] #
secrets: [] #
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: hollow}
rules:
- verbs: [get]
  apiGroups: [""]
  resources: [pods]
  resourceNames: [] #
  nonResourceURLs: null #
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: hollow, namespace: team-a}
spec:
  tls: [] #
  ingressClassName: null #
  rules:
  - host: a.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}
`

func TestEmptyMembersOfANewObjectDoNotChangeTheHash(t *testing.T) {
	var without []string
	for line := range strings.Lines(hollow) {
		if !strings.Contains(line, "#") {
			without = append(without, line)
		}
	}
	with := byName(built(t, observation{}.observe(t, hollow)))
	assert.Equal(t, len(with), 7)
	for name, plain := range byName(built(t, observation{}.observe(t, strings.Join(without, "")))) {
		assert.DeepEqual(t, with[name].Body, plain.Body)
		assert.Equal(t, with[name].Digest, plain.Digest)
	}
}

func TestEmptyMembersOfANewCustomResourceCountWhereTheServerKeepsThem(t *testing.T) {
	const group = "hollow.example.com"
	definition := strings.NewReplacer("upgrade.example.com", group, "size: {type: integer}", "size: {type: integer}, tags: {type: array, items: {type: string}}, "+
		"none: {type: string, nullable: true}, free: {type: object, x-kubernetes-preserve-unknown-fields: true}").Replace(oldDefinition)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, definition)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, strings.ReplaceAll(jar, "upgrade.example.com", group))
	hash := func(metadata, members string) string {
		lines, hash := observation{}.plan(t, "{apiVersion: "+group+"/v1, kind: Jar, metadata: {name: new, namespace: team-a"+metadata+"}, size: 1"+members+"}")
		assert.DeepEqual(t, lines, []string{"+ team-a/Jar." + group + "/new (create)"})
		return hash
	}
	assert.Equal(t, hash(", labels: {}, annotations: null, finalizers: []", ""), hash("", ""))
	for _, members := range []string{", tags: []", ", none: null", ", free: {}", ", free: {a: []}"} {
		assert.Assert(t, hash("", members) != hash("", ""), members)
	}
}

func TestEmptyMembersThatMeanSomethingStay(t *testing.T) {
	for name, text := range map[string]string{
		"an emptyDir": "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team-a}, spec: {containers: [{name: c, image: i}], volumes: [{name: v, emptyDir: {}}]}}",
		"a selector of all namespaces": "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: np, namespace: team-a}, " +
			"spec: {podSelector: {}, ingress: [{from: [{namespaceSelector: {}}]}]}}",
		"a rule for all":          "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: np, namespace: team-a}, spec: {podSelector: {}, ingress: [{}]}}",
		"a security context":      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team-a}, spec: {containers: [{name: c, image: i, securityContext: {}}]}}",
		"values that are \"\"":    `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team-a}, data: {a: ""}}`,
		"a limit that is zero":    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team-a}, spec: {containers: [{name: c, image: i, resources: {limits: {cpu: null}}}]}}",
		"a node label of no text": "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team-a}, spec: {nodeSelector: {a: null}, containers: [{name: c, image: i}]}}",
		"a Secret's own ones":     `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: team-a}, data: {a: ""}}`,
	} {
		t.Run(name, func(t *testing.T) {
			seen := observation{}.observe(t, text)
			change := built(t, seen).Changes[0]
			assert.Assert(t, diff.Equal(change.Body.Object, seen[0].Object.Content), "%v", change.Body.Object)
			assert.Assert(t, change.Stated == nil)
		})
	}
}

func TestAnEmptyMapThatAdmissionFillsDoesNotChangeTheHash(t *testing.T) {
	c := cluster(t)
	namespace := c.Namespace(t)
	c.Mutate(t, []string{namespace}, []string{"configmaps"}, func() map[string]string { return map[string]string{"added": "yes"} })
	text := func(annotations string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: filled, namespace: " + namespace + annotations + "}}"
	}
	poll.WaitOn(t, func(poll.LogT) poll.Result { // the server takes a moment to heed a webhook
		with, hash := observation{}.plan(t, text(", annotations: {}"))
		without, same := observation{}.plan(t, text(""))
		if len(with) == 2 && len(without) == 2 {
			assert.Equal(t, hash, same)
			return poll.Success()
		}
		return poll.Continue("%v, %v", with, without)
	})
}

func TestWhatTheServerCouldNotCheckIsComparedAsItsManifestStatesIt(t *testing.T) {
	text := strings.ReplaceAll(hollow, "namespace: team-a", "namespace: hollow-new")
	const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: hollow-new, labels: {}}}"
	before := byName(built(t, observation{}.observe(t, text+"\n---\n"+namespace)))
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, namespace)
	unverified := 0
	for name, now := range byName(built(t, observation{}.observe(t, text))) {
		assert.Equal(t, now.Unverified, "")
		assert.Assert(t, now.Stated != nil, name)
		if then := before[name]; then.Unverified != "" {
			assert.Assert(t, diff.Equal(now.Stated, then.Body.Object), "%s: %v", name, then.Body.Object)
			unverified++
		}
	}
	assert.Equal(t, unverified, 6)
}

func byName(p *plan.Plan) map[string]plan.Change {
	out := map[string]plan.Change{}
	for _, change := range p.Changes {
		out[change.Body.Key().String()] = change
	}
	return out
}
