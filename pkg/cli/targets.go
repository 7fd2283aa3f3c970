package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/render"
)

// kindTargets is the kind of the targets file.
const kindTargets = "Targets"

// targetsFile is targets.yaml as it lies on disk.
type targetsFile struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Targets    []render.Target `json:"targets"`
}

// Targets are the stored aliases of one person.
type Targets struct {
	path string
	list []render.Target
}

// LoadTargets reads $XDG_CONFIG_HOME/changeward/targets.yaml (else below
// ~/.config). A missing file holds no targets; one that is not understood in
// full is an error.
func LoadTargets(env func(string) string) (*Targets, error) {
	folder := env("XDG_CONFIG_HOME")
	if folder == "" {
		home := homeOf(env)
		if home == "" {
			return &Targets{}, nil
		}
		folder = filepath.Join(home, ".config")
	}
	t := &Targets{path: filepath.Join(folder, "changeward", "targets.yaml")}
	data, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, Fail(ReasonFailed, fmt.Errorf("read targets: %w", err))
	}
	if t.list, err = parseTargets(data); err != nil {
		return nil, Fail(ReasonBadInput, fmt.Errorf("read targets: %s: %w", t.path, err), "repair or remove the file, and store its targets again with the verb connect")
	}
	return t, nil
}

func parseTargets(data []byte) ([]render.Target, error) {
	var file targetsFile
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, err
	}
	// Unlike encoding/json it tells "context" from "Context", of which one would win unseen.
	if unknown, err := json.UnmarshalStrict(text, &file); err != nil || len(unknown) > 0 {
		return nil, errors.Join(append(unknown, err)...)
	}
	if file.APIVersion != render.APIVersion || file.Kind != kindTargets {
		return nil, fmt.Errorf("is %s %s, want %s %s", file.APIVersion, file.Kind, render.APIVersion, kindTargets)
	}
	var problems []error
	for i, target := range file.Targets {
		if err := checkTargetName(target.Name); err != nil {
			problems = append(problems, fmt.Errorf("targets[%d]: %w", i, err))
		}
		if slices.ContainsFunc(file.Targets[:i], func(t render.Target) bool { return t.Name == target.Name }) {
			problems = append(problems, fmt.Errorf("targets[%d]: %q is there twice", i, target.Name))
		}
	}
	return file.Targets, errors.Join(problems...)
}

func checkTargetName(name string) error {
	switch {
	case name == "":
		return errors.New("a target needs a name")
	case len(name) > 63, strings.HasPrefix(name, "-"), strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@", r)
	}):
		return fmt.Errorf("%q is no name for a target: letters, digits, - _ . @, at most 63, not starting with -", name)
	}
	return nil
}

// List is the targets by name.
func (t *Targets) List() []render.Target {
	return slices.SortedFunc(slices.Values(t.list), func(a, b render.Target) int { return strings.Compare(a.Name, b.Name) })
}

// Find is the target of a name.
func (t *Targets) Find(name string) (render.Target, bool) {
	i := slices.IndexFunc(t.list, func(target render.Target) bool { return target.Name == name })
	if i < 0 {
		return render.Target{}, false
	}
	return t.list[i], true
}

// Names are the names of all targets.
func (t *Targets) Names() []string {
	var names []string
	for _, target := range t.List() {
		names = append(names, target.Name)
	}
	return names
}

// Put stores a target in place of the one of its name, and says whether there
// was one. The file is replaced whole or not at all.
func (t *Targets) Put(target render.Target) (replaced bool, err error) {
	if t.path == "" {
		return false, errors.New("store target: neither XDG_CONFIG_HOME nor HOME is set")
	}
	if err := checkTargetName(target.Name); err != nil {
		return false, err
	}
	_, replaced = t.Find(target.Name)
	t.list = append(slices.DeleteFunc(t.list, func(old render.Target) bool { return old.Name == target.Name }), target)
	data, err := yaml.Marshal(targetsFile{APIVersion: render.APIVersion, Kind: kindTargets, Targets: t.List()})
	if err != nil {
		return false, fmt.Errorf("store target: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return false, fmt.Errorf("store target: %w", err)
	}
	return replaced, replaceFile(t.path, data, 0o600)
}

// rolloutTimeout is how long a direct apply to a target waits: what connect has
// checked, or five minutes.
func rolloutTimeout(t *render.Target) time.Duration {
	if t != nil {
		if d, err := time.ParseDuration(t.RolloutTimeout); err == nil && d > 0 {
			return d
		}
	}
	return 5 * time.Minute
}
