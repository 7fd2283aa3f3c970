package flux

import (
	"strings"

	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/changeward/changeward/pkg/manifest"
)

// stage is when the controller applies objects of a kind: definitions, classes,
// the kinds that its flags name, all others. It dry-runs all objects of a stage
// before it applies any.
func (c Controller) stage(key manifest.Key) int {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": strings.TrimPrefix(key.Group+"/v1", "/"), "kind": key.Kind}}
	switch {
	case utils.IsClusterDefinition(object):
		return 0
	case utils.IsClassDefinition(object):
		return 1
	case utils.IsCustomStage(object, c.Early):
		return 2
	}
	return 3
}

// late says of an object that another one needs whether the controller asks for
// that one before it has made this.
func (c Controller) late(needs manifest.Key) func(needed manifest.Key) bool {
	return func(needed manifest.Key) bool { return c.stage(needed) >= c.stage(needs) }
}
