package cli

import (
	"cmp"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/manifest/files"
	"github.com/changeward/changeward/pkg/render"
)

// InputFlags say what to plan, and what to call it.
type InputFlags struct {
	// Twice repeats the dry run of what would change, so that values which are
	// another each time show.
	Twice     bool
	filenames []string
	manifests []string // the same under its other name
	recursive bool
	kustomize string
	scopeName string
}

// AddFlags registers -f, --manifests, -R, -k and --scope on a verb.
func (f *InputFlags) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.filenames, "filename", "f", nil, "file, directory or pattern of rendered manifests; - is standard input")
	flags.StringArrayVar(&f.manifests, "manifests", nil, "the same as --filename")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "read directories below directories, too")
	flags.StringVarP(&f.kustomize, "kustomize", "k", "", "directory of a kustomization, instead of files")
	flags.StringVar(&f.scopeName, "scope", "", "name of what is being changed (default: the path of the manifests in their repository)")
}

// inputs as they were named.
func (f *InputFlags) inputs() []string {
	named := slices.Concat(f.filenames, f.manifests)
	if f.kustomize != "" {
		return append([]string{f.kustomize}, named...)
	}
	return named
}

// Validate refuses flags that leave open what is meant. forRecord says that
// the plan is to be put forward, which takes a scope.
func (f *InputFlags) Validate(forRecord bool) error {
	if len(f.inputs()) == 0 {
		return Usage("which manifests? name them with -f (or --manifests), or a kustomization with -k")
	}
	if forRecord && f.scope() == "" {
		return Usage("manifests from standard input have no path: say with --scope what is being changed")
	}
	return nil
}

// scope is the name given, or the one that follows from the inputs.
func (f *InputFlags) scope() string { return cmp.Or(f.scopeName, DefaultScope(f.inputs())) }

// read reads the manifests. Without a single object it is an error that lists
// all problems; otherwise those are part of the plan.
func (f *InputFlags) read(streams Streams) ([]manifest.Object, []manifest.Problem, error) {
	objects, problems := files.Load(files.Options{Filenames: slices.Concat(f.filenames, f.manifests),
		Recursive: f.recursive, Kustomize: f.kustomize, Stdin: streams.In})
	if len(objects) > 0 {
		return objects, problems, nil
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
