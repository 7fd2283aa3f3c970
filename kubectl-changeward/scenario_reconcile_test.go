package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// deployment is a workload of the shop.
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2 # the usual
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "example.com/web:1"}
`

// repository is a folder of manifests as Git has them.
func (s shop) repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(s.yaml(text)), 0o600))
	}
	return dir
}

// file is the text of a file, with NS for the shop's namespace.
func (s shop) file(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	assert.NilError(t, err)
	return strings.ReplaceAll(string(data), s.namespace, "NS")
}

// develops lets people of group dev write workloads.
func (s shop) develops(t *testing.T) {
	t.Helper()
	roles := s.Client(kubetest.Admin).RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "workloads"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"apps"},
		Resources: []string{"deployments"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}}}}
	_, err := roles.Roles(s.namespace).Create(t.Context(), role, metav1.CreateOptions{})
	assert.NilError(t, err)
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "workloads"}, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "workloads"},
		Subjects: []rbacv1.Subject{{Kind: "Group", Name: "dev"}}}
	_, err = roles.RoleBindings(s.namespace).Create(t.Context(), binding, metav1.CreateOptions{})
	assert.NilError(t, err)
}

// changed changes the cluster directly, as bob with alice's approval, to what
// the text says, and answers the change's id.
func (s shop) changed(t *testing.T, text string) string {
	t.Helper()
	s.write(t, "shop.yaml", text)
	result := s.as("bob").run(t, "gate", "-f", s.dir, "--direct", "--target", clusterName, "-o", "json")
	var gated render.GateResult
	result.json(t, &gated)
	if result.code == 2 {
		s.as("alice").run(t, "approve", gated.Change.ID, "--yes", "--confirm", gated.Plan.Hash[len(gated.Plan.Hash)-4:]).exits(t, 0)
	}
	s.as("bob").run(t, "apply", "-f", s.dir, "--target", clusterName, "--no-wait", gated.Change.ID).exits(t, 0)
	return gated.Change.ID
}

// reconciles edits the files of a directory, without Git.
func (s shop) reconciles(t *testing.T, dir, id string, more ...string) answer {
	t.Helper()
	return s.as("bob").run(t, append([]string{"reconcile", "--k8s-dir", dir, "--change", id, "--no-commit"}, more...)...)
}

func TestADirectChangeIsBroughtToItsManifestAndOnlyItsLineDiffers(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	before := "# the shop\n" + s.config("false") + "---\n" + strings.Replace(s.config("false"), "shop-config", "other", 1)
	dir := s.repository(t, map[string]string{"shop.yaml": before})
	id := s.changed(t, s.config("true"))
	s.reconciles(t, dir, id, "--dry-run").exits(t, 0).prints(t, "~ shop.yaml (edit)\n", "ConfigMap/shop-config data.feature_new_cart, in the manifest\n", "1 file to write")
	assert.Equal(t, s.file(t, dir, "shop.yaml"), strings.ReplaceAll(before, s.namespace, "NS"))

	var result render.ReconcileResult
	s.reconciles(t, dir, id, "-o", "json").exits(t, 0).json(t, &result)
	assert.Equal(t, result.Changes[0].ID, id)
	assert.Assert(t, result.Written)
	assert.DeepEqual(t, result.Files, []render.ReconciledFile{{Path: "shop.yaml", Action: "edit"}})
	assert.Equal(t, s.file(t, dir, "shop.yaml"), strings.ReplaceAll(strings.Replace(before, `"false"`, `"true"`, 1), s.namespace, "NS"))
	s.reconciles(t, dir, id).exits(t, 0).prints(t, "Git has it already", "nothing is left to edit")

	s.apply(t, "changeward", s.config("false")) // somebody goes back
	s.reconciles(t, dir, id).exits(t, 0).prints(t, "the cluster no longer has it so; left alone")
}

func TestTheChangesOfADirectorysScopeAreBroughtThere(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.changed(t, s.config("true"))
	dir := s.repository(t, map[string]string{"shop.yaml": s.config("false")})
	s.as("bob").run(t, "reconcile", "--k8s-dir", dir, "--no-commit").exits(t, 0).prints(t, "no direct change of this scope is waiting for Git")
	s.as("bob").run(t, "reconcile", "--k8s-dir", dir, "--scope", s.dir, "--no-commit").exits(t, 0).prints(t, "~ shop.yaml (edit)", "1 file written")
}

func TestADirectChangeIsBroughtToTheOverlayAndNeverToItsBase(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.develops(t)
	live := strings.Replace(deployment, "{name: web}", "{name: web, namespace: NS}", 1)
	s.apply(t, "changeward", live)
	id := s.changed(t, strings.NewReplacer("web:1", "web:2", "replicas: 2", "replicas: 5").Replace(live))
	base := map[string]string{"base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": deployment}
	for name, c := range map[string]struct{ kustomization, patch, after, patched string }{
		"its own entry and patch": {"images:\n- {name: example.com/web, newTag: \"1\"} # by CI\npatches:\n- path: p.yaml\n", "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: web}\nspec: {replicas: 2} # peak\n",
			"images:\n- {name: example.com/web, newTag: \"2\"} # by CI\npatches:\n- path: p.yaml\n", "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: web}\nspec: {replicas: 5} # peak\n"},
		"a new patch": {"", "", "patches:\n- path: patch-deployment-web.yaml\n", ""},
	} {
		head := "# production\nresources: [../base]\nnamespace: NS\n"
		files := map[string]string{"prod/kustomization.yaml": head + c.kustomization}
		for path, text := range base {
			files[path] = text
		}
		if c.patch != "" {
			files["prod/p.yaml"] = c.patch
		}
		dir := s.repository(t, files)
		got := s.reconciles(t, filepath.Join(dir, "prod"), id).exits(t, 0)
		assert.Equal(t, s.file(t, dir, "prod", "kustomization.yaml"), head+c.after, "%s\n%s", name, got)
		if c.patch != "" {
			assert.Equal(t, s.file(t, dir, "prod", "p.yaml"), c.patched)
		}
		assert.Equal(t, s.file(t, dir, "base", "web.yaml"), deployment)
		s.as("bob").run(t, "plan", "-k", filepath.Join(dir, "prod"), "--applier", "changeward").exits(t, 0).prints(t, "· 0 objects ·")
	}
}

func TestWhatWasCreatedDirectlyGetsAManifest(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	banner := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: banner\n  namespace: NS\ndata:\n  \"on\": \"yes\"\n"
	created := s.changed(t, banner)
	dir := s.repository(t, map[string]string{"shop.yaml": s.config("false")})
	s.reconciles(t, dir, created).exits(t, 0).prints(t, "+ configmap-banner.yaml (create)")
	assert.Equal(t, s.file(t, dir, "configmap-banner.yaml"), banner)
	s.as("bob").run(t, "plan", "-f", dir, "--applier", "changeward").exits(t, 0).prints(t, "· 0 objects ·")
}

func TestWhatCannotBeBroughtToGitIsRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	secret := "\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: NS}\nstringData: {k: marker-"
	s.apply(t, "changeward", s.config("false")+secret+"old}\n")
	id := s.changed(t, s.config("true")+secret+"new}\n")
	dir := s.repository(t, map[string]string{"shop.yaml": s.config("false") + secret + "old}\n"})
	got := s.reconciles(t, dir, id).exits(t, 1).prints(t, "~ shop.yaml (edit)")
	got.tells(t, s.namespace+"/Secret/key: data.k: is a value of a Secret, which is never written to Git", "hint: set it where the Secret comes from")
	assert.Assert(t, strings.Contains(s.file(t, dir, "shop.yaml"), "marker-old"))

	for name, files := range map[string]map[string]string{
		"is defined more than once: a.yaml:1, b.yaml:1": {"a.yaml": s.config("false"), "b.yaml": s.config("false")},
		"says that it is generated":                     {"a.yaml": "# Code generated by us. DO NOT EDIT.\n" + s.config("false")},
		"is encrypted with SOPS":                        {"a.yaml": s.config("false") + "sops:\n  mac: x\n"},
		"is a Helm chart":                               {"c/Chart.yaml": "name: c\n", "c/templates/a.yaml": "{{ .Values.x }}\n"},
		"nothing in":                                    {"a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: other}\n"},
	} {
		dir := s.repository(t, files)
		s.reconciles(t, dir, id).exits(t, 1).tells(t, name)
		var result render.ReconcileResult
		s.reconciles(t, dir, id, "-o", "json").exits(t, 1).json(t, &result)
		assert.Assert(t, !result.Written && len(result.Files) == 0, name)
	}
	s.reconciles(t, filepath.Join(dir, "gone"), id).exits(t, 1)
	s.as("bob").run(t, "reconcile").exits(t, 1).tells(t, "name their directory with --k8s-dir")
	s.write(t, "shop.yaml", s.config("maybe"))
	pending := s.judged(t, "bob", 2, "--direct", "--scope", "else").Change
	s.reconciles(t, dir, pending.ID).exits(t, 1).tells(t, "changeward itself has applied nothing of it")
}

// git runs git in a folder and answers what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := icmd.Command("git", append([]string{"-C", dir, "-c", "user.name=bob", "-c", "user.email=bob@example.com"}, args...)...)
	result := icmd.RunCmd(cmd).Assert(t, icmd.Success)
	return strings.TrimSpace(result.Stdout())
}

// cloned is a repository with one commit of these files.
func (s shop) cloned(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := s.repository(t, files)
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "config", "user.name", "bob")
	git(t, dir, "config", "user.email", "bob@example.com")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func TestTheEditsBecomeACommitOnABranchOfTheirOwnThatSaysWhoLetThemPass(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	dir := s.cloned(t, map[string]string{"apps/shop.yaml": s.config("false")})
	id := s.changed(t, s.config("true"))
	args := []string{"reconcile", "--k8s-dir", filepath.Join(dir, "apps"), "--change", id}
	s.as("bob").run(t, append(args, "--dry-run")...).exits(t, 0).prints(t, "1 file to write")
	assert.Equal(t, git(t, dir, "branch", "--list", "changeward/*"), "")
	var result render.ReconcileResult
	s.as("bob").run(t, append(args, "-o", "json")...).exits(t, 0).json(t, &result)
	branch := "changeward/" + id
	assert.Equal(t, result.Commit.Branch, branch)
	assert.Equal(t, git(t, dir, "rev-parse", branch), result.Commit.Hash)
	assert.Equal(t, git(t, dir, "diff", "--stat", "main", branch), "apps/shop.yaml | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)")
	message := git(t, dir, "log", "-1", "--format=%B", branch)
	for _, line := range []string{"Bring Git in line with direct change " + id, "Changeward-Change: " + id, "Changeward-Approver: alice"} {
		assert.Assert(t, strings.Contains(message, line), "%s", message)
	}
	assert.Equal(t, git(t, dir, "status", "--porcelain"), "")
	assert.Equal(t, git(t, dir, "branch", "--show-current"), "main")
	s.as("bob").run(t, args...).exits(t, 0).prints(t, "branch "+branch+" unchanged")

	git(t, dir, "merge", "-q", branch)
	s.as("bob").run(t, args...).exits(t, 0).prints(t, "Git has it already", "nothing is left to edit")
}

func TestARepositoryThatIsNotReadyIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	dir := s.cloned(t, map[string]string{"shop.yaml": s.config("false")})
	id := s.changed(t, s.config("true"))
	args := []string{"reconcile", "--k8s-dir", dir, "--change", id}
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "shop.yaml"), []byte(s.config("maybe")), 0o600))
	s.as("bob").run(t, args...).exits(t, 1).tells(t, "changes that are in no commit", "shop.yaml")
	git(t, dir, "checkout", "-q", "shop.yaml")
	s.as("bob").run(t, append(args, "--pr")...).exits(t, 1)
	git(t, dir, "checkout", "-q", "--detach")
	s.as("bob").run(t, args...).exits(t, 1).tells(t, "detached")
	s.as("bob").run(t, "reconcile", "--k8s-dir", s.repository(t, map[string]string{"shop.yaml": s.config("false")}), "--change", id).
		exits(t, 1).tells(t, "not in a work tree of Git")
	assert.Equal(t, git(t, dir, "branch", "--list", "changeward/*"), "")
	assert.Equal(t, strings.Count(git(t, dir, "worktree", "list", "--porcelain"), "worktree "), 1)
	for _, wrong := range [][]string{{"--no-commit", "--pr"}, {"--forge", "gitea"}, {"--scope", "x"}} {
		s.as("bob").run(t, append(args, wrong...)...).exits(t, 1).tells(t, "error: ")
	}
}
