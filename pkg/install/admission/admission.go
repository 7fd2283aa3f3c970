// Package admission holds the text of changeward's fence: two validating
// admission policies and their bindings. One keeps records append-only and in
// their writers' own names. The other lets a gate send nothing but dry runs, and,
// since version 2, lets only who administers changeward start what runs in the
// namespace of the robots that approve, or get it a token.
//
// Render makes the objects of the newest version; Matches tells which known
// version, if any, the live objects are. A text is never edited once released:
// a change is a new version, and readers keep the old ones.
package admission

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/state"
)

// Version is the newest version of the text.
const Version = 2

// Names of the policies; each binding is named like its policy.
const (
	RecordsPolicy = "changeward-records"
	GatePolicy    = "changeward-gate-dry-run-only"
)

// GateMessage is the answer of the GatePolicy.
const GateMessage = "a changeward gate may change nothing: it plans with dry run and writes its own records"

//go:embed fence-v*.yaml
var texts embed.FS

// Render makes the policies and bindings of the newest version, gate policy
// first, for these further gate users and groups. Server defaults are written
// out. All names that cannot be gates are refused at once.
func Render(users, groups []string) ([]*unstructured.Unstructured, error) {
	if err := Check(users, groups); err != nil {
		return nil, err
	}
	return RenderVersion(Version, users, groups)
}

// Matches says which known version the live policies and bindings are, given
// the further gate users and groups. A missing object, or one that differs in
// any field of its spec, is no version.
func Matches(live []*unstructured.Unstructured, users, groups []string) (version int, ok bool) {
	if Check(users, groups) != nil {
		return 0, false
	}
	for version := Version; version > 0; version-- {
		want, err := RenderVersion(version, users, groups)
		if err == nil && slices.Equal(specs(want), specs(live)) {
			return version, true
		}
	}
	return 0, false
}

// Check refuses users and groups that must not be gates: a gate can change
// nothing in the whole cluster, so naming a group of the system locks it.
func Check(users, groups []string) error {
	var problems []error
	for _, user := range users {
		problems = append(problems, checkName("user", user, "system:serviceaccount:"))
	}
	for _, group := range groups {
		problems = append(problems, checkName("group", group, "system:serviceaccounts:"))
	}
	return errors.Join(problems...)
}

func checkName(kind, name, accounts string) error {
	control := strings.IndexFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar })
	namespace, isAccount := strings.CutPrefix(name, accounts)
	switch {
	case name == "" || control >= 0 || strings.TrimSpace(name) != name:
		return fmt.Errorf("gate %s %q: not a name", kind, name)
	case isAccount && (namespace == "kube-system" || strings.HasPrefix(namespace, "kube-system:")):
		return fmt.Errorf("gate %s %q: the cluster's own controllers cannot be gates", kind, name)
	case strings.HasPrefix(name, "system:") && (!isAccount || namespace == ""):
		return fmt.Errorf("gate %s %q: users and groups of the system cannot be gates", kind, name)
	}
	return nil
}

// RenderVersion makes those of a known version; the names are not checked.
func RenderVersion(version int, users, groups []string) ([]*unstructured.Unstructured, error) {
	file := fmt.Sprintf("fence-v%d.yaml", version)
	text, err := template.ParseFS(texts, file)
	if err != nil {
		return nil, fmt.Errorf("admission text: %w", err)
	}
	fixed := []string{"system:serviceaccounts:changeward-gate", "changeward:gate"}
	lists := map[string]string{}
	for key, names := range map[string][]string{"Users": users, "Groups": append(fixed, groups...)} {
		if lists[key], err = celList(names); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	if err := text.Execute(&out, lists); err != nil {
		return nil, fmt.Errorf("admission text: %w", err)
	}
	return decode(out.Bytes())
}

// celList writes names, sorted and each once, as a CEL list of strings: the
// escapes of canonical JSON are escapes of CEL, too.
func celList(names []string) (string, error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(sorted) == 0 {
		return "[]", nil
	}
	list, err := state.Canonical(sorted)
	return string(list), err
}

func decode(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(document, &object.Object); err != nil {
			return nil, fmt.Errorf("admission text: %w", err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// specs is "kind/name spec" of each object, sorted; only the fence's kinds
// and names are looked at.
func specs(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, object := range objects {
		spec, err := state.Canonical(object.Object["spec"])
		if err != nil {
			spec = []byte(err.Error())
		}
		all = append(all, object.GetKind()+"/"+object.GetName()+" "+string(spec))
	}
	slices.Sort(all)
	return all
}
