package reconcile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/reconcile/edit"
)

// tree is a directory with edits that no file has yet. Paths are absolute.
type tree struct {
	filesys.FileSystem
	edits map[string][]byte // nil: the file is gone
}

func newTree() *tree {
	return &tree{FileSystem: filesys.MakeFsOnDisk(), edits: map[string][]byte{}}
}

// clone is a tree to try something in.
func (t *tree) clone() *tree { return &tree{FileSystem: t.FileSystem, edits: maps.Clone(t.edits)} }

// resolved is the path under which edits of a file are kept: links are
// followed, so that a file with two names has one.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// edited is the edit of a file, if it has one.
func (t *tree) edited(path string) ([]byte, bool) {
	data, known := t.edits[resolved(path)]
	return data, known
}

// rewrite edits a file by its documents.
func (t *tree) rewrite(key manifest.Key, path string, change func(*edit.Text) ([]byte, error)) error {
	data, err := t.ReadFile(path)
	if err != nil {
		return err
	}
	if refusal := closed(key, path, data); refusal != nil {
		return refusal
	}
	text, err := edit.Open(path, data)
	if err == nil {
		data, err = change(text)
	}
	if err != nil {
		return err
	}
	t.edits[resolved(path)] = data
	return nil
}

// ReadFile reads a file as it would be.
func (t *tree) ReadFile(path string) ([]byte, error) {
	if data, known := t.edited(path); known {
		if data == nil {
			return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		return data, nil
	}
	return t.FileSystem.ReadFile(path)
}

// Exists says whether a file would be there.
func (t *tree) Exists(path string) bool {
	if data, known := t.edited(path); known {
		return data != nil
	}
	return t.FileSystem.Exists(path)
}

// CleanedAbs is where a path leads, as kustomize asks it.
func (t *tree) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if data, known := t.edited(path); known && data != nil && !t.FileSystem.Exists(path) {
		dir, _, err := t.FileSystem.CleanedAbs(filepath.Dir(path))
		return dir, filepath.Base(path), err
	}
	return t.FileSystem.CleanedAbs(path)
}

// File is one file of a Result.
type File struct {
	Path          string // absolute
	Before, After []byte // nil: there is none
}

// files are the edits, by path.
func (t *tree) files() ([]File, error) {
	var files []File
	for _, path := range slices.Sorted(maps.Keys(t.edits)) {
		before, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil {
			before = nil
		}
		files = append(files, File{Path: path, Before: before, After: t.edits[path]})
	}
	return files, nil
}

// writeAll replaces files, each at once. Where one cannot be, those before it
// get their old content back.
func writeAll(files []File) error {
	for i, file := range files {
		if err := file.unmoved(); err != nil {
			return errors.Join(err, restore(files[:i]))
		}
		if err := put(file.Path, file.After); err != nil {
			return errors.Join(err, restore(files[:i]))
		}
	}
	return nil
}

func restore(files []File) error {
	var problems []error
	for _, file := range files {
		problems = append(problems, put(file.Path, file.Before))
	}
	return errors.Join(problems...)
}

// unmoved refuses a file that is no longer as it was read.
func (f File) unmoved() error {
	now, err := os.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Before == nil:
		return nil
	case err != nil:
		return err
	case f.Before == nil || string(now) != string(f.Before):
		return fmt.Errorf("%s was changed by someone else in the meantime", f.Path)
	}
	return nil
}

// put makes a file hold data, or removes it: always as a whole.
func put(path string, data []byte) error {
	if data == nil {
		return os.Remove(path)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".changeward-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
