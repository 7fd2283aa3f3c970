package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/render"
)

// documents are the types of all documents, by kind.
func documents() map[string]any {
	return map[string]any{
		render.KindGateResult: render.GateResult{}, render.KindApplyResult: render.ApplyResult{}, render.KindVerifyResult: render.VerifyResult{}, render.KindPlan: render.PlanResult{},
		render.KindGateResultList: render.GateResultList{}, render.KindPlanList: render.PlanList{},
		render.KindChangeRequest: render.ChangeRequest{}, render.KindChangeRequestList: render.ChangeRequestList{},
		render.KindDecisionList: render.DecisionList{}, render.KindError: render.Error{},
		render.KindPolicy: render.Policy{}, render.KindPolicySet: render.PolicySet{},
		render.KindPolicyDiff:       render.PolicyDiff{},
		render.KindPolicyTestReport: render.PolicyTestReport{}, render.KindPolicyExplanation: render.PolicyExplanation{},
		render.KindInstallResult: render.StepsResult{}, render.KindUninstallResult: render.StepsResult{},
		render.KindDoctorReport: render.DoctorReport{}, render.KindToken: render.Token{},
		render.KindSigner: render.Signer{}, render.KindSignerList: render.SignerList{}, render.KindRoster: render.Roster{},
		render.KindTarget: render.TargetResult{}, render.KindTargetList: render.TargetList{}, render.KindVersion: render.Version{},
		render.KindAuditLog: render.AuditLog{}, render.KindAuditVerification: render.AuditVerification{},
		render.KindAuditReport: render.AuditReport{}, render.KindAuditExport: render.AuditExport{}, render.KindAuditArchive: render.AuditArchive{},
		render.KindReconcileResult: render.ReconcileResult{}, render.KindDrift: render.DriftList{},
		render.KindIncident: render.Incident{}, render.KindIncidentList: render.IncidentList{},
	}
}

// A document that happens to be valid shows little of a schema. So each member
// that the code can write must be in the schema, none other may be, and exactly
// those that are always written are required.
func TestThePublishedSchemaHasExactlyTheMembersThatAreWritten(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "docs", "schema", "changeward.dev_v1alpha1.json"))
	assert.NilError(t, err)
	var root object
	assert.NilError(t, json.Unmarshal(content, &root))
	published := publishedSchema{t: t, definitions: root["$defs"].(object)}
	var offered []string
	for _, one := range root["oneOf"].([]any) {
		offered = append(offered, strings.TrimPrefix(one.(object)["$ref"].(string), "#/$defs/"))
	}
	slices.Sort(offered)
	assert.DeepEqual(t, offered, slices.Sorted(maps.Keys(documents())))
	for kind, document := range documents() {
		published.compare(kind, reflect.TypeOf(document), object{"$ref": "#/$defs/" + kind})
	}
}

type publishedSchema struct {
	t           *testing.T
	definitions object
}

// resolve follows references, and takes the alternative that is not null.
func (p publishedSchema) resolve(node object) object {
	for {
		if ref, ok := node["$ref"].(string); ok {
			node = p.definitions[strings.TrimPrefix(ref, "#/$defs/")].(object)
			continue
		}
		alternatives, ok := node["oneOf"].([]any)
		if !ok {
			alternatives, ok = node["anyOf"].([]any)
		}
		if !ok {
			return node
		}
		node = object{}
		for _, one := range alternatives {
			if one.(object)["type"] != "null" {
				node = one.(object)
			}
		}
	}
}

func (p publishedSchema) compare(path string, typ reflect.Type, node object) {
	node = p.resolve(node)
	if typ.Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	switch typ.Kind() {
	case reflect.Pointer:
		p.compare(path, typ.Elem(), node)
	case reflect.Interface:
	case reflect.Slice:
		p.is(path, node, "array")
		if items, ok := node["items"].(object); ok {
			p.compare(path+"[]", typ.Elem(), items)
			return
		}
		p.t.Errorf("%s: the schema does not say what its entries are", path)
	case reflect.Map:
		p.is(path, node, "object")
		if values, ok := node["additionalProperties"].(object); ok {
			p.compare(path+"{}", typ.Elem(), values)
			return
		}
		p.t.Errorf("%s: the schema does not say what its values are", path)
	case reflect.Struct:
		p.is(path, node, "object")
		p.members(path, typ, node)
	case reflect.Bool:
		p.is(path, node, "boolean")
	case reflect.Int, reflect.Int64:
		p.is(path, node, "integer")
	default:
		p.is(path, node, "string")
	}
}

// is checks the type of a node, which a constant or an enumeration has, too.
func (p publishedSchema) is(path string, node object, want string) {
	types, many := node["type"].([]any)
	if !many {
		types = []any{node["type"]}
	}
	_, constant := node["const"].(string)
	if !slices.Contains(types, any(want)) && !(constant && want == "string") {
		p.t.Errorf("%s: is %s in the code, and %v in the schema", path, want, node["type"])
	}
}

func (p publishedSchema) members(path string, typ reflect.Type, node object) {
	if node["additionalProperties"] != false {
		p.t.Errorf("%s: the schema allows members that it does not name", path)
	}
	properties, _ := node["properties"].(object)
	var always, written []string
	for _, field := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" || name == "-" || !field.IsExported() {
			continue
		}
		written = append(written, name)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			always = append(always, name)
		}
		if property, ok := properties[name].(object); ok {
			p.compare(path+"."+name, field.Type, property)
		}
	}
	var required []string
	list, _ := node["required"].([]any)
	for _, name := range list {
		required = append(required, name.(string))
	}
	for _, names := range [][]string{always, written, required} {
		slices.Sort(names)
	}
	p.same(path+": members", written, slices.Sorted(maps.Keys(properties)))
	p.same(path+": members that are always there", always, required)
}

func (p publishedSchema) same(what string, code, schema []string) {
	if !slices.Equal(code, schema) {
		p.t.Errorf("%s:\n  in the code   %v\n  in the schema %v", what, code, schema)
	}
}
