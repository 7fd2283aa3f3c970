package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/manifest/files"
)

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

// load answers objects and problems as lines, without the folder's name.
func load(dir string, options files.Options) (objects, problems []string) {
	for i, name := range options.Filenames {
		if name != "-" && !strings.Contains(name, "://") {
			options.Filenames[i] = filepath.Join(dir, name)
		}
	}
	found, wrong := files.Load(options)
	for _, object := range found {
		objects = append(objects, strings.ReplaceAll(object.Source.String(), dir, "")+" "+object.Name())
	}
	for _, problem := range wrong {
		problems = append(problems, problem.Reason+" "+strings.ReplaceAll(problem.Error(), dir, ""))
	}
	return objects, problems
}

func tree(t *testing.T) string {
	return fs.NewDir(t, "manifests",
		fs.WithFile("b.yaml", configMap("b")+"---\n"+configMap("b2")),
		fs.WithFile("a.yml", configMap("a")),
		fs.WithFile("c.json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`),
		fs.WithFile("notes.txt", "not: [a manifest"),
		fs.WithFile("odd.manifest", configMap("odd")),
		fs.WithFile("empty.yaml", "# nothing\n"),
		fs.WithDir("sub", fs.WithFile("d.yaml", configMap("d")), fs.WithDir("deeper", fs.WithFile("e.yaml", configMap("e")))),
		fs.WithDir("none", fs.WithFile("x.bak", "")),
		fs.WithSymlink("link.yaml", "sub/d.yaml"),
		fs.WithSymlink("loop", "."),
	).Path()
}

func TestDirectoriesAreReadAsKubectlReadsThem(t *testing.T) {
	dir := tree(t)
	objects, problems := load(dir, files.Options{Filenames: []string{"."}})
	assert.Equal(t, len(problems), 0, "%v", problems)
	assert.DeepEqual(t, objects, []string{"/a.yml:1 a", "/b.yaml:1 b", "/b.yaml:5 b2", "/c.json:1 c", "/link.yaml:1 d"})

	objects, problems = load(dir, files.Options{Filenames: []string{"."}, Recursive: true})
	assert.Equal(t, len(problems), 0, "%v", problems)
	assert.DeepEqual(t, objects, []string{"/a.yml:1 a", "/b.yaml:1 b", "/b.yaml:5 b2", "/c.json:1 c", "/link.yaml:1 d", "/sub/deeper/e.yaml:1 e"})
}

func TestNamedFilesAreReadInTheirOrderAndOnce(t *testing.T) {
	dir := tree(t)
	objects, problems := load(dir, files.Options{Filenames: []string{"odd.manifest", "a.yml", "-", "*.json", "a.yml", "-", "loop/a.yml"},
		Stdin: strings.NewReader(configMap("in"))})
	assert.Equal(t, len(problems), 0, "%v", problems)
	assert.DeepEqual(t, objects, []string{"/odd.manifest:1 odd", "/a.yml:1 a", "-:1 in", "/c.json:1 c"})
}

func TestALinkedDirectoryMayBeNamed(t *testing.T) {
	dir := fs.NewDir(t, "links", fs.WithDir("real", fs.WithFile("a.yaml", configMap("a"))), fs.WithSymlink("link", "real")).Path()
	objects, problems := load(dir, files.Options{Filenames: []string{"link"}})
	assert.Equal(t, len(problems), 0, "%v", problems)
	assert.DeepEqual(t, objects, []string{"/link/a.yaml:1 a"})
}

func TestEveryInputThatCannotBeReadIsNamed(t *testing.T) {
	dir := tree(t)
	outside := fs.NewDir(t, "outside", fs.WithFile("x.yaml", configMap("x"))).Path()
	assert.NilError(t, os.Symlink(outside, filepath.Join(dir, "sub", "away")))
	assert.NilError(t, os.Symlink("gone.yaml", filepath.Join(dir, "sub", "broken.yaml")))
	objects, problems := load(dir, files.Options{Recursive: true, Filenames: []string{"missing.yaml", "none", "no*.match", "https://example.com/x.yaml", "sub", "-", "a.yml"}})
	assert.DeepEqual(t, objects, []string{"/sub/d.yaml:1 d", "/sub/deeper/e.yaml:1 e", "/a.yml:1 a"})
	assert.DeepEqual(t, problems, []string{
		"Unreadable /missing.yaml: no such file or directory, and no file matches it",
		"NoFiles /none: no .yaml, .yml or .json file in this directory",
		"Unreadable /no*.match: no such file or directory, and no file matches it",
		"Remote https://example.com/x.yaml: URLs are not read: what they answer can change between plan and apply",
		"Unreadable /sub/away: is a link to a directory, which is not followed; name it with -f",
		"Unreadable /sub/broken.yaml: stat: no such file or directory",
		"Unreadable -: there is no standard input",
	})
}

func TestADirectoryOfDirectoriesSaysHowTheyAreRead(t *testing.T) {
	dir := fs.NewDir(t, "nested", fs.WithDir("apps", fs.WithDir("shop", fs.WithFile("a.yaml", configMap("a"))))).Path()
	_, problems := load(dir, files.Options{Filenames: []string{"apps"}})
	assert.DeepEqual(t, problems, []string{"NoFiles /apps: no .yaml, .yml or .json file in this directory, and directories below it are read with -R only"})
}

func TestAPipeIsReadWhereItIsNamedAndNotFoundInADirectory(t *testing.T) {
	dir := fs.NewDir(t, "pipe", fs.WithFile("a.yaml", configMap("a"))).Path()
	pipe := filepath.Join(dir, "pipe.yaml")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	_, problems := load(dir, files.Options{Filenames: []string{"."}})
	assert.DeepEqual(t, problems, []string{"Unreadable /pipe.yaml: is no regular file"})

	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte(configMap("piped")), 0) }()
	objects, problems := load(dir, files.Options{Filenames: []string{"pipe.yaml"}})
	assert.NilError(t, <-written)
	assert.Equal(t, len(problems), 0)
	assert.DeepEqual(t, objects, []string{"/pipe.yaml:1 piped"})
}

func TestABrokenStreamIsAProblem(t *testing.T) {
	_, problems := load("", files.Options{Filenames: []string{"-"}, Stdin: iotest.ErrReader(errors.New("pipe broke"))})
	assert.DeepEqual(t, problems, []string{"Unreadable -: pipe broke"})
}

func TestAnInputWithoutAnyObjectIsAProblem(t *testing.T) {
	dir := tree(t)
	_, problems := load(dir, files.Options{Filenames: []string{"empty.yaml"}})
	assert.DeepEqual(t, problems, []string{"NoObjects /empty.yaml: no objects in input"})
	_, problems = load(dir, files.Options{Filenames: []string{"-"}, Stdin: strings.NewReader("")})
	assert.DeepEqual(t, problems, []string{"NoObjects -: no objects in input"})
	_, problems = load(dir, files.Options{})
	assert.DeepEqual(t, problems, []string{"Usage manifests: no input named"})
	_, problems = load("", files.Options{Filenames: []string{"../../../testdata/cases/B55-empty-input.yaml"}})
	assert.DeepEqual(t, problems, []string{"NoObjects ../../../testdata/cases/B55-empty-input.yaml: no objects in input"})
}

func TestAHugeFileIsRefusedClearly(t *testing.T) {
	dir := fs.NewDir(t, "huge", fs.WithFile("huge.yaml", "")).Path()
	assert.NilError(t, os.Truncate(filepath.Join(dir, "huge.yaml"), manifest.MaxBytes+1))
	_, problems := load(dir, files.Options{Filenames: []string{"huge.yaml"}})
	assert.DeepEqual(t, problems, []string{"TooLarge /huge.yaml: larger than 64 MiB"})
}

func TestAKustomizationIsBuiltAsKubectlBuildsIt(t *testing.T) {
	dir := fs.NewDir(t, "kustomize",
		fs.WithFile("outside.yaml", configMap("outside")),
		fs.WithDir("base",
			fs.WithFile("kustomization.yaml", "namePrefix: my-\nnamespace: shop\nresources: [a.yaml]\nconfigMapGenerator:\n- name: gen\n  literals: [k=v]\n"),
			fs.WithFile("a.yaml", configMap("a")+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")),
		fs.WithDir("bad", fs.WithFile("kustomization.yaml", "resources: [../outside.yaml]\n")),
		fs.WithDir("leak", fs.WithFile("kustomization.yaml", "secretGenerator:\n- name: s\n  literals: [hunter2]\n")),
	).Path()
	objects, problems := load(dir, files.Options{Kustomize: filepath.Join(dir, "base")})
	assert.Equal(t, len(problems), 0, "%v", problems)
	assert.DeepEqual(t, objects, []string{"/base shop", "/base my-a", "/base my-gen-bdg947hgcc"})

	for _, c := range []struct{ dir, want string }{
		{"bad", "Kustomize /bad: accumulating resources: accumulation err='accumulating resources from '../outside.yaml': security;"},
		{"leak", "Kustomize /leak: loading KV pairs: literal source (the rest may repeat values and is withheld)"},
		{"gone", "Unreadable /gone: a kustomization must be a local directory: stat: no such file or directory"},
	} {
		_, problems = load(dir, files.Options{Kustomize: filepath.Join(dir, c.dir)})
		assert.Equal(t, len(problems), 1)
		assert.Assert(t, strings.HasPrefix(problems[0], c.want), problems[0])
		assert.Assert(t, !strings.Contains(problems[0], "hunter2"), problems[0])
	}
	_, problems = load(dir, files.Options{Filenames: []string{"base"}})
	assert.DeepEqual(t, problems, []string{"Kustomize /base/kustomization.yaml: is a kustomization, no manifest: build it with -k /base"})
	_, problems = load(dir, files.Options{Filenames: []string{"base"}, Kustomize: "x"})
	assert.DeepEqual(t, problems, []string{"Usage x: -k takes neither -f nor -R"})
}
