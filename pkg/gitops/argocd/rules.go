package argocd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/manifest"
)

const ignoreDifferences = "argocd.argoproj.io/ignore-differences"

// queryTime is how long Argo CD lets a query run, unless its controller is
// told otherwise.
const queryTime = time.Second

// ignoreRule is a member of spec.ignoreDifferences.
type ignoreRule struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	ignored
}

func (r ignoreRule) matches(o manifest.Object) bool {
	return matchGlob(r.Group, o.Group()) && matchGlob(r.Kind, o.Kind()) &&
		(r.Name == "" || r.Name == o.Name()) && (r.Namespace == "" || r.Namespace == o.Namespace())
}

// rules are what is ignored of one object: by the Application, by its own
// annotation, and by the install.
type rules struct {
	removals []removal
	managers []string // whose fields count for nothing where they differ
	known    []knownType
	said     []string // the rules, as people wrote them
}

// removal takes what is ignored out of an object's JSON; an error is that
// there was nothing to take.
type removal func(document []byte) ([]byte, error)

// rules collects and compiles. A rule that cannot be compiled fails every
// object, as it fails every sync.
func (p applier) rules(o manifest.Object) (rules, error) {
	var out rules
	for _, member := range p.a.IgnoreDifferences {
		var rule ignoreRule
		data, err := json.Marshal(member)
		if err == nil {
			err = json.Unmarshal(data, &rule)
		}
		if err == nil {
			err = out.add(rule.ignored, rule.matches(o), rule.matches(o))
		}
		if err != nil {
			return out, fmt.Errorf("spec.ignoreDifferences of the Application: %w", err)
		}
	}
	var own ignored
	if err := yaml.Unmarshal([]byte(o.Annotations()[ignoreDifferences]), &own); err == nil {
		if err := out.add(ignored{Pointers: own.Pointers}, true, false); err != nil {
			return out, err
		}
	}
	err := out.addOverrides(o, p.s.overrides)
	return out, err
}

// addOverrides adds what the install says of the kind, or of all.
func (r *rules) addOverrides(o manifest.Object, overrides map[string]override) error {
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		own := overrides[key]
		group, kind, split := strings.Cut(key, "/")
		if !split {
			group, kind = "", key
		}
		exactly := key == "*/*" || key == o.Group()+"/"+o.Kind()
		if err := r.add(own.ignored, matchGlob(group, o.Group()) && matchGlob(kind, o.Kind()), exactly); err != nil {
			return fmt.Errorf("resource.customizations of ConfigMap argocd-cm: %w", err)
		}
		if group == o.Group() && kind == o.Kind() {
			r.known = append(r.known, own.known...)
		}
	}
	if len(r.known) == 0 && o.Group()+"/"+o.Kind() == rollout {
		r.known = []knownType{{Field: "spec.template.spec", Type: "core/v1/PodSpec"}}
	}
	return nil
}

// add adds a rule: its paths, and its managers, where each counts.
func (r *rules) add(rule ignored, paths, managers bool) error {
	for _, pointer := range rule.Pointers {
		if paths {
			r.removals = append(r.removals, removePointer(pointer))
			if pointer != "/status" { // ignored by default, and never applied
				r.said = append(r.said, pointer)
			}
		}
	}
	for _, expression := range rule.Queries {
		query, err := removeQuery(expression)
		if err != nil {
			return err
		}
		if paths {
			r.removals = append(r.removals, query)
			r.said = append(r.said, expression)
		}
	}
	if managers {
		r.managers = append(r.managers, rule.Managers...)
		for _, manager := range rule.Managers {
			r.said = append(r.said, "what "+manager+" manages")
		}
	}
	return nil
}

func removePointer(pointer string) removal {
	return func(document []byte) ([]byte, error) {
		text, err := json.Marshal([]map[string]string{{"op": "remove", "path": pointer}})
		if err != nil {
			return nil, err
		}
		patch, err := jsonpatch.DecodePatch(text)
		if err != nil {
			return nil, err
		}
		return patch.Apply(document)
	}
}

func removeQuery(expression string) (removal, error) {
	query, err := gojq.Parse("del(" + expression + ")")
	if err != nil {
		return nil, fmt.Errorf("jq cannot parse %s: %w", expression, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("jq cannot compile %s: %w", expression, err)
	}
	return func(document []byte) ([]byte, error) {
		var value map[string]any
		if err := json.Unmarshal(document, &value); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), queryTime)
		defer cancel()
		results := code.RunWithContext(ctx, value)
		result, ok := results.Next()
		if err, failed := result.(error); failed {
			return nil, err
		}
		if _, more := results.Next(); !ok || more {
			return nil, errors.New("jq found no object, or several")
		}
		return json.Marshal(result)
	}, nil
}

// normalise takes out of an object, in place, what is ignored, and respells
// known types.
func (r rules) normalise(object *unstructured.Unstructured) error {
	document, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	for _, remove := range r.removals {
		changed, err := remove(document)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("a query of what is ignored takes longer than Argo CD waits: %w", err)
		case err == nil:
			document = changed
		}
	}
	if err := object.UnmarshalJSON(document); err != nil {
		return fmt.Errorf("what is left of it where differences are ignored is no object: %w", err)
	}
	for _, field := range r.known {
		if err := field.respell(object.Object); err != nil {
			return err
		}
	}
	return nil
}
