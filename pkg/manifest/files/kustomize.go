package files

import (
	"os"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/changeward/changeward/pkg/manifest"
)

// kustomize builds a kustomization as kubectl -k does: no plugins, nothing
// read from outside its root. What is built has no lines: its source is the
// directory.
func (l *loader) kustomize(dir string) {
	if _, err := os.Stat(dir); err != nil {
		l.problem(dir, manifest.ReasonUnreadable, "a kustomization must be a local directory: "+cause(err))
		return
	}
	l.objects, l.problems = Build(filesys.MakeFsOnDisk(), dir)
}

// Build is the kustomization of a directory of a file system, as Load reads it
// with -k.
func Build(system filesys.FileSystem, dir string) ([]manifest.Object, []manifest.Problem) {
	options := krusty.MakeDefaultOptions() // root only, no plugins
	options.Reorder = krusty.ReorderOptionLegacy
	built, err := krusty.MakeKustomizer(options).Run(system, dir)
	var data []byte
	if err == nil {
		data, err = built.AsYaml()
	}
	if err != nil {
		return nil, []manifest.Problem{{Source: manifest.Source{File: dir}, Reason: manifest.ReasonKustomize, Message: Careful(err)}}
	}
	objects, problems := manifest.Parse(dir, data)
	for i := range objects {
		objects[i].Source.Line = 0
	}
	for i := range problems {
		problems[i].Source.Line = 0
	}
	return objects, problems
}

// Careful is the text of a kustomize error up to where it repeats what a
// patch or a secretGenerator holds.
func Careful(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	for _, mark := range []string{"literal source", "node contents", "cannot unmarshal", "cannot decode",
		"must specify one of patch and path", "patch and path can't be set",
		"must specify a target for", "parse SM or JSON patch", "Multiple Strategic-Merge Patches", "decoding ", "empty item at", "out of bounds for value"} {
		if before, _, found := strings.Cut(text, mark); found {
			text = before + mark + " (the rest may repeat values and is withheld)"
		}
	}
	return text
}
