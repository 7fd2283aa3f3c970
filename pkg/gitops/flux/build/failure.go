package build

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/manifest/files"
	"github.com/changeward/changeward/pkg/plan"
)

// failed is why a build failed, by file and line where those can be told.
func (r *run) failed(path string, err error) error {
	text := r.renamed(files.Careful(err))
	problems := r.blamed(path, err.Error())
	if len(problems) == 0 {
		problems = []manifest.Problem{{Source: manifest.Source{File: r.named(path)}, Reason: manifest.ReasonKustomize, Message: text}}
	}
	return &Error{Reason: plan.ReasonInvalid, Message: joined(problems).Error(), Problems: problems}
}

// blamed reads the files that an error of kustomize names, and says what is
// wrong with them, with lines.
func (r *run) blamed(path, text string) []manifest.Problem {
	var problems []manifest.Problem
	seen := map[string]bool{}
	for _, match := range regexp.MustCompile(`[^\s'":,\[\]()]+\.(?:ya?ml|json)\b`).FindAllString(text, -1) {
		for _, file := range []string{match, filepath.Join(path, match), filepath.Join(r.dir, match)} {
			file = filepath.Clean(file)
			if seen[file] || !inside(r.dir, file) || filepath.Base(file) == "kustomization.yaml" {
				continue
			}
			seen[file] = true
			_, found := files.Load(files.Options{Filenames: []string{file}})
			for _, problem := range found {
				if problem.Reason == manifest.ReasonUnreadable {
					continue
				}
				problem.Source.File = r.named(problem.Source.File)
				problems = append(problems, problem)
			}
		}
	}
	if len(problems) == 0 {
		return r.atLine(text)
	}
	return problems
}

// atLine takes file and line from the text itself.
func (r *run) atLine(text string) []manifest.Problem {
	file := regexp.MustCompile(`(?:in File: |from )'?([^\s']+\.ya?ml)`).FindStringSubmatch(text)
	line := regexp.MustCompile(`line (\d+): ([^:\n]*)`).FindStringSubmatch(text)
	if file == nil || line == nil {
		return nil
	}
	number, _ := strconv.Atoi(line[1]) // digits
	return []manifest.Problem{{Source: manifest.Source{File: r.renamed(file[1]), Line: number}, Reason: manifest.ReasonKustomize,
		Message: strings.TrimSpace(line[2])}}
}

// inside says whether a path lies in a folder.
func inside(folder, path string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}
