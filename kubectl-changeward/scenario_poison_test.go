package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// poison spoils one document of a set, and names the reason that the plan
// must give. It answers "" where it does not work on the document.
type poison struct {
	name, reason string
	spoil        func(document string) string
}

// replacing spoils documents that hold a text, and none of some others.
func replacing(old, with string, but ...string) func(string) string {
	return func(document string) string {
		unfit := func(text string) bool { return strings.Contains(document, text) }
		if !strings.Contains(document, old) || slices.ContainsFunc(but, unfit) {
			return ""
		}
		return strings.Replace(document, old, with, 1)
	}
}

func adding(text string, but ...string) func(string) string {
	return func(document string) string { return replacing(document, document+text, but...)(document) }
}

func labelled(label string) func(string) string {
	return replacing("metadata: {", "metadata: {labels: {poison: "+label+"}, ", "name: needs-", "hook")
}

// poisons are what manifests, servers and other people do to an object. Those
// that make it another one, or nothing that can be read, spare what others need.
func poisons(s shop, closed string) []poison {
	const account, home, definition, simulated = "name: arriving", "kind: Namespace", "kind: CustomResourceDefinition", "name: needs-"
	here := "namespace: " + s.namespace
	return []poison{
		{"a field that no schema has", "Invalid", adding("bogus: {k: v}\n", simulated)},
		{"a kind that nobody knows", "UnknownKind", replacing("\nkind: ", "\nkind: Un", account, home, definition)},
		{"a version that nobody serves", "UnknownKind", replacing("/v1\n", "/v9\n")},
		{"a namespace that does not exist", "NotFound", replacing(here, "namespace: nowhere", "kind: S", "apps/", "batch/", "io/", "autoscaling/", simulated)},
		{"a namespace that is closed", "Forbidden", replacing(here, "namespace: "+closed, account, "kind: ConfigMap", "hook", simulated)},
		{"a name that is none", "Invalid", replacing("{name: ", "{name: Not_", account, home, definition, simulated, "hook", "rbac")},
		{"a label that is a number", "WrongType", labelled("1")},
		{"a key twice", "DuplicateKey", adding("twice: 1\ntwice: 2\n")},
		{"a broken document", "Syntax", adding("a: [1, 2\nb: 3\n", account, home, definition)},
		{"two of the same", "DuplicateObject", func(document string) string { return document + "\n---\n" + document }},
		{"a webhook that is down", "Admission", labelled("webhook")},
		{"a policy that refuses", "Admission", labelled("policy")},
		{"a field of someone else's", "Conflict", replacing("held: theirs", "held: ours")},
		{"an image that cannot change", "Immutable", replacing("registry.example/c:1", "registry.example/c:2", "name: new", "CronJob", "hook", simulated)},
		{"a selector that cannot change", "Immutable", func(document string) string {
			return replacing("app: a}}\n  template", "app: b}}\n  template")(strings.Replace(document, "labels: {app: a}", "labels: {app: b}", 1))
		}},
		{"a role that cannot change", "Immutable", replacing("name: view", "name: edit")},
		{"a value that is masked", "MaskedValue", replacing("stringData: {", "data: {masked: \"++++++++\"}\nstringData: {")},
		{"too many annotations", "TooLarge", replacing("metadata: {name", "metadata: {annotations: {long: "+strings.Repeat("x", 300_000)+"}, name", "annotations", simulated)},
	}
}

// refusals are a webhook that is down and a policy that refuses, each for what
// bears its label.
const refusals = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NS-poison}
webhooks:
- name: poison.example.com
  sideEffects: None
  failurePolicy: Fail
  admissionReviewVersions: [v1]
  objectSelector: {matchLabels: {poison: webhook}}
  clientConfig: {url: "https://127.0.0.1:9/validate"}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NS-poison}
spec:
  failurePolicy: Fail
  matchConstraints:
    objectSelector: {matchLabels: {poison: policy}}
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
  validations: [{expression: "false", message: "never"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NS-poison}
spec: {policyName: NS-poison, validationActions: [Deny]}
`

// varied are the documents of the set, each with its number, in a version.
func (s shop) varied(t *testing.T, version string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "varied.yaml"))
	assert.NilError(t, err)
	text := strings.NewReplacer("NS", s.namespace, "V *", version+" *", "\"V\"", `"`+version+`"`, "-V}", "-"+version+"}",
		"c:V", "c:"+version, "808V", "808"+version, "8V", "8"+version).Replace(string(content))
	documents := strings.Split(text, "\n---\n")
	for i := range documents {
		documents[i] += "\n"
	}
	return documents
}

// tasted writes the documents down, one of them spoiled, and plans them.
func (s shop) tasted(t *testing.T, documents []string, at int, spoiled string) render.PlanResult {
	t.Helper()
	documents = slices.Clone(documents)
	code := 0
	if spoiled != "" {
		documents[at], code = spoiled, 1
	}
	for i := range documents {
		s.write(t, fmt.Sprintf("%02d.yaml", i), documents[i])
	}
	var plan render.PlanResult
	s.as("dave").run(t, "plan", "-f", s.dir, "-o", "json", "--show-unchanged", "--applier", "changeward").exits(t, code).json(t, &plan)
	return plan
}

// rights are what dave may do: all in the namespace, ConfigMaps and what
// belongs to no namespace everywhere.
const rights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: poison, namespace: NS}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: poison, namespace: NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: poison}
subjects: [{kind: User, name: dave}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NS-poison}
rules: [{apiGroups: ["", apiextensions.k8s.io], resources: [configmaps, namespaces, customresourcedefinitions], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NS-poison}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NS-poison}
subjects: [{kind: User, name: dave}]
`

// poisoned is a shop with all of it live, as far as it is to be, and with what
// refuses. Somebody else holds an annotation of all that lives.
func poisoned(t *testing.T) shop {
	t.Helper()
	s := own(t).open(t)
	assert.NilError(t, os.Remove(filepath.Join(s.dir, "shop.yaml")))
	s.apply(t, "test", rights)
	for _, document := range s.varied(t, "1")[:9] {
		head, _, _ := strings.Cut(document, "}}\n")
		s.apply(t, "changeward", document)
		s.apply(t, "somebody", head+"}}\n")
	}
	s.apply(t, "test", refusals)
	poll.WaitOn(t, func(poll.LogT) poll.Result { // the server takes a moment to heed them
		for _, label := range []string{"webhook", "policy"} {
			labelled := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe", Labels: map[string]string{"poison": label}}}
			maps := s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace)
			if _, err := maps.Create(t.Context(), labelled, metav1.CreateOptions{DryRun: []string{"All"}}); err == nil {
				return poll.Continue("no %s yet", label)
			}
		}
		return poll.Success()
	})
	return s
}

func TestAnErrorInOneObjectChangesNothingElseAndAllowsNothing(t *testing.T) {
	t.Parallel()
	s := poisoned(t)
	documents, closed := s.varied(t, "2"), s.Namespace(t)
	sound := s.tasted(t, documents, 0, "")
	assert.Equal(t, len(sound.Changes), len(documents))
	gate := []string{"gate", "-f", s.dir, "--applier", "changeward", "--target", clusterName}
	proposed := s.as("dave").run(t, gate...).exits(t, 2)
	s.confirmed(t, idOf(t, proposed))
	s.as("dave").run(t, gate...).exits(t, 0)
	held := s.records(t)
	tried := 0
	for i, p := range poisons(s, closed) {
		t.Run(p.name, func(t *testing.T) {
			found := victims(documents, p, 5*i, 2)
			tried += len(found)
			for _, at := range found {
				spares(t, sound, s.tasted(t, documents, at, p.spoil(documents[at])), at, p)
			}
			s.as("dave").run(t, gate...).exits(t, 1).prints(t, "incomplete: ", "✗ ").tells(t, "hint: nothing was recorded")
			assert.DeepEqual(t, s.records(t), held)
		})
	}
	assert.Assert(t, tried > 28, tried)
	s.tasted(t, documents, 0, "")
	assert.Equal(t, idOf(t, s.as("dave").run(t, gate...).exits(t, 0)), idOf(t, proposed))
}

// victims are up to n of the documents that a poison works on, from one on.
func victims(documents []string, p poison, from, n int) (found []int) {
	for i := range documents {
		at := (from + i) % len(documents)
		if len(found) < n && p.spoil(documents[at]) != "" {
			found = append(found, at)
		}
	}
	return found
}

// spares checks a poisoned plan against the sound one.
func spares(t *testing.T, sound, got render.PlanResult, at int, p poison) {
	t.Helper()
	file := fmt.Sprintf("%02d.yaml", at)
	assert.Assert(t, !got.Complete)
	assert.Assert(t, len(got.Errors) > 0)
	for _, failed := range got.Errors {
		assert.Check(t, failed.Reason == p.reason, "%s: %s: %s", file, failed.Reason, failed.Message)
		assert.Check(t, strings.Contains(failed.Source, file), "%s fails, too: %s", failed.Source, failed.Message)
	}
	others := map[string]string{}
	for _, c := range got.Changes {
		others[c.Source] = text(c)
	}
	for _, c := range sound.Changes {
		if strings.Contains(c.Source, file) {
			assert.Check(t, others[c.Source] == "", "%s is planned all the same", c.Source)
			continue
		}
		assert.Check(t, others[c.Source] == text(c), "%s by %s:\n was %s\n is  %s", c.Source, file, text(c), others[c.Source])
	}
}
