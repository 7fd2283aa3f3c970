package gitops_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m, "alice:sre")) }

// cluster is the shared one, with the namespaces of the cases and the kinds of
// owners.
func cluster(t *testing.T) *kubetest.Cluster {
	t.Helper()
	shared := kubetest.Shared(t)
	client := shared.Client(kubetest.Admin).CoreV1()
	for _, name := range []string{"team-a", "team-b", "flux-system", "argocd"} {
		_, err := client.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		assert.Assert(t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
	}
	shared.Apply(t, kubetest.Admin, "test", caseFile(t, "stub-crds.yaml"), controller("flux-system", "kustomize-controller"))
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		kinds := kindsOf(t, client2(t, kubetest.Admin))
		if kinds.Preferred("argoproj.io", "Application") == "" || kinds.Preferred("kustomize.toolkit.fluxcd.io", "Kustomization") == "" {
			return poll.Continue("the kinds of owners are not served yet")
		}
		return poll.Success()
	})
	return shared
}

// controller is a Deployment of kustomize-controller, with these flags.
func controller(namespace, name string, flags ...string) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: %s}, spec: {selector: {matchLabels: {app: %[1]s}},
  template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: proxy, image: p, args: ["--override-manager=proxy"]}, {name: manager, image: m, args: [%[3]s]}]}}}}`,
		name, namespace, "'"+strings.Join(append([]string{"--watch-all-namespaces=true"}, flags...), "', '")+"'")
}

func client2(t *testing.T, user string) *dryrun.Client {
	t.Helper()
	client, err := dryrun.New(kubetest.Shared(t).Config(user))
	assert.NilError(t, err)
	return client
}

func kindsOf(t *testing.T, client *dryrun.Client) *dryrun.Kinds {
	t.Helper()
	kinds, err := client.Kinds(t.Context())
	assert.NilError(t, err)
	return kinds
}

func caseFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "cases", name))
	assert.NilError(t, err)
	return string(data)
}

// planner is how a test plans; the zero value is admin, in nobody's name.
type planner struct {
	user  string
	owner string
	empty bool
}

// plan reads, resolves, observes and builds, as the command line does.
func (p planner) plan(t *testing.T, text string) (*plan.Plan, error) {
	t.Helper()
	client := client2(t, cmp.Or(p.user, kubetest.Admin))
	kinds := kindsOf(t, client)
	reader := dryrun.Reader{Client: client, Kinds: kinds}
	objects, problems := manifest.Parse("test.yaml", []byte(text))
	namespace, in := "default", plan.Input{Cluster: plan.Cluster{UID: "uid"}}
	var owner *gitops.Owner
	applier := dryrun.Changeward(false)
	if p.owner != "" {
		ref, err := gitops.ParseRef(p.owner)
		assert.NilError(t, err)
		if owner, err = gitops.Find(t.Context(), reader, ref); err != nil {
			return nil, err
		}
		namespace, applier = cmp.Or(owner.DefaultNamespace, namespace), owner.Applies()
	}
	set, unresolved := manifest.Resolve(objects, kinds, namespace)
	problems = append(problems, unresolved...)
	for _, problem := range problems {
		in.Problems = append(in.Problems, plan.Failed{Key: problem.Key, Source: problem.Source, Failure: plan.Failure{Reason: problem.Reason, Message: problem.Message}})
	}
	masker := manifest.NewMasker([]byte("a key of the test's"), "uid", false)
	var err error
	in.Observations, err = client.Observe(t.Context(), set, dryrun.ObserveOptions{Kinds: kinds, Applier: applier, Masker: masker})
	assert.NilError(t, err)
	if owner != nil {
		departed, err := owner.Departed(set, kinds, problems, p.empty)
		if err != nil {
			return nil, err
		}
		in.Owner, in.Prune, in.Warnings = owner.Ref.String(), owner.Prune, owner.Notes
		in.Removals, err = client.ObserveDeletes(t.Context(), departed, dryrun.DeleteOptions{Kinds: kinds, Masker: masker,
			Applier: owner.Applier, Propagation: owner.Propagation, Judge: owner.Judge(in.Observations)})
		assert.NilError(t, err)
	}
	assert.NilError(t, gitops.Attribute(t.Context(), reader, in.Observations, in.Removals))
	return plan.Build(in)
}

func (p planner) planned(t *testing.T, text string) *plan.Plan {
	t.Helper()
	made, err := p.plan(t, text)
	assert.NilError(t, err)
	return made
}

// lines is a plan as tests compare it: with notes and risks.
func lines(p *plan.Plan) []string {
	var out []string
	for _, c := range p.Changes {
		out = append(out, plan.Title(c))
		for _, t := range c.Body.Transitions {
			out = append(out, "  "+strings.TrimSpace(plan.TransitionText(t)))
		}
		if c.Owner != "" {
			out = append(out, "  owner "+c.Owner)
		}
		for _, r := range c.Risks {
			out = append(out, strings.TrimSuffix("  ! "+r.Name+": "+r.Detail, ": "))
		}
		for _, note := range c.Notes {
			out = append(out, "  note: "+note)
		}
	}
	for _, c := range p.Unchanged {
		out = append(out, strings.TrimSuffix(plan.Title(c)+" "+c.Skipped, " "))
	}
	for _, f := range p.Failed {
		out = append(out, fmt.Sprintf("! %s %s: %s", f.Key, f.Reason, f.Message))
	}
	for _, warning := range p.Warnings {
		out = append(out, "warning: "+warning)
	}
	return out
}
