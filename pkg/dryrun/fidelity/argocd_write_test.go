package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

// mixed are objects that Argo CD writes in ways of their own.
const mixed = `
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: NS}
data: {a: "1"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: NS, labels: {v: "1"}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: v1
kind: Namespace
metadata: {name: sub-NS, labels: {v: "1"}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.NS.example.com, labels: {v: "1"}}
spec:
  group: NS.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

func TestEachWriteOfArgoCDIsInTheNameThatThePlanTells(t *testing.T) {
	for name, c := range map[string]struct {
		app     shop
		manager string
		mode    string
	}{
		"by default":        {shop{}, "argocd-controller", plan.ModeClientSide},
		"server-side":       {withOptions("ServerSideApply=true"), "argocd-controller", plan.ModeServerSide},
		"replaced":          {withOptions("Replace=true"), "argocd-application-controller", plan.ModePut},
		"replaced by force": {shop{options: []string{"Replace=true"}, operation: "{sync: {syncOptions: [Replace=true], syncStrategy: {hook: {force: true}}}}"}, "argocd-application-controller", plan.ModePut},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := kubetest.Shared(t).Namespace(t)
			text := strings.ReplaceAll(mixed, "NS", namespace)
			for _, version := range []string{text, strings.ReplaceAll(strings.ReplaceAll(text, `v: "1"`, `v: "2"`), `a: "1"`, `a: "2"`)} {
				for _, o := range c.app.prove(t, version) {
					assert.Check(t, o.Failure == nil, "%s: %+v", o.Object.Key(), o.Failure)
					assert.Equal(t, o.Applier.Mode, c.mode)
					assert.Equal(t, o.Applier.Manager, c.manager)
					live := &unstructured.Unstructured{Object: newReader(t).live(t, o)}
					var managers []string
					for _, entry := range live.GetManagedFields() {
						managers = append(managers, entry.Manager)
					}
					assert.Check(t, slices.Contains(managers, c.manager), "%s: %v", o.Object.Key(), managers)
				}
			}
		})
	}
}

func TestAnUnknownFieldIsRefusedByArgoCDOnlyWhereItCreatesWhatItReplaces(t *testing.T) {
	const odd = "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: NS}\nspec: {ports: [{port: 80}], odd: 1}\n"
	for name, c := range map[string]struct {
		app   shop
		fails bool
	}{
		"by default":                      {shop{}, false},
		"server-side":                     {withOptions("ServerSideApply=true"), true},
		"replaced":                        {withOptions("Replace=true"), true},
		"replaced, without any check":     {withOptions("Replace=true", "Validate=false"), false},
		"server-side, without any checks": {withOptions("ServerSideApply=true", "Validate=false"), true},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(odd, "NS", kubetest.Shared(t).Namespace(t))
			assert.Equal(t, c.app.prove(t, text)[0].Failure != nil, c.fails)
			kubectlApply(t, text, "--validate=ignore")
			c.app.prove(t, text)
		})
	}
}
