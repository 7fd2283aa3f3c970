package argocd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gobwas/glob"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/manifest"
)

// Settings are what an install of Argo CD says in ConfigMap argocd-cm, as far
// as it decides what belongs to an Application, and how that is applied.
type Settings struct {
	Namespace      string // of the install
	Method         string // annotation, label or annotation+label
	Label          string // that names the Application, for method label
	InstallationID string

	overrides  map[string]override // by GROUP/KIND, KIND, or */*
	exclusions []filter
	inclusions []filter
	selectors  []filter
	aggregated bool  // rules of aggregated roles are not compared
	invalid    error // Argo CD itself cannot read what is there
}

// ReadSettings reads the data of ConfigMap argocd-cm in the namespace of an
// install; nil data is an install that says nothing. What Argo CD could not
// read fails each object that is planned.
func ReadSettings(namespace string, data map[string]string) Settings {
	s := Settings{
		Namespace:      namespace,
		Method:         cmp.Or(data["application.resourceTrackingMethod"], "annotation"),
		Label:          cmp.Or(data["application.instanceLabelKey"], "app.kubernetes.io/instance"),
		InstallationID: data["installationID"],
		overrides:      map[string]override{},
	}
	s.exclusions = []filter{
		{APIGroups: []string{"events.k8s.io", "metrics.k8s.io"}},
		{APIGroups: []string{""}, Kinds: []string{"Event"}},
		{APIGroups: []string{"coordination.k8s.io"}, Kinds: []string{"Lease"}},
	}
	var own []filter
	for key, into := range map[string]any{"resource.exclusions": &own, "resource.inclusions": &s.inclusions, "resource.selectors": &s.selectors} {
		if err := yaml.Unmarshal([]byte(data[key]), into); err != nil {
			s.fail(key, err)
		}
	}
	s.exclusions = append(s.exclusions, own...)
	for i, f := range s.selectors {
		if text := strings.TrimSpace(f.Selector); text != "" {
			selector, err := labels.Parse(text)
			if err != nil {
				s.fail("resource.selectors", err)
			}
			s.selectors[i].selector = selector
		}
	}
	s.readOverrides(data)
	return s
}

func (s *Settings) fail(key string, err error) {
	if s.invalid == nil {
		s.invalid = fmt.Errorf("%s of ConfigMap argocd-cm: %w", key, err)
	}
}

// filter is a member of the lists that say which kinds Argo CD looks at.
type filter struct {
	APIGroups []string `json:"apiGroups"`
	Kinds     []string `json:"kinds"`
	Clusters  []string `json:"clusters"`
	Selector  string   `json:"selector"`

	selector labels.Selector // nil without one
}

// inCluster is the address by which Argo CD knows the cluster that it is in.
const inCluster = "https://kubernetes.default.svc"

func (f filter) here() bool { return len(f.Clusters) == 0 || anyGlob(f.Clusters, inCluster) }

func (f filter) matches(o manifest.Object) bool {
	return f.here() && (len(f.APIGroups) == 0 || anyGlob(f.APIGroups, o.Group())) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, "*") || slices.Contains(f.Kinds, o.Kind()))
}

// excludes says whether objects of a kind are none of Argo CD's business, so
// that it drops them from what it applies.
func (s Settings) excludes(o manifest.Object) bool {
	matches := func(f filter) bool { return f.matches(o) }
	if slices.ContainsFunc(s.exclusions, matches) {
		return true
	}
	return !slices.ContainsFunc(s.inclusions, matches) && slices.ContainsFunc(s.inclusions, filter.here)
}

// hides says whether selectors keep a live object out of Argo CD's sight.
func (s Settings) hides(live map[string]any) bool {
	o := manifest.Object{Content: live}
	return slices.ContainsFunc(s.selectors, func(f filter) bool {
		return f.selector != nil && f.matches(o) && !f.selector.Matches(labels.Set(o.Labels()))
	})
}

func anyGlob(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matchGlob(pattern, text) })
}

// matchGlob is how Argo CD compares names with patterns; a broken pattern
// matches nothing.
func matchGlob(pattern, text string) bool {
	compiled, err := glob.Compile(pattern)
	return err == nil && compiled.Match(text)
}

// override is what resource.customizations say of a kind.
type override struct {
	ignored
	known []knownType
}

// ignored is what a rule ignores of an object.
type ignored struct {
	Pointers []string `json:"jsonPointers"`
	Queries  []string `json:"jqPathExpressions"`
	Managers []string `json:"managedFieldsManagers"`
}

// knownType is a field of a custom resource that holds a type of Kubernetes.
type knownType struct {
	Field string `json:"field"`
	Type  string `json:"type"`
}

func (s *Settings) readOverrides(data map[string]string) {
	s.readJoined(data["resource.customizations"])
	for _, key := range slices.Sorted(maps.Keys(data)) {
		parts := strings.SplitN(key, ".", 4)
		if len(parts) < 4 || !strings.HasPrefix(key, "resource.customizations") {
			continue
		}
		at, err := overrideKey(parts[3])
		if err != nil {
			s.fail(key, err)
			continue
		}
		own := s.overrides[at]
		switch parts[2] {
		case "ignoreDifferences":
			own.ignored = ignored{}
			err = yaml.Unmarshal([]byte(data[key]), &own.ignored)
		case "knownTypeFields":
			err = yaml.Unmarshal([]byte(data[key]), &own.known)
		case "health", "useOpenLibs", "actions", "ignoreResourceUpdates":
			continue
		default:
			err = fmt.Errorf("customizations have no member %s", parts[2])
		}
		if err != nil {
			s.fail(key, err)
		}
		s.overrides[at] = own
	}
	s.readCompareOptions(data["resource.compareoptions"])
}

// readJoined reads the old form, in which all kinds share one member.
func (s *Settings) readJoined(text string) {
	var joined map[string]struct {
		IgnoreDifferences string      `json:"ignoreDifferences"`
		KnownTypeFields   []knownType `json:"knownTypeFields"`
	}
	if err := yaml.Unmarshal([]byte(text), &joined); err != nil {
		s.fail("resource.customizations", err)
	}
	for key, value := range joined {
		own := override{known: value.KnownTypeFields}
		if err := yaml.Unmarshal([]byte(value.IgnoreDifferences), &own.ignored); err != nil {
			s.fail("resource.customizations", err)
		}
		s.overrides[key] = own
	}
}

// overrideKey turns GROUP_KIND into GROUP/KIND.
func overrideKey(name string) (string, error) {
	switch parts := strings.Split(name, "_"); {
	case name == "all":
		return "*/*", nil
	case len(parts) == 2:
		return parts[0] + "/" + parts[1], nil
	case len(parts) == 1 && name != "":
		return name, nil
	}
	return "", fmt.Errorf("a kind is written as GROUP_KIND, not %s", name)
}

// readCompareOptions adds the one field that is ignored unless it is said
// otherwise.
func (s *Settings) readCompareOptions(text string) {
	var options struct {
		Aggregated bool   `json:"ignoreAggregatedRoles"`
		Status     string `json:"ignoreResourceStatusField"`
	}
	if err := yaml.Unmarshal([]byte(text), &options); err != nil {
		s.fail("resource.compareoptions", err)
	}
	s.aggregated = options.Aggregated
	at := "*/*"
	switch options.Status {
	case "none", "off", "false":
		return
	case "crd":
		at = "apiextensions.k8s.io/CustomResourceDefinition"
	}
	own := s.overrides[at]
	own.Pointers = append(own.Pointers, "/status")
	s.overrides[at] = own
}
