package flux_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	corev1 "k8s.io/api/core/v1"

	"github.com/changeward/changeward/pkg/kubetest"
)

// conf is what an incident changes; the parent applies the Kustomization of it,
// and sets its spec.suspend.
func conf(flag string) map[string]string {
	return map[string]string{
		"shop/conf.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\ndata: {flag: \"" + flag + "\"}\n",
		"cluster/shop.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: flux-system}\n" +
			"spec: {interval: 10m, prune: true, suspend: false, path: ./shop, sourceRef: {kind: GitRepository, name: apps}}\n",
	}
}

// flags are all values that the flag had, as a watch saw them.
func (s stage) flags(t *testing.T) func() []string {
	t.Helper()
	watched, err := s.Cluster.Client(kubetest.Admin).CoreV1().ConfigMaps("shop").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=conf"})
	assert.NilError(t, err)
	t.Cleanup(watched.Stop)
	var mutex sync.Mutex
	out := []string{}
	go func() {
		for event := range watched.ResultChan() {
			flag := string(event.Type)
			if c, is := event.Object.(*corev1.ConfigMap); is && event.Type != watch.Deleted {
				flag = c.Data["flag"]
			}
			mutex.Lock()
			if len(out) == 0 || out[len(out)-1] != flag {
				out = append(out, flag)
			}
			mutex.Unlock()
		}
	}()
	return func() []string { mutex.Lock(); defer mutex.Unlock(); return slices.Clone(out) }
}

func TestAnIncidentEndsWithGitAndClusterEqualAndNoValueFlipsBack(t *testing.T) {
	s := stageIn(t, kubetest.Start(t, "alice:sre"))
	s.kubectl(t, "create", "namespace", "shop")
	s.repository.Write(t, conf("off"))
	first := s.repository.Push(t, "one")
	s.Follow(t, "apps", s.repository)
	c := scenario{name: "cluster", spec: "prune: true\npath: ./cluster"}
	s.Cluster.Apply(t, kubetest.Admin, "test", strings.Replace(c.text(), "name: repository", "name: apps", 1))
	s.Applied(t, "cluster", first)
	s.Applied(t, "shop", first)
	s.runs(t, "mkdir -m 700 ~/.ssh && kubectl changeward signer create --file ~/.ssh/id_ed25519\nkubectl changeward signer create --file ~/.ssh/alice\n"+
		"kubectl changeward install --name demo --env prod --approvers group:sre --proposers user:admin --yes\n"+
		"kubectl changeward signer enroll --context alice --key ~/.ssh/alice --yes")
	seen := s.flags(t)

	started := s.runs(t, `flux changeward incident start shop --reason "checkout is down" --until 4h --yes`)
	assert.Assert(t, strings.Contains(started.stdout, "kustomization/flux-system/cluster: suspended (would resume another)"), "%s", started)
	fixed := filepath.Join(s.home, "fix")
	s.runs(t, "mkdir "+fixed+" && sed 's/off/on/' shop/conf.yaml > "+fixed+"/conf.yaml")
	waiting := s.shell(t, "kubectl changeward gate --direct --force-conflicts -f "+fixed)
	assert.Equal(t, waiting.code, 2, "%s", waiting)
	id := regexp.MustCompile(`c_[0-9a-f]{12}`).FindString(waiting.stdout)
	s.runs(t, "kubectl changeward approve "+id+" --context alice --key ~/.ssh/alice --yes\nkubectl changeward apply --force-conflicts -f "+fixed)

	early := s.shell(t, "flux changeward incident end --yes")
	assert.Equal(t, early.code, 3, "%s", early)
	s.repository.Write(t, conf("on"))
	s.Fetched(t, "apps", s.repository.Push(t, "two"))
	ended := s.runs(t, "flux changeward incident end --yes")
	assert.Assert(t, strings.Contains(ended.stdout, "ended by: admin"), "%s", ended)
	s.runs(t, "kubectl changeward drift --all")
	assert.DeepEqual(t, seen(), []string{"off", "on"})
}
