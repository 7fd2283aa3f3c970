package fidelity_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops/argocd"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// shop is an Application of Argo CD in a test.
type shop struct {
	options   []string          // spec.syncPolicy.syncOptions
	spec      string            // more members of spec, a line each
	metadata  string            // more members of metadata
	operation string            // of the sync, where it is not an automated one
	settings  map[string]string // argocd-cm
	namespace string            // spec.destination.namespace; "" is team-a
}

// withOptions is an Application that syncs with options.
func withOptions(options ...string) shop { return shop{options: options} }

// object is the Application as the cluster would have it.
func (s shop) object(t *testing.T) map[string]any {
	t.Helper()
	text := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: " + nameOf(t) + "\n  namespace: argocd\n" + indent(s.metadata) +
		"spec:\n  project: default\n  destination: {server: \"https://kubernetes.default.svc\", namespace: " + cmp.Or(s.namespace, "team-a") + "}\n" + indent(s.spec)
	if !strings.Contains(s.spec, "syncPolicy:") {
		text += "  syncPolicy: {syncOptions: [" + strings.Join(s.options, ", ") + "]}\n"
	}
	if s.operation != "" {
		text += "operation: " + s.operation + "\n"
	}
	var out map[string]any
	assert.NilError(t, yaml.Unmarshal([]byte(text), &out), text)
	return out
}

// nameOf is the Application's name in a test.
func nameOf(t *testing.T) string {
	sum := fnv.New32a()
	sum.Write([]byte(t.Name()))
	return fmt.Sprintf("shop-%x", sum.Sum32())
}

func indent(text string) (out string) {
	for line := range strings.Lines(text) {
		out += "  " + strings.TrimRight(line, "\n") + "\n"
	}
	return out
}

// read is the Application as plans know it.
func (s shop) read(t *testing.T) *argocd.Application {
	t.Helper()
	a, err := argocd.ReadApplication(s.object(t))
	assert.NilError(t, err)
	return a
}

// applier plans what the Application applies.
func (s shop) applier(t *testing.T) dryrun.Applier {
	t.Helper()
	return argocd.NewApplier(s.read(t), argocd.ReadSettings("argocd", s.settings))
}

// synced is what argosync says of a sync.
type synced struct {
	Phase, Message string
	Resources      []struct{ Group, Kind, Namespace, Name, Status, Message string }
}

// sync lets Argo CD's own code sync objects, all together or each alone, so
// that none is in the way of another.
func (s shop) sync(t *testing.T, objects []manifest.Object, separately bool) []synced {
	t.Helper()
	manifests := make([]map[string]any, len(objects))
	for i := range objects {
		manifests[i] = objects[i].Content
	}
	request, err := json.Marshal(map[string]any{"application": s.object(t), "settings": s.settings, "manifests": manifests,
		"separately": separately})
	assert.NilError(t, err)
	cmd := icmd.Command(filepath.Join("..", "..", "..", "bin", "argosync"), "--kubeconfig", kubetest.Shared(t).Kubeconfig())
	cmd.Stdin = bytes.NewReader(request)
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+t.TempDir())
	result := icmd.RunCmd(cmd)
	assert.Equal(t, result.ExitCode, 0, result.Combined())
	var out []synced
	assert.NilError(t, json.Unmarshal([]byte(result.Stdout()), &out), result.Combined())
	return out
}

// syncs is a sync of a text, told as kubectl would. Where it fails, those that
// it has not come to are synced one by one.
func (s shop) syncs(t *testing.T, text string) func() string {
	return func() string {
		t.Helper()
		objects, problems := manifest.Parse("test.yaml", []byte(text))
		assert.Equal(t, len(problems), 0, "%v", problems)
		var said strings.Builder
		var left []manifest.Object
		together := s.sync(t, objects, false)[0]
		for _, o := range objects {
			if told, done := together.story(o); done {
				said.WriteString(told)
			} else {
				left = append(left, o)
			}
		}
		if len(left) > 0 {
			for i, alone := range s.sync(t, left, true) {
				told, _ := alone.story(left[i])
				said.WriteString(told)
			}
		}
		return said.String()
	}
}

// story is what became of an object, and whether the sync was done with it.
// One that it left alone, with success, is unchanged.
func (s synced) story(o manifest.Object) (told string, done bool) {
	named := strings.ToLower(strings.TrimSuffix(o.Kind()+"."+o.Group(), ".")) + "/" + o.Name()
	for _, r := range s.Resources {
		switch {
		case r.Kind != o.Kind() || r.Group != o.Group() || r.Name != o.Name():
		case r.Status == "Synced":
			return named + " applied\n", true
		case r.Status == "SyncFailed":
			return "failed: " + named + ": " + r.Message + "\n", false
		}
	}
	if s.Phase != "Succeeded" {
		return "failed: " + named + ": " + s.Phase + ": " + s.Message + "\n", false
	}
	return named + " unchanged\n", true
}

// prove plans as the Application, syncs with Argo CD's code, and compares.
func (s shop) prove(t *testing.T, text string) []plan.Observation {
	t.Helper()
	return prove(t, s.applier(t), text, s.syncs(t, text))
}
