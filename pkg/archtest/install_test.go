package archtest

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
)

// `go install …@version` refuses a module whose go.mod replaces or excludes
// another.
func TestTheModuleCanBeInstalledByItsVersion(t *testing.T) {
	result := icmd.RunCmd(icmd.Command("go", "mod", "edit", "-json"), icmd.Dir(root(t)))
	result.Assert(t, icmd.Success)
	var file struct {
		Module           struct{ Path string }
		Go               string
		Replace, Exclude []any
		Require          []struct{ Path, Version string }
		Toolchain        string
	}
	assert.NilError(t, json.Unmarshal([]byte(result.Stdout()), &file))
	assert.Equal(t, file.Module.Path, module)
	assert.Assert(t, strings.HasPrefix(file.Go, "1.26"), file.Go)
	assert.Equal(t, file.Toolchain, "")
	assert.Equal(t, len(file.Replace)+len(file.Exclude), 0, "go.mod replaces or excludes modules")
	assert.Assert(t, len(file.Require) > 0)
}

// What is not in the module's zip is not there for who installs it: files of
// nested modules, and what a build has left behind. Loading all packages from
// such a copy finds a missing file, embedded or not, and a missing line of
// go.sum; building them takes minutes, and finds no more.
func TestBothMainsLoadFromACopyOfTheModuleAlone(t *testing.T) {
	dir := t.TempDir()
	copyModule(t, dir)
	result := icmd.RunCmd(icmd.Command("go", "list", "-deps", "-f", "{{with .Error}}{{.}}{{end}}", "./kubectl-changeward", "./flux-changeward"),
		icmd.Dir(dir), icmd.WithEnv(append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "GOPROXY=off")...))
	result.Assert(t, icmd.Success)
	assert.Equal(t, strings.TrimSpace(result.Combined()), "")
}

// copyModule copies what a module's zip holds, and checks the names of files:
// a zip with any other cannot be made.
func copyModule(t *testing.T, to string) {
	t.Helper()
	allowed := regexp.MustCompile(`^[\pL\pN!#$%&()+,\-.=@\[\]^_{}~ /]+$`)
	from := root(t)
	assert.NilError(t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if name == ".git" || name == "bin" || name != "." && err == nil {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		if !entry.Type().IsRegular() { // such as .git of a worktree's link
			return nil
		}
		assert.Assert(t, allowed.MatchString(filepath.ToSlash(name)), name)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), content, 0o644)
	}))
}
