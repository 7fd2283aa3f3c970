package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// binaries are those that a release holds.
func binaries() []string { return []string{"kubectl-changeward", "flux-changeward"} }

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func platforms() []platform {
	var all []platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		all = append(all, platform{system, "amd64"}, platform{system, "arm64"})
	}
	return all
}

// executable is the name of a binary on the platform.
func (p platform) executable(binary string) string {
	if p.os == "windows" {
		return binary + ".exe"
	}
	return binary
}

// snapshot is a folder that goreleaser packed.
type snapshot struct {
	folder          string
	Version, Commit string
}

func open(t *testing.T) snapshot {
	t.Helper()
	s := snapshot{folder: absolute(t, "../../bin/snapshot")}
	data, err := os.ReadFile(filepath.Join(s.folder, "metadata.json"))
	assert.NilError(t, err, "run `make snapshot` first")
	assert.NilError(t, json.Unmarshal(data, &s))
	return s
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	assert.NilError(t, err)
	return path
}

// archive is the name of one.
func (s snapshot) archive(binary string, p platform) string {
	extension := ".tar.gz"
	if p.os == "windows" {
		extension = ".zip"
	}
	return binary + "_" + s.Version + "_" + p.os + "_" + p.arch + extension
}

// digest is the SHA-256 of a file of the snapshot, in hex.
func (s snapshot) digest(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.folder, name))
	assert.NilError(t, err)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// unpack is the content of an archive, by name.
func unpack(t *testing.T, file string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	if strings.HasSuffix(file, ".zip") {
		return unzip(t, data)
	}
	return untar(t, data)
}

func unzip(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	assert.NilError(t, err)
	for _, entry := range archive.File {
		reader, err := entry.Open()
		assert.NilError(t, err)
		files[entry.Name], err = io.ReadAll(reader)
		assert.NilError(t, err)
	}
	return files
}

func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	plain, err := gzip.NewReader(bytes.NewReader(data))
	assert.NilError(t, err)
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return files
		}
		assert.NilError(t, err)
		assert.Equal(t, header.Uname, "root", header.Name)
		files[header.Name], err = io.ReadAll(archive)
		assert.NilError(t, err)
	}
}

func TestEveryPlatformHasItsArchivesWithTheLicence(t *testing.T) {
	s := open(t)
	licence, err := os.ReadFile("../../LICENSE")
	assert.NilError(t, err)
	for _, p := range platforms() {
		for _, binary := range binaries() {
			files := unpack(t, filepath.Join(s.folder, s.archive(binary, p)))
			assert.Equal(t, string(files["LICENSE"]), string(licence))
			assert.Assert(t, len(files[p.executable(binary)]) > 1<<20, p)
			if binary == "kubectl-changeward" {
				assert.Assert(t, len(files["kubectl_complete-changeward"]) > 0, p)
			}
		}
	}
}

func TestTheChecksumsOfABinaryNameItsArchives(t *testing.T) {
	s := open(t)
	for _, binary := range binaries() {
		data, err := os.ReadFile(filepath.Join(s.folder, binary+"_"+s.Version+"_checksums.txt"))
		assert.NilError(t, err)
		for _, p := range platforms() {
			name := s.archive(binary, p)
			assert.Assert(t, strings.Contains("\n"+string(data), "\n"+s.digest(t, name)+"  "+name+"\n"), name)
		}
	}
}

func TestEveryBinaryHasABillOfMaterials(t *testing.T) {
	s := open(t)
	for _, p := range platforms() {
		for _, binary := range binaries() {
			data, err := os.ReadFile(filepath.Join(s.folder, binary+"_"+s.Version+"_"+p.os+"_"+p.arch+".cdx.json"))
			assert.NilError(t, err)
			bill := struct {
				BOMFormat  string
				Components []struct{ Name, Version string }
			}{}
			assert.NilError(t, json.Unmarshal(data, &bill))
			assert.Equal(t, bill.BOMFormat, "CycloneDX")
			names := ""
			for _, component := range bill.Components {
				names += component.Name + "\n"
			}
			assert.Assert(t, strings.Contains(names, "k8s.io/client-go\n"), binary)
		}
	}
}
