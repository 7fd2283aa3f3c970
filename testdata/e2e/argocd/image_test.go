package argocd_test

import (
	"debug/elf"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/testdata/e2e/parts/kubelet"
)

func TestTheImageHoldsAStaticBinaryAndCertificatesAndNothingElse(t *testing.T) {
	built := kubelet.Build(t, filepath.Join("..", "..", "..", "Dockerfile"))
	var files []string
	assert.NilError(t, fs.WalkDir(os.DirFS(built.Root), ".", func(path string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	assert.DeepEqual(t, files, []string{"etc/ssl/certs/ca-certificates.crt", "kubectl-changeward"})
	assert.Equal(t, built.User, int64(65532))
	assert.DeepEqual(t, built.Entrypoint, []string{"/kubectl-changeward"})
	binary, err := elf.Open(filepath.Join(built.Root, "kubectl-changeward"))
	assert.NilError(t, err)
	defer binary.Close()
	interpreted := slices.ContainsFunc(binary.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	assert.Assert(t, !interpreted, "it needs a dynamic linker, which the image lacks")
	authorities, err := os.ReadFile(filepath.Join(built.Root, "etc", "ssl", "certs", "ca-certificates.crt"))
	assert.NilError(t, err)
	assert.Assert(t, strings.Count(string(authorities), "BEGIN CERTIFICATE") > 50)
}
