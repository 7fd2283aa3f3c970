package release

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	"sigs.k8s.io/yaml"
)

// fill makes a manifest of a template for this snapshot, with the functions that
// krew's release bot has, and sha256 for Flux's entry. Every file that the
// template names must be there.
func (s snapshot) fill(t *testing.T, file string) []byte {
	t.Helper()
	release := struct{ TagName string }{"v" + s.Version}
	execute := func(parsed *template.Template) []byte {
		var out bytes.Buffer
		assert.NilError(t, parsed.Execute(&out, release))
		return out.Bytes()
	}
	functions := template.FuncMap{
		"sha256": func(name string) string { return s.digest(t, name) },
		"addURIAndSha": func(address, _ string) string {
			address = string(execute(template.Must(template.New("").Parse(address))))
			return "uri: " + address + "\n    sha256: " + s.digest(t, path.Base(address))
		},
	}
	parsed, err := template.New(filepath.Base(file)).Funcs(functions).ParseFiles(file)
	assert.NilError(t, err)
	return execute(parsed)
}

func TestKrewInstallsFromItsTemplateAndAnArchive(t *testing.T) {
	s := open(t)
	manifest, root := filepath.Join(t.TempDir(), "changeward.yaml"), t.TempDir()
	assert.NilError(t, os.WriteFile(manifest, s.fill(t, "../../krew/changeward.yaml"), 0o600))
	krew := func(args ...string) *icmd.Result {
		return icmd.RunCmd(icmd.Command(absolute(t, "../../bin/krew"), args...),
			environment(t, filepath.Join(root, "bin"), "KREW_ROOT="+root, "KREW_NO_UPGRADE_CHECK=1"))
	}
	archive := filepath.Join(s.folder, s.archive("kubectl-changeward", here()))
	krew("install", "--manifest", manifest, "--archive", archive).Assert(t, icmd.Success)
	s.runs(t, filepath.Join(root, "bin", "kubectl-changeward"))
}

// krewPlatform is what krew asks of a platform of a manifest.
type krewPlatform struct {
	Selector    struct{ MatchLabels struct{ OS, Arch string } }
	Bin         string
	URI, SHA256 string
}

func TestTheKrewManifestNamesEveryArchive(t *testing.T) {
	s := open(t)
	manifest := struct {
		Spec struct{ Platforms []krewPlatform }
	}{}
	assert.NilError(t, yaml.Unmarshal(s.fill(t, "../../krew/changeward.yaml"), &manifest))
	assert.Equal(t, len(manifest.Spec.Platforms), len(platforms()))
	for i, p := range platforms() {
		entry := manifest.Spec.Platforms[i]
		assert.Equal(t, platform{entry.Selector.MatchLabels.OS, entry.Selector.MatchLabels.Arch}, p)
		assert.Equal(t, path.Base(entry.URI), s.archive("kubectl-changeward", p))
		assert.Equal(t, entry.Bin, p.executable("kubectl-changeward"))
	}
}

// catalogueEntry has the fields that Flux's plugin catalogue allows; each is
// required.
type catalogueEntry struct {
	APIVersion  string `json:"apiVersion"`
	Kind        string `json:"kind"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Homepage    string `json:"homepage"`
	Source      string `json:"source"`
	Bin         string `json:"bin"`
	Versions    []struct {
		Version   string              `json:"version"`
		Platforms []cataloguePlatform `json:"platforms"`
	} `json:"versions"`
}

type cataloguePlatform struct {
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	URL      string `json:"url"`
	Checksum string `json:"checksum"`
}

func TestTheFluxCatalogueEntryFillsAPluginFolder(t *testing.T) {
	s := open(t)
	var entry catalogueEntry
	assert.NilError(t, yaml.UnmarshalStrict(s.fill(t, "../../krew/flux-plugin.yaml"), &entry))
	assert.Equal(t, entry.APIVersion+" "+entry.Kind, "cli.fluxcd.io/v1beta1 Plugin")
	assert.Equal(t, entry.Bin, "flux-"+entry.Name) // or `flux changeward` would not be found
	assert.Equal(t, len(entry.Versions), 1)
	assert.Equal(t, entry.Versions[0].Version, s.Version)
	assert.Equal(t, len(entry.Versions[0].Platforms), len(platforms()))

	server := httptest.NewServer(http.FileServer(http.Dir(s.folder)))
	defer server.Close()
	plugins := t.TempDir()
	for _, p := range entry.Versions[0].Platforms {
		at := platform{p.OS, p.Arch}
		assert.Assert(t, strings.HasSuffix(p.URL, "/v"+s.Version+"/"+s.archive("flux-changeward", at)), p.URL)
		assert.Equal(t, p.Checksum, "sha256:"+s.digest(t, path.Base(p.URL)))
		if at == here() {
			file := filepath.Join(plugins, path.Base(p.URL))
			icmd.RunCommand("curl", "-fsS", "-o", file, server.URL+"/"+path.Base(p.URL)).Assert(t, icmd.Success)
			binary := unpack(t, file)[entry.Bin]
			assert.NilError(t, os.WriteFile(filepath.Join(plugins, entry.Bin), binary, 0o755))
		}
	}
	s.runs(t, filepath.Join(plugins, entry.Bin))
}
