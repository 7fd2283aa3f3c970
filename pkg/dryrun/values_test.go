package dryrun_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

// pod is a Deployment without replicas of which only the Pods matter.
func pod(name, container, rest string) string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: team-a}
spec:
  replicas: 0
  selector: {matchLabels: {app: %[1]s}}
  template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: "r.example/c:1"%[2]s}]%[3]s}}
`, name, container, rest)
}

func TestEveryListWithAnEntryTwiceIsNamedWithItsKey(t *testing.T) {
	const spec = "spec.template.spec."
	for text, want := range map[string]string{
		pod("twice", "", ", volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]"):                                                        spec + `volumes: duplicate entries for key [name="v"]`,
		pod("twice", ", ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}]", ""):                                                   spec + `containers[name="c"].ports: duplicate entries for key [containerPort=80,protocol="TCP"]`,
		pod("twice", ", volumeMounts: [{name: v, mountPath: /a}, {name: w, mountPath: /a}]", ""):                                                 spec + `containers[name="c"].volumeMounts: duplicate entries for key [mountPath="/a"]`,
		pod("twice", ", env: [{name: A}, {name: A}]}, {name: c, image: a", ""):                                                                   spec + `containers[name="c"].env: duplicate entries for key [name="A"]; ` + spec + `containers: duplicate entries for key [name="c"]`,
		"{apiVersion: v1, kind: Service, metadata: {name: twice, namespace: team-a}, spec: {ports: [{name: a, port: 80}, {name: b, port: 80}]}}": `spec.ports: duplicate entries for key [port=80,protocol="TCP"]`,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: twice, namespace: team-a, finalizers: [example.com/a, example.com/a]}}":              `metadata.finalizers: duplicate entries for key [="example.com/a"]`,
	} {
		lines := planned(t, text)
		assert.Equal(t, len(lines), 1, "%v", lines)
		assert.Assert(t, strings.HasSuffix(lines[0], "/twice Invalid: "+want), lines[0])
	}
}

func TestPortsOfOneNumberAreToldApartByProtocol(t *testing.T) {
	service := "---\n{apiVersion: v1, kind: Service, metadata: {name: dns, namespace: team-a}, spec: {selector: {a: b}, ports: [{name: a, port: 53}, {name: b, port: 53, protocol: UDP}]}}\n"
	text := service + pod("dns", ", ports: [{name: a, containerPort: 53}, {name: b, containerPort: 53, protocol: UDP}]", "")
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, text)
	assert.DeepEqual(t, planned(t, text), []string{"= team-a/Service/dns (none)", "= team-a/Deployment.apps/dns (none)"})
}

func TestQuantitiesOfBuiltInKindsAreEqualHoweverWritten(t *testing.T) {
	text := strings.NewReplacer("CPU", `"1"`, "MEMORY", "1Gi")
	const quantities = `---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: quantities, namespace: NAMESPACE}, spec: {hard: {requests.cpu: CPU, memory: MEMORY}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: quantities, namespace: NAMESPACE}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: MEMORY}}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: quantities, namespace: NAMESPACE}, spec: {limits: [{type: Container, max: {cpu: CPU}}]}}
`
	mine := strings.ReplaceAll(quantities, "NAMESPACE", cluster(t).Namespace(t))
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, text.Replace(mine))
	for _, line := range planned(t, strings.NewReplacer("CPU", "1000m", "MEMORY", "1024Mi").Replace(mine)) {
		assert.Assert(t, strings.HasSuffix(line, "/quantities (none)"), line)
	}
}

func TestOneOfSeveralIsExchangedUnlessAnotherHoldsTheOld(t *testing.T) {
	exchanged := map[string][2]string{
		"volume":   {pod("NAME", "", ", volumes: [{name: v, configMap: {name: a}}]"), pod("NAME", "", ", volumes: [{name: v, secret: {secretName: a}}]")},
		"probe":    {pod("NAME", ", readinessProbe: {httpGet: {port: 80}}", ""), pod("NAME", ", readinessProbe: {exec: {command: [a]}}", "")},
		"variable": {pod("NAME", ", env: [{name: A, value: x}]", ""), pod("NAME", ", env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", "")},
	}
	refusals := map[string]string{
		"volume":   "spec.template.spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type",
		"probe":    "spec.template.spec.containers[0].readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
		"variable": "may not be specified when `value` is not empty",
	}
	for name, texts := range exchanged {
		t.Run(name, func(t *testing.T) {
			for manager, begins := range map[string]string{dryrun.Manager: "~ ", "another": "! "} {
				mine := strings.NewReplacer("NAME", "one-of-"+name+"-"+manager)
				cluster(t).Apply(t, kubetest.Admin, manager, mine.Replace(texts[0]))
				seen := built(t, observation{force: true}.observe(t, mine.Replace(texts[1])))
				lines := describe(seen)
				assert.Assert(t, strings.HasPrefix(lines[0], begins), lines[0])
				if begins == "! " {
					assert.Assert(t, strings.HasSuffix(lines[0], refusals[name]), lines[0])
					continue
				}
				for _, note := range seen.Changes[0].Notes {
					assert.Assert(t, !strings.Contains(note, "admission"), note)
				}
			}
		})
	}
}

// free is a kind whose spec may hold anything.
const free = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: frees.values.example.com}
spec:
  group: values.example.com
  scope: Namespaced
  names: {kind: Free, plural: frees, singular: free}
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
            x-kubernetes-preserve-unknown-fields: true
            properties:
              amount: {x-kubernetes-int-or-string: true}
              maybe: {type: string, nullable: true}
              given: {type: string, default: d}
`

func TestACustomResourceKeepsWhatBuiltInKindsHoldEqual(t *testing.T) {
	cluster(t).Apply(t, kubetest.Admin, "test", free)
	object := func(name, spec string) string {
		return "{apiVersion: values.example.com/v1, kind: Free, metadata: {name: " + name + ", namespace: team-a}, spec: {" + spec + "}}"
	}
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, object("quantities", `amount: "1", cpu: 500m, list: [a, b]`), object("empties", "a: b"))
	assert.DeepEqual(t, planned(t, object("quantities", `amount: 1000m, cpu: 0.5, list: [b, a]`)), []string{
		"~ team-a/Free.values.example.com/quantities (update)",
		`spec.amount: "1" → "1000m"`, `spec.cpu: "500m" → 0.5`, `spec.list[0]: "a" → "b"`, `spec.list[1]: "b" → "a"`,
	})
	empties := object("empties", "a: b, box: {}, list: [], none: null, maybe: null, given: null")
	assert.DeepEqual(t, planned(t, empties), []string{
		"~ team-a/Free.values.example.com/empties (update)",
		"+ spec.box: {}", "+ spec.list: []", "+ spec.maybe: null", "+ spec.none: null",
	})
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, empties)
	assert.DeepEqual(t, planned(t, empties), []string{"= team-a/Free.values.example.com/empties (none)"})
}

func TestEmptyMembersOfABuiltInKindAreNothing(t *testing.T) {
	const full = "{apiVersion: v1, kind: ConfigMap, metadata: {name: empties, namespace: team-a, labels: {}, annotations: null, finalizers: [], ownerReferences: []}, data: {}, binaryData: null}"
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, "{apiVersion: v1, kind: ConfigMap, metadata: {name: empties, namespace: team-a}}")
	assert.DeepEqual(t, planned(t, full), []string{"= team-a/ConfigMap/empties (none)"})
}

func TestANewOrderOfASetIsAChange(t *testing.T) {
	object := func(finalizers string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: ordered, namespace: team-a, finalizers: [" + finalizers + "]}}"
	}
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, object("example.com/a, example.com/b"))
	assert.DeepEqual(t, planned(t, object("example.com/b, example.com/a")), []string{
		"~ team-a/ConfigMap/ordered (update)", `metadata.finalizers (order): ["example.com/a","example.com/b"] → ["example.com/b","example.com/a"]`,
	})
}
