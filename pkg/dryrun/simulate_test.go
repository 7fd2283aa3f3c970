package dryrun_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

const policyText = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: dryrun-read-only, annotations: {kept: "yes", dropped: "yes"}}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps], scope: "*"}], matchPolicy: Equivalent, namespaceSelector: {}, objectSelector: {}}
  validations: [{expression: "true", message: "first"}, {expression: "1 == 1"}]
`

// mayOnlyRead lets alice read objects of one kind.
func mayOnlyRead(t *testing.T, name, group, resource string) {
	t.Helper()
	client := cluster(t).Client(kubetest.Admin).RbacV1()
	meta := metav1.ObjectMeta{Name: name}
	_, err := client.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"get", "list"}},
	}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta,
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: name}, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "alice"}},
	}, metav1.CreateOptions{})
	assert.NilError(t, err)
}

func TestAdmissionPoliciesAreReadWhereTheyMayNotBeDryRun(t *testing.T) {
	mayOnlyRead(t, "dryrun-policies", "admissionregistration.k8s.io", "validatingadmissionpolicies")
	alice := observation{config: cluster(t).Config("alice")}
	lines, _ := alice.plan(t, policyText)
	const title = "ValidatingAdmissionPolicy.admissionregistration.k8s.io/dryrun-read-only"
	const mark = " admission never guards its own configuration, and the caller may not dry-run it: it was read only"
	assert.DeepEqual(t, lines, []string{"+ " + title + " (create)" + mark})

	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, policyText)
	lines, _ = alice.plan(t, policyText)
	assert.DeepEqual(t, lines, []string{"= " + title + " (none)"})
	changed := strings.NewReplacer(`, dropped: "yes"`, "", "1 == 1", "2 == 2").Replace(policyText)
	lines, _ = alice.plan(t, changed)
	assert.Equal(t, lines[0], "~ "+title+" (update)"+mark)
	assert.DeepEqual(t, lines[1:], planned(t, changed)[1:]) // as the server says to whom it lets
	assert.Equal(t, len(lines), 3)
}

// extension is an API server of its own, which knows no dry runs, and what it
// was asked.
func extension(t *testing.T, group string) (asked func() []string) {
	t.Helper()
	requests := make(chan string, 1000)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Method + " " + r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/apis/"+group+"/v1" {
			fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"%s/v1","resources":[
				{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","patch","create"]}]}`, group)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not found"}`)
	}))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	assert.NilError(t, err)
	cluster(t).Apply(t, kubetest.Admin, "test", fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: extension, namespace: team-a}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %[2]s}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.%[1]s}
spec:
  group: %[1]s
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: extension, namespace: team-a, port: %[2]s}
`, group, address.Port()))
	t.Cleanup(func() { removeAPIService(t, "v1."+group) })
	return func() (all []string) {
		for len(requests) > 0 {
			all = append(all, <-requests)
		}
		return all
	}
}

func TestOtherAPIServersAreNeverSentADryRun(t *testing.T) {
	const group = "other.example.com"
	asked := extension(t, group)
	client, err := dryrun.New(cluster(t).Config(kubetest.Admin))
	assert.NilError(t, err)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		kinds, err := client.Kinds(t.Context())
		if err != nil {
			return poll.Error(err)
		}
		if _, known := kinds.Scope(group, "v1", "Thing"); !known {
			return poll.Continue("not known yet: %v", kinds.Unreadable(group))
		}
		return poll.Success()
	})
	mayOnlyRead(t, "dryrun-things", group, "things")
	for user, why := range map[string]string{
		kubetest.Admin: "its API is served by another server than Kubernetes itself, which no admission guards: it was read only",
		"alice":        "its API does not say that it knows dry runs: it was read only",
	} {
		lines, _ := observation{config: cluster(t).Config(user)}.plan(t, "{apiVersion: "+group+"/v1, kind: Thing, metadata: {name: x, namespace: team-a}}")
		assert.DeepEqual(t, lines, []string{"+ team-a/Thing." + group + "/x (create) " + why})
	}
	for _, request := range asked() {
		assert.Assert(t, slices.Contains([]string{"GET", "HEAD"}, strings.Fields(request)[0]), request)
	}
}

func TestCustomResourcesAreDryRunWithTheirDefaults(t *testing.T) {
	cluster(t).Apply(t, kubetest.Admin, "test", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.dryrun.example.com}
spec:
  group: dryrun.example.com
  scope: Namespaced
  names: {kind: Box, plural: boxes, singular: box}
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
              size: {type: integer, default: 3}
              parts: {type: array, items: {type: object, properties: {name: {type: string}, weight: {type: integer, default: 1}}}}
`)
	box := "{apiVersion: dryrun.example.com/v1, kind: Box, metadata: {name: b, namespace: team-a}, spec: {parts: [{name: a}]}}"
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if lines := planned(t, box); lines[0] != "+ team-a/Box.dryrun.example.com/b (create)" {
			return poll.Continue("%v", lines)
		}
		return poll.Success()
	})
	assert.DeepEqual(t, planned(t, box), []string{"+ team-a/Box.dryrun.example.com/b (create)"})
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, box)
	assert.DeepEqual(t, planned(t, strings.Replace(box, "name: a", "name: a, weight: 2", 1)), []string{
		"~ team-a/Box.dryrun.example.com/b (update)", "spec.parts[0].weight: 1 → 2",
	})
	assert.DeepEqual(t, planned(t, strings.Replace(box, "parts", "pats", 1)), []string{
		"! team-a/Box.dryrun.example.com/b Invalid: spec.pats: field not declared in schema",
	})
}

func TestTheSchemaOfANewKindIsAwaitedSoThatItsListsHaveNamesFromTheFirstPlanOn(t *testing.T) {
	cluster(t).Apply(t, kubetest.Admin, "test", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crates.crates.example.com}
spec:
  group: crates.example.com
  scope: Namespaced
  names: {kind: Crate, plural: crates, singular: crate}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          parts:
            type: array
            x-kubernetes-list-type: map
            x-kubernetes-list-map-keys: [name]
            items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: integer}}}
`)
	crate := "{apiVersion: crates.example.com/v1, kind: Crate, metadata: {name: c, namespace: team-a}, parts: [{name: a, weight: 1}]}"
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, crate)
	assert.DeepEqual(t, planned(t, strings.Replace(crate, "weight: 1", "weight: 2", 1)), []string{
		"~ team-a/Crate.crates.example.com/c (update)", `parts[name="a"].weight: 1 → 2`,
	})
}
