package reconcile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// scan is what a directory holds.
type scan struct {
	dir      string   // absolute, links resolved
	roots    []string // directories of kustomizations that no other one here uses
	plain    []string // manifests that belong to no kustomization
	charts   []string // directories of Helm charts
	outside  []string // links that lead out of the directory
	problems []error
}

// kustomizationFile is the kustomization of a directory, "" if it has none.
func kustomizationFile(t *tree, dir string) string {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if path := filepath.Join(dir, name); t.Exists(path) && !t.IsDir(path) {
			return path
		}
	}
	return ""
}

// scanDir looks for what defines objects in a directory. A directory that is a
// kustomization itself is only that.
func scanDir(t *tree, dir string) (*scan, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if absolute, err = filepath.EvalSymlinks(absolute); err != nil {
		return nil, err
	}
	if !t.IsDir(absolute) {
		return nil, fmt.Errorf("%s is no directory", dir)
	}
	s := &scan{dir: absolute}
	if kustomizationFile(t, absolute) != "" {
		s.roots = []string{absolute}
		return s, nil
	}
	var kustomizations []string
	err = filepath.WalkDir(absolute, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			s.problems = append(s.problems, err)
			return nil
		case entry.IsDir():
			return s.enter(t, path, &kustomizations)
		case isManifest(path):
			s.file(path, entry)
		}
		return nil
	})
	s.roots = unused(t, kustomizations)
	return s, err
}

// enter decides what a directory is, and skips what is below those that are no
// plain ones.
func (s *scan) enter(t *tree, path string, kustomizations *[]string) error {
	switch {
	case path != s.dir && strings.HasPrefix(filepath.Base(path), "."):
		return fs.SkipDir
	case t.Exists(filepath.Join(path, "Chart.yaml")):
		s.charts = append(s.charts, path)
		return fs.SkipDir
	case kustomizationFile(t, path) != "":
		*kustomizations = append(*kustomizations, below(t, path)...)
		return fs.SkipDir
	}
	return nil
}

// below are the kustomizations of a directory and of those in it.
func below(t *tree, dir string) []string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error { // what is unreadable, its own build tells
		if err == nil && entry.IsDir() && kustomizationFile(t, path) != "" {
			found = append(found, path)
		}
		return nil
	})
	return found
}

func isManifest(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
}

// file notes a manifest; a link must stay in the directory, and a file that is
// known by two names is one.
func (s *scan) file(path string, entry fs.DirEntry) {
	if entry.Type()&fs.ModeSymlink != 0 {
		target, err := filepath.EvalSymlinks(path)
		switch {
		case err != nil:
			s.problems = append(s.problems, err)
			return
		case !inside(s.dir, target):
			s.outside = append(s.outside, path)
			return
		}
		path = target
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !slices.Contains(s.plain, path) {
		s.plain = append(s.plain, path)
	}
}

func inside(dir, path string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

// unused are the kustomizations that no other one of them builds on.
func unused(t *tree, dirs []string) []string {
	used := map[string]bool{}
	for _, dir := range dirs {
		for _, base := range bases(t, dir) {
			used[base] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return used[dir] })
}

// bases are the directories that a kustomization builds on.
func bases(t *tree, dir string) []string {
	data, err := t.ReadFile(kustomizationFile(t, dir))
	var k struct {
		Kind                         string
		Resources, Bases, Components []string
	}
	if err != nil || yaml.Unmarshal(data, &k) != nil {
		return nil // its own build tells
	}
	var found []string
	for _, name := range slices.Concat(k.Resources, k.Bases, k.Components) {
		if path := filepath.Join(dir, name); !strings.Contains(name, "://") && t.IsDir(path) {
			if target, err := filepath.EvalSymlinks(path); err == nil {
				path = target
			}
			found = append(found, path)
		}
	}
	return found
}

// sharers are the kustomizations of the repository that build on a directory.
func sharers(t *tree, dir string) []string {
	top := dir
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			top = at
			break
		}
		if at == filepath.Dir(at) {
			return nil // no repository: nothing is known to share it
		}
	}
	return slices.DeleteFunc(below(t, top), func(other string) bool { return other == dir || !slices.Contains(bases(t, other), dir) })
}
