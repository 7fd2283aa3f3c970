package build_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	fluxtar "github.com/fluxcd/pkg/tar"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/gitops/flux/build"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// cluster is what a build reads, by the text of it.
type cluster struct {
	source   string
	data     map[string]map[string]string // by kind/name
	artifact []byte
}

func (c cluster) Read(context.Context, manifest.Key) (map[string]any, *plan.Failure) {
	if c.source == "" {
		return nil, &plan.Failure{Reason: plan.ReasonNotFound}
	}
	var out map[string]any
	if err := yaml.Unmarshal([]byte(c.source), &out); err != nil {
		panic(err)
	}
	return out, nil
}

func (c cluster) Data(_ context.Context, kind, _, name string) (map[string]string, error) {
	if data, there := c.data[kind+"/"+name]; there {
		return data, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind}, name)
}

func (c cluster) Fetch(context.Context, string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(string(c.artifact))), nil
}

func spec(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	assert.NilError(t, yaml.Unmarshal([]byte("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n"+
		"spec:\n  interval: 1h\n  prune: true\n  path: ./apps\n  sourceRef: {kind: GitRepository, name: repository}\n  "+strings.ReplaceAll(text, "\n", "\n  ")), &out))
	return out
}

const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: "

// built builds a checkout of files.
func built(t *testing.T, c cluster, text string, files map[string]string) (*build.Result, string, error) {
	t.Helper()
	if c.source == "" {
		c.source = "spec: {}"
	}
	dir := fs.NewDir(t, "checkout").Path()
	for name, content := range files {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	result, err := build.Run(t.Context(), c, build.Request{Kustomization: spec(t, text), Checkout: dir})
	return result, dir, err
}

func TestValuesOfSecretsThatAreSubstitutedAreHiddenWhereverTheyGo(t *testing.T) {
	c := cluster{data: map[string]map[string]string{"Secret/vars": {"password": "hunter2"}, "ConfigMap/vars": {"host": "db"}}}
	result, _, err := built(t, c, "postBuild:\n  substituteFrom: [{kind: Secret, name: vars}, {kind: ConfigMap, name: vars}]", map[string]string{
		"apps/a.yaml": settings + `{url: "postgres://u:${password}@${host}", host: "${host}", list: "x"}` + "\n",
		"apps/b.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {template: {spec: {containers: [{name: c, env: [{name: P, value: \"${password}\"}]}]}}}\n"})
	assert.NilError(t, err)
	assert.DeepEqual(t, result.Hidden[manifest.Key{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}], [][]string{{"data", "url"}})
	key := manifest.Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	assert.DeepEqual(t, result.Hidden[key], [][]string{{"spec", "template", "spec", "containers", "*", "env", "*", "value"}})
	masker := manifest.NewMasker([]byte("key"), "uid", false)
	masker.Hidden = result.Hidden
	for _, object := range result.Objects {
		assert.Assert(t, strings.Contains(fmt.Sprint(object.Content), "hunter2"))
		assert.Assert(t, !strings.Contains(fmt.Sprint(masker.Hide(object.Key(), object.Content)), "hunter2"))
	}
	assert.Equal(t, result.Redact("value hunter2 is wrong"), "value (masked) is wrong")
}

func TestWhatIsEncryptedStaysSoAndIsMarked(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\nstringData: {password: \"ENC[AES256_GCM,data:abc]\"}\nsops: {mac: x}\n"
	result, _, err := built(t, cluster{}, "decryption: {provider: sops}", map[string]string{"apps/a.yaml": secret, "apps/b.yaml": settings + "{a: b}\n"})
	assert.NilError(t, err)
	at := slices.IndexFunc(result.Objects, func(o manifest.Object) bool { return o.Kind() == "Secret" })
	assert.Assert(t, strings.Contains(result.Objects[at].Sealed, "only Flux can decrypt it"))
	assert.DeepEqual(t, result.Objects[at].Content["data"], map[string]any{"password": base64.StdEncoding.EncodeToString([]byte("ENC[AES256_GCM,data:abc]"))})
	assert.Equal(t, result.Objects[1-at].Sealed, "")
	generated := map[string]string{"apps/kustomization.yaml": "secretGenerator: [{name: db, namespace: shop, files: [x.json]}]\n", "apps/x.json": `{"a":"ENC[x]","sops":{}}`}
	_, _, err = built(t, cluster{}, "decryption: {provider: sops}", generated)
	assert.ErrorContains(t, err, "the end of its name follows from values that only Flux can decrypt")
	plain := strings.Replace(generated["apps/kustomization.yaml"], "secretGenerator", "generatorOptions: {disableNameSuffixHash: true}\nsecretGenerator", 1)
	result, _, err = built(t, cluster{}, "decryption: {provider: sops}", map[string]string{"apps/kustomization.yaml": plain, "apps/x.json": generated["apps/x.json"]})
	assert.NilError(t, err)
	assert.Assert(t, result.Objects[0].Sealed != "")
}

func TestACheckoutIsLeftAsItIs(t *testing.T) {
	_, dir, err := built(t, cluster{}, "targetNamespace: shop", map[string]string{"apps/a.yaml": settings + "{a: b}\n"})
	assert.NilError(t, err)
	entries, err := os.ReadDir(filepath.Join(dir, "apps"))
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 1)
}

func TestWhatCannotBeBuiltIsNamedByFileAndLine(t *testing.T) {
	for name, c := range map[string]struct {
		cluster  cluster
		spec     string
		file     string
		want     string
		problems int
	}{
		"broken YAML":          {file: settings + "\n  a: \"1\n  b: 2\n", want: "apps/a.yaml:", problems: 1},
		"path":                 {spec: "path: ./nowhere", want: `spec.path "./nowhere" does not exist in `},
		"variable":             {spec: "postBuild: {substitute: {a: b}}", file: settings + "{a: \"${c}\"}\n", want: `variable not set (strict mode): "c"`},
		"reference":            {spec: "postBuild: {substituteFrom: [{kind: Secret, name: vars}]}", file: settings + "{a: b}\n", want: "Secret flux-system/vars of spec.postBuild.substituteFrom does not exist, and is not optional"},
		"component":            {spec: "components: [../gone]", file: settings + "{a: b}\n", want: "gone"},
		"component far away":   {spec: "components: [\"https://example.com/x\"]", file: settings + "{a: b}\n", want: "must be local and relative"},
		"source that includes": {cluster: cluster{source: "spec: {include: [{repository: {name: x}}]}"}, file: settings + "{a: b}\n", want: "includes other sources"},
	} {
		t.Run(name, func(t *testing.T) {
			text := cmp.Or(c.spec, "targetNamespace: shop")
			_, _, err := built(t, c.cluster, strings.Replace(text, "path:", "wait: true\npath:", 1), map[string]string{"apps/a.yaml": cmp.Or(c.file, settings+"{a: b}\n")})
			var failed *build.Error
			assert.Assert(t, errors.As(err, &failed), "%v", err)
			assert.Assert(t, strings.Contains(failed.Message, c.want), failed.Message)
			assert.Equal(t, len(failed.Problems) > 0, c.problems > 0 || name == "component" || name == "component far away", failed.Message)
		})
	}
}

func TestAnArtifactIsBuiltOnlyIfItIsTheOneThatTheClusterVouchesFor(t *testing.T) {
	dir := fs.NewDir(t, "source", fs.WithDir("apps", fs.WithFile("a.yaml", settings+"{a: b}\n"))).Path()
	var packed strings.Builder
	_, err := fluxtar.Tar(dir, &packed)
	assert.NilError(t, err)
	data := []byte(packed.String())
	status := func(digest, ready string) string {
		return fmt.Sprintf("status: {artifact: {digest: %q, url: \"http://x/y\", path: p, revision: \"main@sha1:0123456789abcdef0123456789abcdef01234567\", lastUpdateTime: \"2026-01-01T00:00:00Z\"}, "+
			"conditions: [{type: Ready, status: %q, reason: Why, message: because, lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}", digest, ready)
	}
	good := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	for name, c := range map[string]struct{ source, revision, want string }{
		"any revision":       {status(good, "True"), "", ""},
		"the commit":         {status(good, "True"), "0123456", ""},
		"in full":            {status(good, "True"), "main@sha1:0123456789abcdef0123456789abcdef01234567", ""},
		"another commit":     {status(good, "True"), "fedcba9", "is at main@sha1:0123456789abcdef0123456789abcdef01234567, not at fedcba9"},
		"another digest":     {status("sha256:00", "True"), "", "it was changed, or replaced a moment ago"},
		"an unknown digest":  {status("blake3:00", "True"), "", "cannot be checked"},
		"no artifact":        {"status: {conditions: [{type: Ready, status: \"False\", reason: GitOperationFailed, message: no such host, lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}", "", "has no artifact: GitOperationFailed: no such host"},
		"nobody looked":      {"spec: {}", "", "source-controller has not looked at it yet"},
		"stale but there":    {status(good, "False"), "", ""},
		"no source whatever": {"", "", "its source gitrepository/flux-system/repository does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := build.Run(t.Context(), cluster{source: c.source, artifact: data}, build.Request{Kustomization: spec(t, "wait: true"), Revision: c.revision})
			if c.want != "" {
				assert.ErrorContains(t, err, c.want)
				return
			}
			assert.NilError(t, err)
			assert.Equal(t, result.Objects[0].Source.String(), "apps")
			assert.Equal(t, len(result.Notes) > 0, name == "stale but there")
		})
	}
}
