package cli

import (
	"path/filepath"
	"slices"
	"strings"
)

// DefaultScope is the scope of manifests that name none: their repository
// path, which is the same on every machine. Several inputs are joined in
// order; outside of a checkout the cleaned path as given counts. Manifests
// from standard input have no path: "" asks for --scope.
func DefaultScope(inputs []string) string {
	var paths []string
	for _, input := range inputs {
		path := repositoryPath(input)
		if path == "" {
			return ""
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return strings.Join(paths, "+")
}

func repositoryPath(input string) string {
	if input == "-" || input == "" {
		return ""
	}
	folder := input
	if filepath.Ext(input) != "" || strings.ContainsAny(filepath.Base(input), "*?[") {
		folder = filepath.Dir(input)
	}
	absolute, err := filepath.Abs(input)
	if err != nil {
		return filepath.ToSlash(filepath.Clean(input))
	}
	root := gitRoot(folder)
	relative, err := filepath.Rel(root, absolute)
	if root == "" || err != nil {
		return filepath.ToSlash(filepath.Clean(input))
	}
	return filepath.ToSlash(relative)
}
