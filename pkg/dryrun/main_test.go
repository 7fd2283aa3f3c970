package dryrun_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

func TestMain(m *testing.M) {
	os.Exit(kubetest.Main(m, "alice:sre", "bob", "slow"))
}

// cluster is the shared one, with the namespaces of the cases.
func cluster(t *testing.T) *kubetest.Cluster {
	t.Helper()
	shared := kubetest.Shared(t)
	client := shared.Client(kubetest.Admin).CoreV1()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	_, err := client.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: meta("team-a")}, metav1.CreateOptions{})
	assert.Assert(t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
	_, err = client.ServiceAccounts("team-a").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta("default")}, metav1.CreateOptions{})
	assert.Assert(t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
	return shared
}

// caseFile is the text of an input.
func caseFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "cases", name))
	assert.NilError(t, err)
	return string(data)
}

// live loads the live state of a case, applied as the tool itself would.
func live(t *testing.T, name string) {
	t.Helper()
	cluster(t).Apply(t, kubetest.Admin, dryrun.Manager, caseFile(t, name+".live.yaml"))
}

// observation is how a test observes; the zero value is admin, without force.
type observation struct {
	config      *rest.Config
	force       bool
	concurrency int
	twice       bool   // as the gate does
	cache       string // folder; none by default
}

// observe reads, resolves and observes manifests. Objects of unknown kinds
// stay in the set, to see what is said about them.
func (o observation) observe(t *testing.T, text string) []plan.Observation {
	t.Helper()
	if o.config == nil {
		o.config = cluster(t).Config(kubetest.Admin)
	}
	client, err := dryrun.NewWithCache(o.config, o.cache)
	assert.NilError(t, err)
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	objects, problems := manifest.Parse("test.yaml", []byte(text))
	assert.Equal(t, len(problems), 0, "%v", problems)
	set, problems := manifest.Resolve(objects, kinds, "default")
	for _, problem := range problems {
		assert.Assert(t, problem.Reason == manifest.ReasonUnknownKind || problem.Reason == manifest.ReasonUnreadable, "%v", problem)
		set = manifest.Set{Objects: objects}
	}
	options := dryrun.ObserveOptions{
		Kinds: kinds, Applier: dryrun.Changeward(o.force), Concurrency: o.concurrency,
		Masker: manifest.NewMasker([]byte("a key of the test's"), "uid", false),
	}
	seen, err := client.Observe(t.Context(), set, options)
	assert.NilError(t, err)
	if o.twice {
		seen, err = client.Repeat(t.Context(), set, seen, built(t, seen), options)
		assert.NilError(t, err)
	}
	return seen
}

func built(t *testing.T, seen []plan.Observation) *plan.Plan {
	t.Helper()
	made, err := plan.Build(plan.Input{Cluster: plan.Cluster{UID: "uid"}, Observations: seen})
	assert.NilError(t, err)
	return made
}

// plan is what a plan says about manifests: one line for each object, and
// under it one for each field.
func (o observation) plan(t *testing.T, text string) (lines []string, hash string) {
	t.Helper()
	made := built(t, o.observe(t, text))
	return describe(made), made.Hash
}

func planned(t *testing.T, text string) []string {
	t.Helper()
	lines, _ := observation{}.plan(t, text)
	return lines
}

func describe(p *plan.Plan) (lines []string) {
	for _, c := range p.Changes {
		lines = append(lines, strings.TrimSpace(plan.Title(c)+" "+c.Unverified))
		for _, transition := range c.Body.Transitions {
			lines = append(lines, strings.TrimSpace(plan.TransitionText(transition)))
		}
		for _, taken := range c.Body.TakesOver {
			lines = append(lines, "  takes over "+taken.Path+" from "+taken.Manager)
		}
		for _, added := range c.Body.Admission {
			text := added.Mark
			if text == "" {
				text = fmt.Sprint(added.Value)
			}
			lines = append(lines, "  admission "+added.Path+": "+text)
		}
	}
	for _, c := range p.Unchanged {
		lines = append(lines, plan.Title(c))
	}
	for _, failed := range p.Failed {
		lines = append(lines, fmt.Sprintf("! %s %s: %s", failed.Key, failed.Reason, failed.Message))
		for _, conflict := range failed.Conflicts {
			lines = append(lines, fmt.Sprintf("  %s, held by %s, would become %s",
				conflict.Path, conflict.Manager, plan.ValueText(conflict.New)))
		}
	}
	return lines
}
