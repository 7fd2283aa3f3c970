package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// readChange reads one change as plan -o json writes it, as far as a policy
// looks at it.
func (p *testParser) readChange(f field) plan.Change {
	c := plan.Change{Reversible: true}
	b := &c.Body
	b.Version = "v1"
	p.mapping(f, keys{
		"operation": func(f field) {
			b.Operation = plan.Operation(p.word(f, "create", "update", "delete", "replace", "hook"))
		},
		"group":      func(f field) { b.Group = f.node.Value },
		"version":    func(f field) { b.Version = p.text(f) },
		"kind":       func(f field) { b.Kind = p.text(f) },
		"namespace":  func(f field) { b.Namespace = f.node.Value },
		"name":       func(f field) { b.Name = p.text(f) },
		"owner":      func(f field) { c.Owner = p.text(f) },
		"applier":    func(f field) { c.Applier = p.text(f) },
		"reversible": func(f field) { c.Reversible = p.boolean(f) },
		"unverified": func(f field) { c.Unverified = why(p.boolean(f)) },
		"risks":      func(f field) { c.Risks = risksNamed(p.texts(f)) },
		"fields":     func(f field) { p.list(f, func(f field) { b.Transitions = append(b.Transitions, p.readField(f)) }) },
		"object":     func(f field) { b.Object = p.value(f) },
	})
	if b.Operation == "" || b.Kind == "" || b.Name == "" {
		p.add(f, "want operation, kind and name")
	}
	settle(&c)
	return c
}

func (p *testParser) readField(f field) diff.Transition {
	t := diff.Transition{Action: diff.Change}
	p.mapping(f, keys{
		"path":   func(f field) { t.Path = p.text(f) },
		"action": func(f field) { t.Action = diff.Action(p.word(f, "add", "change", "remove", "order")) },
		"old":    func(f field) { t.Old = p.value(f) },
		"new":    func(f field) { t.New = p.value(f) },
	})
	return t
}

// value reads any YAML as decoded JSON.
func (p *testParser) value(f field) any {
	data, err := toJSON(f.node)
	if err != nil {
		p.add(f, "%s", err)
		return nil
	}
	value, err := decodeValue(data)
	if err != nil {
		p.add(f, "%s", err)
	}
	return value
}

func toJSON(node *yaml.Node) ([]byte, error) {
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func decodeValue(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return masked(value), err
}

// masked puts state.Masked back where the output of a plan says
// {"masked": true}.
func masked(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v["masked"] == true && len(v) == 1 {
			return state.Masked{Tag: "sample"}
		}
		for key, member := range v {
			v[key] = masked(member)
		}
	case []any:
		for i, member := range v {
			v[i] = masked(member)
		}
	case json.Number:
		return number(v)
	}
	return value
}

// settle moves the object of a delete to where a delete has it.
func settle(c *plan.Change) {
	if c.Body.Operation == plan.Delete && c.Body.Object != nil {
		c.Body.Delete, c.Body.Object = &plan.Deletion{Fields: c.Body.Object}, nil
	}
}

func why(unverified bool) string {
	if unverified {
		return "not checked by the server"
	}
	return ""
}

func risksNamed(names []string) []plan.Risk {
	var risks []plan.Risk
	for _, name := range names {
		risks = append(risks, plan.Risk{Name: name})
	}
	return risks
}

// planFile is the output of plan -o json, as far as a policy looks at it.
// Other members are left alone: newer versions may write more.
type planFile struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Complete   *bool        `json:"complete"`
	Scope      string       `json:"scope"`
	Changes    []fileChange `json:"changes"`
	Summary    struct {
		None int `json:"none"`
	} `json:"summary"`
}

type fileChange struct {
	Operation  plan.Operation  `json:"operation"`
	Group      string          `json:"group"`
	Version    string          `json:"version"`
	Kind       string          `json:"kind"`
	Namespace  string          `json:"namespace"`
	Name       string          `json:"name"`
	Owner      string          `json:"owner"`
	Applier    plan.Applier    `json:"applier"`
	Reversible bool            `json:"reversible"`
	Unverified bool            `json:"unverified"`
	Risks      []fileRisk      `json:"risks"`
	Fields     []fileField     `json:"fields"`
	Object     json.RawMessage `json:"object"`
	Admission  []fileAdmission `json:"admission"`
}

type fileField struct {
	Path   string          `json:"path"`
	Action diff.Action     `json:"action"`
	Old    json.RawMessage `json:"old"`
	New    json.RawMessage `json:"new"`
}

type fileAdmission struct {
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
	Mark  string          `json:"mark"`
}

// fileRisk is a risk by name, or as {name, detail}.
type fileRisk struct{ plan.Risk }

// UnmarshalJSON takes both forms.
func (r *fileRisk) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &r.Name); err == nil {
		return nil
	}
	return json.Unmarshal(data, &r.Risk)
}

// decodePlan reads the output of plan -o json.
func decodePlan(data []byte) (*plan.Plan, error) {
	var file planFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.APIVersion != APIVersion || file.Kind != "Plan" {
		return nil, fmt.Errorf("want a file of kind Plan, as plan -o json writes it, got %q", file.Kind)
	}
	if file.Complete == nil {
		return nil, errors.New("the member complete is missing")
	}
	var changes []plan.Change
	for _, c := range file.Changes {
		if c.Operation == plan.None {
			continue
		}
		change, err := c.change()
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", c.Kind, c.Name, err)
		}
		changes = append(changes, change)
	}
	out := samplePlan(changes, file.Summary.None, file.Scope)
	if !*file.Complete {
		out.Failed = []plan.Failed{{Key: manifest.Key{}}}
	}
	return out, nil
}

func (c fileChange) change() (plan.Change, error) {
	out := plan.Change{Reversible: c.Reversible, Unverified: why(c.Unverified), Owner: c.Owner, Applier: c.Applier.Name}
	out.Body = plan.Body{Group: c.Group, Version: c.Version, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name, Operation: c.Operation}
	for _, risk := range c.Risks {
		out.Risks = append(out.Risks, risk.Risk)
	}
	var errs []error
	read := func(data json.RawMessage) any {
		if len(data) == 0 {
			return nil
		}
		value, err := decodeValue(data)
		errs = append(errs, err)
		return value
	}
	for _, f := range c.Fields {
		out.Body.Transitions = append(out.Body.Transitions, diff.Transition{Path: f.Path, Action: f.Action, Old: read(f.Old), New: read(f.New)})
	}
	for _, a := range c.Admission {
		out.Body.Admission = append(out.Body.Admission, plan.AdmissionValue{Path: a.Path, Value: read(a.Value), Mark: a.Mark})
	}
	out.Body.Object = read(c.Object)
	settle(&out)
	return out, errors.Join(errs...)
}
