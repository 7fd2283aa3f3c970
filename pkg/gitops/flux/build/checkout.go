package build

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"

	"github.com/changeward/changeward/pkg/plan"
)

// copy makes of a checkout what the source's artifact would hold of it: regular
// files, but for those that Flux ignores by default, by .sourceignore files, and
// by spec.ignore of the source.
func (r *run) copy(source origin) error {
	root, err := filepath.Abs(r.request.Checkout)
	if err != nil {
		return err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return &Error{Reason: plan.ReasonNotFound, Message: fmt.Sprintf("%s is no directory", r.request.Checkout)}
	}
	if len(source.Spec.Include) > 0 {
		return invalid("its source %s includes other sources, which no checkout holds: build it from the cluster, with --from-owner", r.source())
	}
	domain := strings.Split(root, string(filepath.Separator))
	patterns, err := sourceignore.LoadIgnorePatterns(root, domain)
	if err != nil {
		return err
	}
	if source.Spec.Ignore != nil {
		patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(*source.Spec.Ignore), domain)...)
	}
	matcher := sourceignore.NewDefaultMatcher(patterns, domain)
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ignored := path != root && matcher.Match(strings.Split(path, string(filepath.Separator)), entry.IsDir())
		switch {
		case entry.Name() == ".git" && entry.IsDir():
			return fs.SkipDir
		case ignored || !entry.Type().IsRegular(): // a pattern may let files of an ignored folder in again
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return copyFile(path, filepath.Join(r.dir, relative))
	})
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
