package plan

import "github.com/changeward/changeward/pkg/manifest"

// Stands in until pkg/manifest has Hook and Control.
func hookOf(manifest.Object) (phases []string, warnings []string, isHook bool) {
	return nil, nil, false
}

func controlOf(manifest.Object) map[string]string { return nil }
