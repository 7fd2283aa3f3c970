package forge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/icmd"
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

func TestADirectChangeComesBackThroughAPullRequestUntilItsOwnerAppliesIt(t *testing.T) {
	l := newLoop(t)
	l.ownerApplies()

	hot := filepath.Join(t.TempDir(), "hot.yaml")
	changed := strings.Replace(l.manifest, `"false"`, `"true"`, 1)
	assert.NilError(t, os.WriteFile(hot, []byte(changed), 0o600))
	var gated render.GateResult
	assert.NilError(t, json.Unmarshal([]byte(l.run("bob", 2, "gate", "-f", hot, "--direct", "--force-conflicts", "-o", "json")), &gated))
	l.run("alice", 0, "approve", gated.Change.ID, "--yes", "--reason", "the cart team is ready")
	l.run("bob", 0, "apply", "-f", hot, "--force-conflicts", gated.Change.ID)
	assert.Equal(t, l.live(), "true")

	said := l.run("bob", 0, "reconcile", "--k8s-dir", filepath.Join(l.dir, "apps", "shop"), "--change", gated.Change.ID, "--pr", "--forge", "gitea")
	assert.Assert(t, is.Contains(said, strings.TrimSuffix(l.URL, ".git")+"/pulls/1"))
	l.untouched()
	pull, _, err := l.person.Client.GetPullRequest(l.Owner.Name, l.Name, 1)
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(pull.Body, `data.feature_new_cart: "false" → "true"`))

	l.Merge(t, 1)
	assert.Equal(t, l.File(t, "main", manifest), changed)
	l.ownerApplies()
	assert.Equal(t, l.live(), "true")
	l.pull()
	said = l.run("bob", 0, "reconcile", "--k8s-dir", filepath.Join(l.dir, "apps", "shop"), "--change", gated.Change.ID, "--pr", "--forge", "gitea")
	assert.Assert(t, is.Contains(said, "Git has it already"))
}

// newLoop installs changeward for bob, who may change the shop, and alice, who
// approves.
func newLoop(t *testing.T) *loop {
	t.Helper()
	server := gitea.Start(t)
	l := &loop{cluster: kubetest.Start(t, "alice:sre", "bob:system:masters"), home: t.TempDir()}
	l.namespace = l.cluster.Namespace(t)
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
	home := filepath.Join(l.home, who)
	result := icmd.RunCmd(icmd.Command(parts.Binary(l.t, "kubectl-changeward", "build"), append(args, "--kubeconfig", l.cluster.KubeconfigAs(l.t, who))...),
		icmd.WithEnv("HOME="+home, "PATH="+os.Getenv("PATH"), "GITEA_TOKEN="+l.token))
	assert.Equal(l.t, result.ExitCode, code, "%v\n%s", args, result.Combined())
	assert.Assert(l.t, !strings.Contains(result.Combined(), l.token))
	return result.Stdout()
}

// ownerApplies applies branch main with the code by which Flux does.
func (l *loop) ownerApplies() {
	l.t.Helper()
	objects, err := utils.ReadObjects(strings.NewReader(l.File(l.t, "main", manifest)))
	assert.NilError(l.t, err)
	writer, err := client.New(l.cluster.Config(kubetest.Admin), client.Options{})
	assert.NilError(l.t, err)
	manager := ssa.NewResourceManager(writer, nil, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})
	manager.SetOwnerLabels(objects, "shop", "flux-system")
	_, err = manager.ApplyAll(l.t.Context(), objects, ssa.DefaultApplyOptions())
	assert.NilError(l.t, err)
}

// live is the feature in the cluster.
func (l *loop) live() string {
	l.t.Helper()
	config, err := l.cluster.Client(kubetest.Admin).CoreV1().ConfigMaps(l.namespace).Get(l.t.Context(), "shop-config", metav1.GetOptions{})
	assert.NilError(l.t, err)
	return config.Data["feature_new_cart"]
}
