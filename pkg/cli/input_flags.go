package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/manifest/files"
	"github.com/changeward/changeward/pkg/render"
)

// InputFlags say what to plan, and what to call it.
type InputFlags struct {
	// Twice repeats the dry run of what would change, so that values which are
	// another each time show.
	Twice bool
	// Revision is the Git revision of the manifests; "": see FindOrigin.
	Revision   string
	filenames  []string
	manifests  []string // the same under its other name
	recursive  bool
	kustomize  string
	scopeName  string
	owner      string
	repository repositoryFlags
	applier    applierFlags
	empty      bool // an empty set of manifests is meant so
	direct     bool // changeward itself applies
	// fromOwner builds what the owner would, of the revision of its source.
	fromOwner bool
	// checkout is a folder to build that from instead of the source; "" for none.
	checkout string
	// arriving are objects that come before these, by other plans of the run.
	arriving []manifest.Object
}

// Kustomization is the input that Flux would build for a Kustomization: from
// its source's artifact in the cluster or, where checkout names a folder, from
// that. revision is the one that the artifact must have, or the checkout's; "" is
// any. empty says that nothing at all may be built, and everything deleted.
func Kustomization(namespace, name, checkout, revision string, empty bool) InputFlags {
	ref := gitops.Ref{Kind: gitops.Kustomization, Namespace: namespace, Name: name}
	return InputFlags{Twice: true, owner: ref.String(), checkout: checkout, fromOwner: checkout == "", Revision: revision, empty: empty}
}

// artifact is the revision that the owner's source must have; "" is any.
func (f *InputFlags) artifact() string {
	if f.fromOwner {
		return f.Revision
	}
	return ""
}

// builds says that the manifests are what the owner would build.
func (f *InputFlags) builds() bool { return f.fromOwner || f.checkout != "" }

// AddFlags registers -f, --manifests, -R, -k, --scope, --owner, --from-owner,
// --revision, --allow-empty, and how they will be applied, on a verb.
func (f *InputFlags) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.addSources(cmd)
	flags.StringVar(&f.owner, "owner", "", "plan what this owner would do: kustomization/NAMESPACE/NAME or application/NAMESPACE/NAME")
	flags.BoolVar(&f.fromOwner, "from-owner", false, "with --owner: build what the owner would, from its source in the cluster")
	flags.StringVar(&f.Revision, "revision", "", "Git revision of the manifests (default: of the CI's environment, or the checkout); with --from-owner, the one that the source must have")
	flags.BoolVar(&f.empty, "allow-empty", false, "with --owner: plan the deletion of all its objects where the manifests hold none")
	flags.BoolVar(&f.direct, "direct", false, "plan what changeward apply would do, past any owner")
	f.applier.addFlags(cmd)
}

// AddDirectFlags registers what a verb that applies itself takes: the sources,
// --scope and --force-conflicts.
func (f *InputFlags) AddDirectFlags(cmd *cobra.Command) {
	f.addSources(cmd)
	f.applier.name, f.applier.given = nameAuto, func(string) bool { return false }
	cmd.Flags().BoolVar(&f.applier.forceConflicts, "force-conflicts", false, "take fields over from other managers")
	f.direct, f.Twice = true, true
}

func (f *InputFlags) addSources(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.filenames, "filename", "f", nil, "file, directory or pattern of rendered manifests; - is standard input")
	flags.StringArrayVar(&f.manifests, "manifests", nil, "the same as --filename")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "read directories below directories, too")
	flags.StringVarP(&f.kustomize, "kustomize", "k", "", "directory of a kustomization, instead of files")
	flags.StringVar(&f.repository.url, "git", "", "read the manifests from this repository, over HTTPS, with the token in $GIT_TOKEN; with --owner application/…: what its sync applies")
	flags.StringVar(&f.repository.revision, "git-revision", "", "with --git: full id of the commit (default: of the sync that is under way, or $REVISION)")
	flags.StringVar(&f.repository.path, "git-path", "", "with --git: directory or kustomization in the repository (default: of the sync that is under way, or $MANIFESTS_PATH)")
	flags.StringVar(&f.scopeName, "scope", "", "name of what is being changed (default: the path of the manifests in their repository)")
}

// inputs as they were named.
func (f *InputFlags) inputs() []string {
	switch {
	case f.checkout != "":
		return []string{f.checkout}
	case f.fromOwner:
		return []string{f.owner}
	}
	named := slices.Concat(f.filenames, f.manifests)
	if f.repository.url != "" {
		return []string{f.repository.name()}
	}
	if f.kustomize != "" {
		return append([]string{f.kustomize}, named...)
	}
	return named
}

// Validate refuses flags that leave open what is meant. forRecord says that
// the plan is to be put forward, which takes a scope.
func (f *InputFlags) Validate(forRecord bool) error {
	ref, err := f.ownerRef()
	switch {
	case err != nil:
		return Usage(err.Error())
	case f.repository.url != "" && len(f.filenames)+len(f.manifests)+len(f.kustomize) > 0:
		return Usage("--git, -f and -k: the manifests come from one of them")
	case f.repository.url == "" && f.repository != (repositoryFlags{}):
		return Usage("--git-revision and --git-path say what is read with --git")
	case f.fromOwner && ref.Kind != gitops.Kustomization:
		return Usage("--from-owner builds what a Kustomization would: name one with --owner kustomization/NAMESPACE/NAME")
	case f.fromOwner && len(f.filenames)+len(f.manifests)+len(f.kustomize) > 0:
		return Usage("--from-owner takes neither -f nor -k: the owner says what is built")
	case len(f.inputs()) == 0:
		return Usage("which manifests? name them with -f (or --manifests), or a kustomization with -k")
	case ref != (gitops.Ref{}) && f.scopeName != "":
		return Usage("--scope and --owner: the owner is the scope already")
	case f.direct && (ref != (gitops.Ref{}) || f.applier.given("applier")):
		return Usage("--direct plans what changeward itself does: it goes with neither --owner nor --applier")
	case ref == (gitops.Ref{}) && f.empty:
		return Usage("--allow-empty: without --owner nothing is deleted")
	case forRecord && f.scope() == "":
		return Usage("manifests from standard input or a repository have no path here: say with --scope what is being changed")
	}
	return f.applier.validate(ref != gitops.Ref{})
}

// scope is the owner, or the name given, or the one that follows from the
// inputs.
func (f *InputFlags) scope() string {
	ref, _ := f.ownerRef() // validated
	if f.repository.url != "" {
		return cmp.Or(ref.String(), f.scopeName, f.repository.path)
	}
	return cmp.Or(ref.String(), f.scopeName, DefaultScope(f.inputs()))
}

// ownerRef is whom to plan for; the zero value is nobody.
func (f *InputFlags) ownerRef() (gitops.Ref, error) {
	if f.owner == "" {
		return gitops.Ref{}, nil
	}
	return gitops.ParseRef(f.owner)
}

// read reads the manifests. Standard input may never end: the waiting ends with
// the context.
func (f *InputFlags) read(ctx context.Context, streams Streams) ([]manifest.Object, []manifest.Problem, error) {
	var problems []manifest.Problem
	objects, err := await(ctx, func() (objects []manifest.Object, _ error) {
		objects, problems = files.Load(files.Options{Filenames: slices.Concat(f.filenames, f.manifests),
			Recursive: f.recursive, Kustomize: f.kustomize, Stdin: streams.In})
		return objects, nil
	})
	return objects, problems, err
}

// taken are manifests that were read. Without a single object it is an error
// that lists all problems, but for an empty input of an owner, who knows what it
// would delete; otherwise those are part of the plan.
func (f *InputFlags) taken(objects []manifest.Object, problems []manifest.Problem) ([]manifest.Object, []manifest.Problem, error) {
	nothing := !slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Reason != manifest.ReasonNoObjects })
	if len(objects) > 0 {
		return objects, problems, nil
	}
	if nothing && f.owner != "" {
		return nil, nil, nil
	}
	failure := &Failure{Code: ExitError, Reason: ReasonBadInput}
	var all []error
	for _, problem := range problems {
		all = append(all, problem)
		failure.Problems = append(failure.Problems, problemDocument(problem))
	}
	failure.Err = errors.Join(all...)
	if len(all) == 0 {
		failure.Err = errors.New("the manifests hold no object")
	}
	return nil, nil, failure
}

func problemDocument(p manifest.Problem) render.Problem {
	return render.Problem{Group: p.Key.Group, Kind: p.Key.Kind, Namespace: p.Key.Namespace, Name: p.Key.Name,
		Source: p.Source.String(), Path: p.Path, Reason: p.Reason, Message: p.Message}
}
