// Package files reads manifests from where they lie: files, directories,
// standard input, kustomizations. It finds what kubectl would find for -f, -R
// and -k, in the same order, but for URLs, which it refuses.
//
// Enter at Load. It names every input that it could not read, and goes on with
// the others.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
)

// Options say what to read.
type Options struct {
	Filenames []string  // files, directories, patterns; "-" is Stdin
	Recursive bool      // into directories of directories
	Kustomize string    // directory of a kustomization, instead of Filenames
	Stdin     io.Reader // read once
}

// Load reads all objects, in the order of Filenames, within a directory by
// path. Every input that cannot be read and everything wrong in those that can
// is a Problem; so is an input without any object.
func Load(options Options) ([]manifest.Object, []manifest.Problem) {
	l := &loader{options: options}
	switch {
	case options.Kustomize != "" && (len(options.Filenames) > 0 || options.Recursive):
		l.problem(options.Kustomize, manifest.ReasonUsage, "-k takes neither -f nor -R")
	case options.Kustomize != "":
		l.kustomize(options.Kustomize)
	case len(options.Filenames) == 0:
		l.problem("manifests", manifest.ReasonUsage, "no input named")
	}
	if options.Kustomize == "" {
		for _, name := range options.Filenames {
			l.name(name)
		}
	}
	if len(l.objects) == 0 && len(l.problems) == 0 {
		inputs := strings.Join(append(slices.Clone(options.Filenames), options.Kustomize), " ")
		l.problem(strings.TrimSpace(inputs), manifest.ReasonNoObjects, "no objects in input")
	}
	return l.objects, l.problems
}

type loader struct {
	options  Options
	objects  []manifest.Object
	problems []manifest.Problem
	stdin    bool          // read already
	seen     []os.FileInfo // files read already
}

func (l *loader) problem(file, reason, message string) {
	l.problems = append(l.problems, manifest.Problem{Source: manifest.Source{File: file}, Reason: reason, Message: message})
}

func (l *loader) parse(name string, data []byte) {
	objects, problems := manifest.Parse(name, data)
	l.objects = append(l.objects, objects...)
	l.problems = append(l.problems, problems...)
}

// name reads one input as it was named.
func (l *loader) name(name string) {
	switch {
	case name == "-":
		l.readStdin()
		return
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		l.problem(name, manifest.ReasonRemote, "URLs are not read: what they answer can change between plan and apply")
		return
	}
	paths, err := expand(name)
	switch {
	case err != nil:
		l.problem(name, manifest.ReasonUnreadable, cause(err))
	case len(paths) == 0:
		l.problem(name, manifest.ReasonUnreadable, "no such file or directory, and no file matches it")
	}
	for _, path := range paths {
		l.path(path)
	}
}

// expand is a path that exists, or else what matches it as a pattern.
func expand(name string) ([]string, error) {
	if _, err := os.Lstat(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return []string{name}, nil
	}
	return filepath.Glob(name)
}

func (l *loader) path(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		l.problem(path, manifest.ReasonUnreadable, cause(err))
	case info.IsDir():
		l.directory(path)
	default:
		l.file(path, info)
	}
}

// directory reads the .json, .yaml and .yml files of a directory.
func (l *loader) directory(dir string) {
	found, skipped := false, false
	// WalkDir does not follow a link, not even as its root.
	root := dir
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		root = target
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := dir
		if rest, relErr := filepath.Rel(root, path); relErr == nil {
			name = filepath.Join(dir, rest)
		}
		switch {
		case err != nil:
			found = true // not empty: unreadable
			l.problem(name, manifest.ReasonUnreadable, cause(err))
		case entry.IsDir() && path != root && !l.options.Recursive:
			skipped = true
			return fs.SkipDir
		case !entry.IsDir():
			found = l.entry(root, name) || found
		}
		return nil
	})
	if err != nil {
		l.problem(dir, manifest.ReasonUnreadable, cause(err))
	}
	text := "no .yaml, .yml or .json file in this directory"
	if skipped {
		text += ", and directories below it are read with -R only"
	}
	if !found {
		l.problem(dir, manifest.ReasonNoFiles, text)
	}
}

// entry reads a file somewhere in the directory root; false if it is none to
// be read.
func (l *loader) entry(root, path string) bool {
	info, err := os.Stat(path)
	isManifest := slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path))
	switch {
	case err == nil && info.IsDir():
		if l.options.Recursive && !within(root, path) {
			l.problem(path, manifest.ReasonUnreadable, "is a link to a directory, which is not followed; name it with -f")
		}
		return false
	case !isManifest:
		return false
	case err != nil:
		l.problem(path, manifest.ReasonUnreadable, cause(err))
	case !info.Mode().IsRegular():
		l.problem(path, manifest.ReasonUnreadable, "is no regular file")
	default:
		l.file(path, info)
	}
	return true
}

// within says whether a link leads to what is walked anyway, as those that the
// kubelet puts beside a mounted ConfigMap do.
func within(root, link string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		return false
	}
	if target, err = filepath.Abs(target); err != nil {
		return false
	}
	rest, err := filepath.Rel(absolute, target)
	return err == nil && filepath.IsLocal(rest)
}

// file reads a file, once even if several names lead to it.
func (l *loader) file(path string, info os.FileInfo) {
	if slices.ContainsFunc(l.seen, func(seen os.FileInfo) bool { return os.SameFile(seen, info) }) {
		return
	}
	l.seen = append(l.seen, info)
	if base := filepath.Base(path); slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, base) {
		l.problem(path, manifest.ReasonKustomize, "is a kustomization, no manifest: build it with -k "+filepath.Dir(path))
		return
	}
	file, err := os.Open(path)
	if err != nil {
		l.problem(path, manifest.ReasonUnreadable, cause(err))
		return
	}
	defer file.Close()
	l.read(path, file)
}

func (l *loader) readStdin() {
	switch {
	case l.stdin:
	case l.options.Stdin == nil:
		l.problem("-", manifest.ReasonUnreadable, "there is no standard input")
	default:
		l.read("-", l.options.Stdin)
	}
	l.stdin = true
}

func (l *loader) read(name string, from io.Reader) {
	data, err := io.ReadAll(io.LimitReader(from, manifest.MaxBytes+1)) // one more, which Parse refuses
	if err != nil {
		l.problem(name, manifest.ReasonUnreadable, cause(err))
		return
	}
	l.parse(name, data)
}

// cause is an error without the path that the problem names anyway.
func cause(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return fmt.Sprintf("%s: %v", pathError.Op, pathError.Err)
	}
	return err.Error()
}
