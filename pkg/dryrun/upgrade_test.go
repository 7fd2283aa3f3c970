package dryrun_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
)

const oldDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jars.upgrade.example.com}
spec:
  group: upgrade.example.com
  scope: Namespaced
  names: {kind: Jar, plural: jars, singular: jar}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
`

const newDefinition = oldDefinition + `
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}, lid: {type: string}}}}}
`

const jar = "\n---\n{apiVersion: upgrade.example.com/v1, kind: Jar, metadata: {name: old, namespace: team-a}, size: 1}"

func TestObjectsOfAVersionThatArrivesAreUnverifiedAndThoseThatExistWaitForIt(t *testing.T) {
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, oldDefinition)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, jar)
	inNew := strings.ReplaceAll(jar, "/v1", "/v2")
	lines := planned(t, newDefinition+inNew+strings.ReplaceAll(inNew, "name: old", "name: new"))
	assert.Equal(t, about(lines, "new"), "+ team-a/Jar.upgrade.example.com/new (create) version v2 of its kind arrives with this plan")
	assert.Equal(t, about(lines, "old"), "! team-a/Jar.upgrade.example.com/old UnknownKind: version v2 of its kind arrives with this plan, "+
		"and the object exists in an older one: what becomes of it is known only when the definition has been applied, in a plan before this one")
	assert.Equal(t, about(lines, "jars.upgrade.example.com"), "~ CustomResourceDefinition.apiextensions.k8s.io/jars.upgrade.example.com (update)")
}

func TestAFieldThatADefinitionOfTheSetMayBringSaysWhatToDo(t *testing.T) {
	definition, plain := strings.ReplaceAll(oldDefinition, "upgrade.example", "field.example"), strings.ReplaceAll(jar, "upgrade.example", "field.example")
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, definition)
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, plain) // which waits until the kind is served
	lidded := strings.ReplaceAll(plain, "size: 1", "lid: tin")
	want := "! team-a/Jar.field.example.com/old Invalid: lid: field not declared in schema"
	const hint = "; the definition of its kind is in the manifests, too: if it brings the field, apply it in a plan before this one"
	assert.Equal(t, about(planned(t, lidded), "old"), want)
	assert.Equal(t, about(planned(t, definition+lidded), "old"), want+hint)
}
