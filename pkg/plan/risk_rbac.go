package plan

import (
	"fmt"
	"slices"
	"strings"
)

const rbacGroup = "rbac.authorization.k8s.io"

func (f facts) rbac() bool {
	return f.is(rbacGroup, "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
}

// rbacRisks names what is newly granted, as far as the change shows it.
func rbacRisks(f facts) []Risk {
	var out []Risk
	for _, l := range f.set {
		if ends(l.plain, "spec.serviceAccountName") && l.value != "default" && l.value != "" {
			out = append(out, Risk{Name: RiskRBAC, Detail: "runs as service account " + jsonOf(l.value)})
		}
	}
	if !f.rbac() {
		return out
	}
	rules, loose := f.newRules()
	for _, rule := range rules {
		out = append(out, Risk{Name: RiskRBAC, Detail: "grants " + grantOf(rule)})
	}
	for _, l := range loose {
		out = append(out, named(RiskRBAC, l))
	}
	for _, subject := range f.newSubjects() {
		out = append(out, Risk{Name: RiskRBAC, Detail: fmt.Sprintf("grants %s to %s", f.roleName(), subject)})
	}
	if len(out) == 0 {
		out = append(out, Risk{Name: RiskRBAC})
	}
	return out
}

// newRules are the rules that come whole, and the single members of rules that
// change in place.
func (f facts) newRules() (whole []map[string]any, loose []leaf) {
	before := map[string]bool{}
	add := func(value any) {
		rules, _ := value.([]any)
		for _, r := range rules {
			if rule, ok := r.(map[string]any); ok && !before[jsonOf(rule)] {
				whole = append(whole, rule)
			}
		}
	}
	object, _ := f.Body.Object.(map[string]any)
	add(object["rules"])
	for _, t := range f.Body.Transitions {
		if t.Path == "rules" {
			old, _ := t.Old.([]any)
			for _, rule := range old {
				before[jsonOf(rule)] = true
			}
			add(t.New)
		}
	}
	for _, l := range f.set {
		if f.Body.Operation == Update && strings.HasPrefix(l.path, "rules[") && len(whole) == 0 {
			loose = append(loose, l)
		}
	}
	return whole, loose
}

func grantOf(rule map[string]any) string {
	what := slices.Concat(texts(rule["resources"]), texts(rule["nonResourceURLs"]))
	text := listed(texts(rule["verbs"])) + " on " + listed(what)
	if groups := texts(rule["apiGroups"]); len(groups) > 0 && !slices.Equal(groups, []string{""}) {
		text += " (" + strings.ReplaceAll(listed(groups), ", ", " ") + ")"
	}
	return text
}

// newSubjects are the subjects that a binding gains.
func (f facts) newSubjects() []string {
	object, _ := f.Body.Object.(map[string]any)
	before := map[string]bool{}
	now := entriesOf(object["subjects"])
	for _, t := range f.Body.Transitions {
		if plainOf(t.Path) != "subjects" {
			continue
		}
		for _, old := range entriesOf(t.Old) {
			before[subjectOf(old)] = true
		}
		now = append(now, entriesOf(t.New)...)
	}
	var out []string
	for _, entry := range now {
		if text := subjectOf(entry); !before[text] {
			out = append(out, text)
		}
	}
	for _, l := range f.set {
		if f.Body.Operation == Update && strings.HasPrefix(l.plain, "subjects.") && len(now) == 0 {
			out = append(out, jsonOf(l.value))
		}
	}
	return out
}

// entriesOf is a list's entries, or the one entry that came or went.
func entriesOf(value any) []map[string]any {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var out []map[string]any
	for _, e := range list {
		if members, ok := e.(map[string]any); ok {
			out = append(out, members)
		}
	}
	return out
}

func subjectOf(members map[string]any) string {
	name, _ := members["name"].(string)
	kind, _ := members["kind"].(string)
	if namespace, _ := members["namespace"].(string); namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

// roleName is the role that a binding binds, as far as it is known.
func (f facts) roleName() string {
	ref := f.roleRef()
	if ref == nil {
		return "its role"
	}
	return fmt.Sprintf("%v %v", ref["kind"], ref["name"])
}

func (f facts) roleRef() map[string]any {
	object, _ := f.Body.Object.(map[string]any)
	if object == nil {
		object = f.merged
	}
	ref, _ := object["roleRef"].(map[string]any)
	return ref
}

// texts are the strings of a list.
func texts(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, entry := range list {
		if text, ok := entry.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
