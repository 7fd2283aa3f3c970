package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
)

// worn are objects of which others have written every part.
const worn = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a, labels: {a: "1"}, annotations: {note: git}}
spec:
  replicas: 2
  minReadySeconds: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: a, operator: Exists}]
      containers:
      - name: c
        image: registry.example/web:1
        env: [{name: LEVEL, value: info}, {name: OTHER, value: "1"}]
        resources: {limits: {cpu: 1000m}}
      - {name: d, image: "registry.example/side:1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: team-a, annotations: {argocd.argoproj.io/ignore-differences: "jsonPointers: [/data/own]"}}
data: {a: git, b: git, own: git}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: team-a}
spec: {minAvailable: 1, selector: {matchLabels: {app: web, tier: git}}}
---
apiVersion: fidelity.example.com/v1
kind: Crate
metadata: {name: web, namespace: team-a}
spec:
  size: 2
  tags: [red, blue]
  words: [one, two]
  free: {one: 1, two: {three: 3}}
  parts: [{name: p, weight: 1}, {name: q, weight: 2}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: web-NS}
webhooks:
- name: one.example.com
  clientConfig: {url: "https://example.com/one"}
  sideEffects: None
  admissionReviewVersions: [v1]
  failurePolicy: Ignore
  objectSelector: {matchLabels: {never: matches}}
  rules: [{apiGroups: [none.example.com], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]
`

// wear is what others then made of them.
func wear(t *testing.T, namespace string) {
	t.Helper()
	patch := func(kind, kindOfPatch, text string) {
		kubectl(t, "patch", kind, "--type="+kindOfPatch, "-p", text, "-n", namespace, "--field-manager=robot")
	}
	kubectl(t, "scale", "deployment/web", "--replicas=7", "-n", namespace)
	patch("deployment/web", "strategic", `{"metadata":{"labels":{"b":"2"},"annotations":{"note":"robot","app.kubernetes.io/instance":"x"}},
		"spec":{"minReadySeconds":9,"template":{"spec":{"tolerations":[{"key":"b","operator":"Exists"}],
		"containers":[{"name":"c","image":"registry.example/web:2","env":[{"name":"LEVEL","value":"robot"},{"name":"MORE","value":"1"}],"resources":{"limits":{"cpu":"2"}}},
		{"name":"injected","image":"registry.example/mesh:1"}]}}}}`)
	patch("configmap/web", "merge", `{"data":{"a":"robot","own":"robot","extra":"robot"},"metadata":{"labels":{"app.kubernetes.io/instance":"x"}}}`)
	patch("poddisruptionbudget/web", "merge", `{"spec":{"minAvailable":2,"selector":{"matchLabels":{"app":"robot","more":"robot"}}}}`)
	patch("crate/web", "merge", `{"spec":{"size":9,"tags":["red","green"],"words":["one","three","two"],"free":{"one":9,"two":{"four":4}},"parts":[{"name":"p","weight":9},{"name":"r","weight":3}]}}`)
	patch("validatingwebhookconfiguration/web-"+namespace, "json", `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"Cg=="},{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`)
}

const respects = "RespectIgnoreDifferences=true"

// leaving is an Application with rules for the kinds of worn.
func leaving(rules string, options ...string) shop {
	return shop{options: append(options, respects), spec: "ignoreDifferences:\n" + rules + "\n"}
}

func leavingCases() map[string]shop {
	const deployment, crate, hook = "- {group: apps, kind: Deployment, ", "- {group: fidelity.example.com, kind: Crate, ", "- {group: admissionregistration.k8s.io, kind: '*', "
	return map[string]shop{
		"nothing":                     withOptions(respects),
		"pointers":                    leaving(deployment + "jsonPointers: [/spec/replicas, /metadata/annotations/note, /spec/template/spec/tolerations, /spec/nothing]}"),
		"entries of lists":            leaving(deployment + "jsonPointers: [/spec/template/spec/containers/0/image, /spec/template/spec/containers/0/env/0/value, /spec/template/spec/tolerations/0]}"),
		"a whole container":           leaving(deployment + "jsonPointers: [/spec/template/spec/containers/1]}"),
		"queries":                     leaving(deployment + `jqPathExpressions: ['.spec.template.spec.containers[] | select(.name == "injected")', '.spec.template.spec.containers[].env[]? | select(.name == "LEVEL")', .spec.replicas]}`),
		"a query for all containers":  leaving(deployment + "jqPathExpressions: ['.spec.template.spec.containers[].resources', '.metadata.labels']}"),
		"a query that ignores it all": leaving(deployment + "jqPathExpressions: [.spec]}"),
		"managers":                    leaving(deployment + "managedFieldsManagers: [robot, kubectl]}\n" + crate + "managedFieldsManagers: [robot]}"),
		"a manager of a ConfigMap":    leaving("- {group: '', kind: ConfigMap, managedFieldsManagers: [robot]}"),
		"a budget's selector":         leaving("- {group: policy, kind: PodDisruptionBudget, jsonPointers: [/spec/selector/matchLabels/app]}"),
		"custom resources":            leaving(crate + "jsonPointers: [/spec/size, /spec/free/two, /spec/tags], jqPathExpressions: ['.spec.parts[] | select(.name == \"p\")']}"),
		"entries of custom lists":     leaving(crate + "jsonPointers: [/spec/parts/0/weight, /spec/words/1, /spec/free/one]}"),
		"a webhook's bundle":          leaving(hook + "jqPathExpressions: ['.webhooks[]?.clientConfig.caBundle']}\n" + hook + "jsonPointers: [/webhooks/0/failurePolicy]}"),
		"server-side":                 leaving(deployment+"jsonPointers: [/spec/replicas, /spec/template/spec/containers/0/image], managedFieldsManagers: [robot]}", "ServerSideApply=true"),
		"replaced":                    leaving(deployment+"jsonPointers: [/spec/replicas, /spec/template/spec/containers/0/image]}", "Replace=true"),
		"as the install says": {options: []string{respects}, settings: map[string]string{
			"resource.customizations.ignoreDifferences.all":                      "jsonPointers: [/spec/replicas]\nmanagedFieldsManagers: [robot]",
			"resource.customizations.ignoreDifferences.apps_Deployment":          "jqPathExpressions: [.spec.minReadySeconds]",
			"resource.customizations.ignoreDifferences.ConfigMap":                "jsonPointers: [/data/a]",
			"resource.customizations.knownTypeFields.fidelity.example.com_Crate": "- {field: spec.free.one, type: core/Quantity}",
		}},
		"as the install says, in one member": {options: []string{respects}, settings: map[string]string{
			"resource.customizations": "apps/Deployment:\n  ignoreDifferences: |\n    jsonPointers: [/spec/replicas]\nfidelity.example.com/Crate:\n  ignoreDifferences: |\n    managedFieldsManagers: [robot]\n"}},
		"status counts":                   {options: []string{respects}, settings: map[string]string{"resource.compareoptions": "ignoreResourceStatusField: none"}},
		"tracked by label and annotation": {options: []string{respects}, settings: map[string]string{"application.resourceTrackingMethod": "annotation+label"}},
	}
}

func TestWhatIsIgnoredStaysAsThePlanForArgoCDSays(t *testing.T) {
	settle(t)
	for name, app := range leavingCases() {
		t.Run(name, func(t *testing.T) {
			namespace := kubetest.Shared(t).Namespace(t)
			text := strings.NewReplacer("team-a", namespace, "NS", namespace).Replace(worn)
			kubectlApply(t, text)
			wear(t, namespace)
			for _, o := range app.prove(t, text) {
				assert.Check(t, o.Failure == nil, "%s: %+v", o.Object.Key(), o.Failure)
				if name == "pointers" && o.Object.Kind() == "Deployment" {
					assert.Check(t, !strings.Contains(strings.Join(texts(t, o), "\n"), "spec.replicas"), "%v", texts(t, o))
				}
			}
		})
	}
}

func TestARuleThatArgoCDCannotReadFailsEachSync(t *testing.T) {
	for _, app := range []shop{
		leaving("- {group: batch, kind: Job, jqPathExpressions: ['(((']}"),
		{spec: "ignoreDifferences: [{group: batch, kind: Job, jqPathExpressions: ['.a | b']}]"},
		{settings: map[string]string{"resource.customizations.ignoreDifferences.batch_Job": "jqPathExpressions: ['(((']"}},
	} {
		text := inNamespace(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a}\ndata: {a: b}\n")
		seen := app.prove(t, text)[0]
		assert.Assert(t, seen.Failure != nil)
	}
}
