package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/manifest/files"
	"github.com/changeward/changeward/pkg/manifest/git"
)

// How long Argo CD may take to write down of which revision a sync is that has
// begun, and how often that is looked for.
const (
	settleTimeout  = 30 * time.Second
	settleInterval = 500 * time.Millisecond
)

// repositoryFlags name the repository that manifests are read from. What a flag
// leaves open, the variables of a hook Job say.
type repositoryFlags struct{ url, revision, path string }

// from is where the manifests are, as far as the caller says it.
func (f repositoryFlags) from(env func(string) string) repositoryFlags {
	return repositoryFlags{url: f.url, revision: cmp.Or(f.revision, env("REVISION")), path: cmp.Or(f.path, env("MANIFESTS_PATH"))}
}

// name is how the repository is called as an input.
func (f repositoryFlags) name() string { return strings.TrimRight("git:"+f.url+"//"+f.path, "/") }

// syncing finds the Application that the plan is made for while a sync of it is
// under way, and waits a moment for one that has just begun.
func (s *Session) syncing(ctx context.Context, p *planning, ref gitops.Ref) (*gitops.Owner, []argocd.Source, error) {
	var owner *gitops.Owner
	var sources []argocd.Source
	var last error
	err := wait.PollUntilContextTimeout(ctx, settleInterval, settleTimeout, true, func(ctx context.Context) (bool, error) {
		var err error
		if owner, err = gitops.Find(ctx, dryrun.Reader{Client: s.Client, Kinds: p.kinds}, ref); err != nil {
			return false, err
		}
		sources, last = owner.Argo.Rendered()
		if errors.Is(last, argocd.ErrUnsettled) {
			return false, nil
		}
		return true, last
	})
	switch {
	case last != nil && ctx.Err() == nil:
		return nil, nil, Fail(ReasonNotSyncing, fmt.Errorf("owner %s: %w", ref, last))
	case err != nil:
		return nil, nil, err
	}
	return owner, sources, nil
}

// source is what of the repository is read: what the sync that is under way
// applies, where the plan is made for an Application. What the caller says must
// agree with it.
func (s *Session) source(ctx context.Context, p *planning) (argocd.Source, error) {
	said := p.input.repository.from(s.Streams.Env)
	ref, err := p.input.ownerRef()
	if err != nil {
		return argocd.Source{}, err
	}
	if ref.Kind != gitops.Application {
		return argocd.Source{RepoURL: said.url, Path: said.path, Revision: said.revision, Recurse: p.input.recursive}, nil
	}
	owner, sources, err := s.syncing(ctx, p, ref)
	if err != nil {
		return argocd.Source{}, err
	}
	p.owner = owner
	if len(sources) != 1 {
		return argocd.Source{}, otherSource("the sync has %d sources, and --git reads one", len(sources))
	}
	source := sources[0]
	switch {
	case !argocd.SameRepository(said.url, source.RepoURL):
		return source, otherSource("the sync is of repository %s, not of %s", source.RepoURL, said.url)
	case said.path != "" && filepath.Clean(said.path) != filepath.Clean(source.Path):
		return source, otherSource("the sync is of path %s, not of %s", source.Path, said.path)
	case git.IsFull(said.revision) && said.revision != source.Revision:
		return source, otherSource("the sync is of revision %s, not of %s", source.Revision, said.revision)
	case len(source.Special) > 0:
		return source, otherSource("the source has %s, which --git cannot render as Argo CD does", strings.Join(source.Special, ", "))
	}
	source.RepoURL = said.url // the same by another way
	return source, nil
}

func otherSource(format string, args ...any) error {
	return Fail(ReasonOtherSource, fmt.Errorf(format, args...), "what is rendered must be what Argo CD is about to apply")
}

// fromRepository reads the manifests of one commit. Files are named as in the
// repository.
func (s *Session) fromRepository(ctx context.Context, p *planning) (objects []manifest.Object, problems []manifest.Problem, err error) {
	if p.kinds, err = s.Client.Kinds(ctx); err != nil {
		return nil, nil, err
	}
	source, err := s.source(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	p.input.Revision = source.Revision
	path := cmp.Or(source.Path, ".")
	switch {
	case !git.IsFull(source.Revision):
		return nil, nil, Usage("--git reads a commit: say with --git-revision or $REVISION the full id of one")
	case !filepath.IsLocal(path):
		return nil, nil, Usage("path " + path + " leads out of the repository")
	}
	dir, err := os.MkdirTemp("", "changeward-")
	if err != nil {
		return nil, nil, fmt.Errorf("a folder for the repository: %w", err)
	}
	defer os.RemoveAll(dir)
	options := git.Options{URL: source.RepoURL, Revision: source.Revision, Username: s.Streams.Env("GIT_USERNAME"), Token: s.Streams.Env("GIT_TOKEN")}
	if err := git.Checkout(ctx, options, dir); err != nil {
		return nil, nil, err
	}
	load, err := loadOptions(filepath.Join(dir, path), path, source.Recurse)
	if err != nil {
		return nil, nil, err
	}
	objects, problems = files.Load(load)
	within := func(text string) string { return strings.ReplaceAll(text, dir+string(filepath.Separator), "") }
	for i := range objects {
		objects[i].Source.File = within(objects[i].Source.File)
	}
	for i := range problems {
		problems[i].Source.File, problems[i].Message = within(problems[i].Source.File), within(problems[i].Message)
	}
	return objects, problems, nil
}

// loadOptions tell a kustomization from a directory of manifests, as Argo CD
// does. Charts are not rendered here.
func loadOptions(folder, path string, recurse bool) (files.Options, error) {
	if _, err := os.Stat(folder); err != nil {
		return files.Options{}, otherSource("the revision has no path %s", path)
	}
	if _, err := os.Stat(filepath.Join(folder, "Chart.yaml")); err == nil {
		return files.Options{}, otherSource("path %s is a Helm chart, which --git cannot render as Argo CD does", path)
	}
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return files.Options{Kustomize: folder}, nil
		}
	}
	return files.Options{Filenames: []string{folder}, Recursive: recurse}, nil
}
