package release

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
)

// here is the platform that the tests run on.
func here() platform { return platform{runtime.GOOS, runtime.GOARCH} }

// environment of a person with folder on PATH, and nothing at home.
func environment(t *testing.T, folder string, more ...string) icmd.CmdOp {
	t.Helper()
	return icmd.WithEnv(append([]string{"HOME=" + t.TempDir(), "PATH=" + folder + ":/usr/bin:/bin"}, more...)...)
}

// unpacked is a folder with the files of the archive of a binary.
func (s snapshot) unpacked(t *testing.T, binary string) string {
	t.Helper()
	folder := t.TempDir()
	for name, data := range unpack(t, filepath.Join(s.folder, s.archive(binary, here()))) {
		assert.NilError(t, os.WriteFile(filepath.Join(folder, name), data, 0o755))
	}
	return folder
}

// runs says that an installed binary is the one of the snapshot.
func (s snapshot) runs(t *testing.T, file string) {
	t.Helper()
	result := icmd.RunCmd(icmd.Command(file, "version", "-o", "json"), environment(t, filepath.Dir(file)))
	result.Assert(t, icmd.Success)
	document := struct{ Kind, Version, Revision string }{}
	assert.NilError(t, json.Unmarshal([]byte(result.Stdout()), &document))
	assert.Equal(t, document.Kind, "Version")
	assert.Equal(t, document.Revision, s.Commit)
	assert.Assert(t, strings.HasPrefix(document.Version, "v"), document.Version)
}

func TestAnUnpackedBinaryRunsAndKnowsItsCommit(t *testing.T) {
	s := open(t)
	for _, binary := range binaries() {
		s.runs(t, filepath.Join(s.unpacked(t, binary), binary))
	}
}

func TestAnUnpackedBinaryPrintsWhatShellsCompleteBy(t *testing.T) {
	s := open(t)
	for _, binary := range binaries() {
		folder := s.unpacked(t, binary)
		for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
			icmd.RunCmd(icmd.Command(filepath.Join(folder, binary), "completion", shell), environment(t, folder)).
				Assert(t, icmd.Expected{Out: "__complete"})
		}
	}
}

func TestKubectlCompletesByTheScriptOfTheArchive(t *testing.T) {
	folder := open(t).unpacked(t, "kubectl-changeward")
	script := filepath.Join(folder, "kubectl_complete-changeward")
	icmd.RunCmd(icmd.Command(script, "appr"), environment(t, folder)).Assert(t, icmd.Expected{Out: "approve\t"})
	printed := icmd.RunCmd(icmd.Command(filepath.Join(folder, "kubectl-changeward"), "completion", "kubectl"), environment(t, folder))
	printed.Assert(t, icmd.Success)
	packed, err := os.ReadFile(script)
	assert.NilError(t, err)
	assert.Equal(t, printed.Stdout(), string(packed))
}

// The compiler's cache is shared with the first build, so this proves names,
// flags and linking.
func TestABuildInAnotherFolderGivesTheSameBytes(t *testing.T) {
	s := open(t)
	checkout := filepath.Join(t.TempDir(), "elsewhere")
	icmd.RunCommand("git", "clone", "--quiet", absolute(t, "../.."), checkout).Assert(t, icmd.Success)
	icmd.RunCommand("git", "-C", checkout, "checkout", "--quiet", s.Commit).Assert(t, icmd.Success)
	for _, binary := range binaries() {
		out := filepath.Join(t.TempDir(), binary)
		build := icmd.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", out, "./"+binary)
		build.Dir = checkout
		icmd.RunCmd(build, icmd.WithEnv(append(os.Environ(), "CGO_ENABLED=0")...)).Assert(t, icmd.Success)
		again, err := os.ReadFile(out)
		assert.NilError(t, err)
		first := unpack(t, filepath.Join(s.folder, s.archive(binary, here())))[binary]
		assert.Assert(t, string(first) == string(again), binary)
	}
}
