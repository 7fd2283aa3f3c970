package forge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/icmd"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/testdata/e2e/parts"
	"github.com/changeward/changeward/testdata/e2e/parts/gitea"
)

// loop is a cluster whose namespace shop has one ConfigMap, owned by what
// applies branch main of a repository.
type loop struct {
	*world
	cluster                   *kubetest.Cluster
	home, namespace, manifest string
}

const shop = `# the shop
apiVersion: v1
kind: ConfigMap
metadata:
  name: shop-config
  namespace: NS
data:
  currency: EUR
  feature_new_cart: "false" # until the cart team is ready
`

// kustomization is the owner as it looks after it applied the ConfigMap of a
// namespace, of a revision, at a time.
const kustomization = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shop, namespace: flux-system}
spec: {interval: 1m, url: "https://git.example.com/shop"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec: {interval: 1m, prune: true, path: ./apps/shop, sourceRef: {kind: GitRepository, name: shop}}
status:
  inventory: {entries: [{id: "%[1]s_shop-config__ConfigMap", v: v1}]}
  lastAppliedRevision: main@sha1:%[2]s
  history: [{digest: "sha256:0", firstReconciled: "%[3]s", lastReconciled: "%[3]s", lastReconciledDuration: 0s, lastReconciledStatus: ReconciliationSucceeded, totalReconciliations: 1}]
`

// repositories stands in for Flux's definition of what it reads from.
const repositories = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gitrepositories.source.toolkit.fluxcd.io}
spec:
  group: source.toolkit.fluxcd.io
  scope: Namespaced
  names: {kind: GitRepository, plural: gitrepositories, singular: gitrepository}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

func TestADirectChangeComesBackThroughAPullRequestUntilItsOwnerAppliesIt(t *testing.T) {
	l := newLoop(t)
	l.ownerApplies()
	hot := filepath.Join(t.TempDir(), "hot.yaml")
	changed := strings.Replace(l.manifest, `"false"`, `"true"`, 1)
	assert.NilError(t, os.WriteFile(hot, []byte(changed), 0o600))
	id := l.changesDirectly(hot)
	assert.Equal(t, l.live(), "true")
	assert.Equal(t, l.drifts(3).State, "unreconciled")

	reconcile := []string{"reconcile", "--k8s-dir", filepath.Join(l.dir, "apps", "shop"), "--change", id, "--pr", "--forge", "gitea"}
	assert.Assert(t, is.Contains(l.run("bob", 0, reconcile...), strings.TrimSuffix(l.URL, ".git")+"/pulls/1"))
	l.untouched()
	pull, _, err := l.person.Client.GetPullRequest(l.Owner.Name, l.Name, 1)
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(pull.Body, `data.feature_new_cart: "false" → "true"`))
	l.Merge(t, 1)
	l.pull()
	assert.Equal(t, l.File(t, "main", manifest), changed)
	why := l.drifts(3).Fields[0].Message
	assert.Assert(t, is.Contains(why, "kustomization/flux-system/shop applied "), "merged is not applied")

	l.ownerHasReconciled()
	assert.Assert(t, is.Contains(l.run("bob", 0, reconcile...), "Git has it already"))
	assert.Assert(t, l.drifts(0, "--settle").Settled)
	assert.Equal(t, l.live(), "true")
	assert.Assert(t, !strings.Contains(l.run("bob", 0, "drift"), id), "nothing is left to look at")

	l.mergesWithout("feature_new_cart")
	l.ownerApplies()
	assert.Equal(t, l.live(), "", "what Git removes goes, as changeward no longer holds it")
}

// changesDirectly has bob ask for what a file sets, alice approve it, and bob
// apply it. It answers the request.
func (l *loop) changesDirectly(file string) string {
	l.t.Helper()
	var gated render.GateResult
	assert.NilError(l.t, json.Unmarshal([]byte(l.run("bob", 2, "gate", "-f", file, "--direct", "--force-conflicts", "-o", "json")), &gated))
	l.run("alice", 0, "approve", gated.Change.ID, "--yes", "--reason", "the cart team is ready")
	l.run("bob", 0, "apply", "-f", file, "--force-conflicts", gated.Change.ID)
	l.run("bob", 0, "verify", gated.Change.ID)
	return gated.Change.ID
}

// drifts is the one direct change that drift lists, of which Git is what lies in
// the clone.
func (l *loop) drifts(code int, more ...string) render.DriftedObject {
	l.t.Helper()
	var list render.DriftList
	assert.NilError(l.t, json.Unmarshal([]byte(l.run("bob", code, append([]string{"drift", "--k8s-dir", l.dir, "-o", "json"}, more...)...)), &list))
	assert.Equal(l.t, len(list.Changes), 1)
	assert.Equal(l.t, *list.Changes[0].Owner, "kustomization/flux-system/shop")
	return list.Changes[0]
}

// mergesWithout brings main to a manifest without the line, by a pull request.
func (l *loop) mergesWithout(key string) {
	l.t.Helper()
	var kept []string
	for line := range strings.Lines(l.File(l.t, "main", manifest)) {
		if !strings.Contains(line, key) {
			kept = append(kept, line)
		}
	}
	assert.NilError(l.t, os.WriteFile(filepath.Join(l.dir, manifest), []byte(strings.Join(kept, "")), 0o600))
	gitea.Git(l.t, l.dir, "commit", "--quiet", "--all", "-m", "Take "+key+" out")
	gitea.Git(l.t, l.dir, append(l.person.Authorization(), "push", "--quiet", "origin", "HEAD:without")...)
	pull, _, err := l.person.Client.CreatePullRequest(l.Owner.Name, l.Name, sdk.CreatePullRequestOption{Head: "without", Base: "main", Title: "Take " + key + " out"})
	assert.NilError(l.t, err)
	l.Merge(l.t, pull.Index)
}

// newLoop installs changeward for bob, who may change the shop, and alice, who
// approves.
func newLoop(t *testing.T) *loop {
	t.Helper()
	server := gitea.Start(t)
	l := &loop{cluster: kubetest.Start(t, "alice:sre", "bob:system:masters"), home: t.TempDir()}
	l.namespace = l.cluster.Namespace(t)
	owners, err := os.ReadFile(filepath.Join("..", "..", "cases", "stub-crds.yaml"))
	assert.NilError(t, err)
	l.cluster.Apply(t, kubetest.Admin, "flux", string(owners), repositories, "{apiVersion: v1, kind: Namespace, metadata: {name: flux-system}}")
	l.manifest = strings.Replace(shop, "NS", l.namespace, 1)
	l.world = newWorld(t, server, server.Person(t, "bob"), l.manifest)
	for _, name := range []string{kubetest.Admin, "alice", "bob"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(l.home, name, ".ssh"), 0o700))
		_, err := sign.CreateKey(filepath.Join(l.home, name, ".ssh", "id_ed25519"), name)
		assert.NilError(t, err)
	}
	l.run(kubetest.Admin, 0, "install", "--name", "demo", "--env", "prod", "--approvers", "group:sre", "--proposers", "user:bob", "--yes")
	l.run("alice", 0, "signer", "enroll", "--yes")
	l.run("bob", 0, "signer", "enroll", "--yes")
	return l
}

// run is what the plugin prints for someone, who has nothing but a home, a
// kubeconfig and the token of the forge.
func (l *loop) run(who string, code int, args ...string) string {
	l.t.Helper()
	result := l.start(who, args...)
	assert.Equal(l.t, result.ExitCode, code, "%v\n%s", args, result.Combined())
	assert.Assert(l.t, !strings.Contains(result.Combined(), l.token))
	return result.Stdout()
}

func (l *loop) start(who string, args ...string) *icmd.Result {
	l.t.Helper()
	return icmd.RunCmd(icmd.Command(parts.Binary(l.t, "kubectl-changeward", "build"), args...), icmd.WithEnv(l.env(who)...))
}

// env is the environment of someone whose path has kubectl and the plugin.
func (l *loop) env(who string) []string {
	bin := filepath.Dir(parts.Binary(l.t, "kubectl", "controlplane"))
	return []string{"HOME=" + filepath.Join(l.home, who), "PATH=" + bin + ":" + os.Getenv("PATH"), "GITEA_TOKEN=" + l.token, "KUBECONFIG=" + l.cluster.KubeconfigAs(l.t, who)}
}

// ownerApplies applies branch main with the code by which Flux does, and says so
// in the status of its Kustomization.
func (l *loop) ownerApplies() {
	l.t.Helper()
	began := time.Now()
	objects, err := utils.ReadObjects(strings.NewReader(l.File(l.t, "main", manifest)))
	assert.NilError(l.t, err)
	writer, err := client.New(l.cluster.Config(kubetest.Admin), client.Options{})
	assert.NilError(l.t, err)
	manager := ssa.NewResourceManager(writer, nil, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})
	manager.SetOwnerLabels(objects, "shop", "flux-system")
	_, err = manager.ApplyAll(l.t.Context(), objects, ssa.DefaultApplyOptions())
	assert.NilError(l.t, err)
	l.cluster.ForceApply(l.t, kubetest.Admin, "flux", fmt.Sprintf(kustomization, l.namespace, l.Head(l.t, "main"), began.UTC().Format(time.RFC3339)))
}

// ownerHasReconciled lets the owner reconcile, as its interval has it do, until
// drift sees that it did so after the change: a status counts whole seconds.
func (l *loop) ownerHasReconciled() {
	l.t.Helper()
	poll.WaitOn(l.t, func(poll.LogT) poll.Result {
		l.ownerApplies()
		if result := l.start("bob", "drift", "--k8s-dir", l.dir); result.ExitCode != 0 {
			return poll.Continue("%s", result.Combined())
		}
		return poll.Success()
	}, poll.WithTimeout(2*time.Minute))
}

// live is the feature in the cluster.
func (l *loop) live() string {
	l.t.Helper()
	config, err := l.cluster.Client(kubetest.Admin).CoreV1().ConfigMaps(l.namespace).Get(l.t.Context(), "shop-config", metav1.GetOptions{})
	assert.NilError(l.t, err)
	return config.Data["feature_new_cart"]
}
