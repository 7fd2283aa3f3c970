package argocd

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"

	"github.com/go-openapi/jsonpointer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/changeward/changeward/pkg/manifest"
)

// ignoreRule is a member of spec.ignoreDifferences.
type ignoreRule struct {
	Group     string   `json:"group"`
	Kind      string   `json:"kind"`
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	Pointers  []string `json:"jsonPointers"`
	Queries   []string `json:"jqPathExpressions"`
	Managers  []string `json:"managedFieldsManagers"`
}

func (r ignoreRule) matches(o manifest.Object) bool {
	group, groupErr := path.Match(r.Group, o.Group())
	kind, kindErr := path.Match(r.Kind, o.Kind())
	return group && kind && groupErr == nil && kindErr == nil &&
		(r.Name == "" || r.Name == o.Name()) && (r.Namespace == "" || r.Namespace == o.Namespace())
}

// keepIgnored is what RespectIgnoreDifferences sends: the object with the live
// values of what the Application ignores. nil content is the object itself. An
// error names a rule that cannot be followed here.
func (a *Application) keepIgnored(desired manifest.Object, live map[string]any) (map[string]any, []string, error) {
	var content map[string]any
	var notes []string
	for _, member := range a.IgnoreDifferences {
		var rule ignoreRule
		data, err := json.Marshal(member)
		if err == nil {
			err = json.Unmarshal(data, &rule)
		}
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("spec.ignoreDifferences of the Application: %w", err)
		case !rule.matches(desired):
			continue
		case len(rule.Queries) > 0:
			return nil, nil, fmt.Errorf("with RespectIgnoreDifferences it keeps what jq finds, which cannot be told here: %s", rule.Queries[0])
		case len(rule.Managers) > 0:
			return nil, nil, fmt.Errorf("with RespectIgnoreDifferences it keeps what %s manages, which cannot be told here", rule.Managers[0])
		}
		for _, pointer := range rule.Pointers {
			if content == nil {
				content = runtime.DeepCopyJSON(desired.Content)
			}
			if err := keepLive(content, live, pointer); err != nil {
				return nil, nil, err
			}
			notes = append(notes, "RespectIgnoreDifferences keeps "+pointer+" as it is")
		}
	}
	return content, notes, nil
}

// keepLive puts the live value at a pointer into content, or none where there
// is none.
func keepLive(content, live map[string]any, pointer string) error {
	at, err := jsonpointer.New(pointer)
	if err != nil {
		return fmt.Errorf("spec.ignoreDifferences of the Application: %w", err)
	}
	fields := at.DecodedTokens()
	for _, field := range fields {
		if _, err := strconv.Atoi(field); err == nil || field == "-" {
			return fmt.Errorf("with RespectIgnoreDifferences it keeps an entry of a list, which cannot be told here: %s", pointer)
		}
	}
	if len(fields) == 0 || fields[0] == "status" {
		return nil
	}
	unstructured.RemoveNestedField(content, fields...)
	value, found, err := unstructured.NestedFieldCopy(live, fields...)
	if err != nil || !found {
		return nil
	}
	return unstructured.SetNestedField(content, value, fields...)
}
