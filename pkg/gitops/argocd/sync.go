package argocd

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Sync is an attempt of a sync that is under way.
type Sync struct {
	// Sources are what is rendered for it, in order.
	Sources []Source
	// Whole says that the manifests came with the operation, not from Sources.
	Whole bool
}

// Source is where manifests of an Application come from.
type Source struct {
	RepoURL string
	Path    string
	// Revision is the full id of the commit that Argo CD has settled on, "" as
	// long as it has not.
	Revision string
	// Special lists what decides about rendering and is no plain directory or
	// kustomization, by its names in the source.
	Special []string
	Recurse bool // a directory with all below it
	// Content is the source as the Application has it.
	Content map[string]any
}

// sourceOf reads a source. Members that Argo CD itself ignores are harmless.
func sourceOf(content map[string]any, revision string) Source {
	text := func(name string) string { value, _ := content[name].(string); return value }
	s := Source{RepoURL: text("repoURL"), Path: text("path"), Revision: revision, Content: content}
	for _, name := range []string{"chart", "ref", "helm", "kustomize", "plugin"} {
		if value := content[name]; value != nil && !empty(value) {
			s.Special = append(s.Special, name)
		}
	}
	directory, _ := content["directory"].(map[string]any)
	for name, value := range directory {
		switch {
		case name == "recurse":
			s.Recurse, _ = value.(bool)
		case !empty(value):
			s.Special = append(s.Special, "directory."+name)
		}
	}
	return s
}

func empty(value any) bool {
	switch value := value.(type) {
	case string:
		return value == ""
	case bool:
		return !value
	case map[string]any:
		for _, member := range value {
			if !empty(member) {
				return false
			}
		}
		return true
	case []any:
		return len(value) == 0
	}
	return false
}

// ErrUnsettled is a sync that has begun, and whose revisions Argo CD has not
// written down yet: a moment later it will have.
var ErrUnsettled = errors.New("the sync has just begun, and Argo CD has not said yet which revision it is of")

// Rendered says what the sync that is under way applies: all of its sources,
// each at a full revision. An error says why that cannot be told:
// ErrUnsettled, or for good.
func (a *Application) Rendered() ([]Source, error) {
	switch {
	case a.Sync == nil && a.Starting:
		return nil, ErrUnsettled
	case a.Sync == nil:
		return nil, errors.New("no sync of it is under way" + a.ended + ": what would be applied is not settled, so nothing can be gated in its name")
	case a.Sync.Whole:
		return nil, errors.New("the sync that runs brings its own manifests (operation.sync.manifests), which are in no repository")
	case len(a.Selected) > 0:
		return nil, fmt.Errorf("the sync that runs is about %d selected objects (operation.sync.resources), not about all: hooks do not run in it, and it cannot be gated", len(a.Selected))
	}
	for _, source := range a.Sync.Sources {
		if !fullRevision(source.Revision) && len(source.Content) > 0 && source.Content["chart"] == nil {
			return nil, ErrUnsettled
		}
	}
	if len(a.Sync.Sources) == 0 {
		return nil, ErrUnsettled
	}
	return a.Sync.Sources, nil
}

func fullRevision(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// SameRepository says whether two addresses lead to one repository: whatever
// the scheme, the user, the port of SSH, and the ending .git.
func SameRepository(one, other string) bool {
	return one != "" && repository(one) == repository(other)
}

func repository(address string) string {
	address = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(address)), "/"), ".git")
	if _, rest, found := strings.Cut(address, "@"); found && !strings.Contains(address, "://") {
		address = "ssh://" + strings.Replace(rest, ":", "/", 1)
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return strings.TrimPrefix(address, "file://")
	}
	host := parsed.Host
	if parsed.Scheme == "ssh" {
		host = parsed.Hostname()
	}
	return host + "/" + strings.Trim(parsed.Path, "/")
}
