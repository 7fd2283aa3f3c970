package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gitops"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// auto guesses appliers of a cluster whose controllers say nothing.
func auto(force bool) dryrun.Applier { return dryrun.Auto(force, (&gitops.Tools{}).By) }

// traces makes an object of every applier, and returns those that would change
// each, and another that does not exist.
func traces(t *testing.T) string {
	t.Helper()
	namespace := kubetest.Shared(t).Namespace(t)
	named := func(name string) string {
		return "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: " + namespace + "}, data: {a: b}}\n"
	}
	kubectlApply(t, named("client")+named("later-server"))
	kubectlApply(t, named("client-ci"), "--field-manager=kubectl-ci")
	kubectlApply(t, named("argo"), "--field-manager=argocd-controller")
	kubectlApply(t, named("client-helm"), "--field-manager=helm")
	kubectlApply(t, named("server"), "--server-side")
	kubectlApply(t, named("later-server"), "--server-side")
	names := []string{"client", "later-server", "client-ci", "argo", "client-helm", "server", "created", "absent"}
	for _, manager := range []string{dryrun.Manager, "kustomize-controller", "argocd-controller", "helm", "helm-controller"} {
		kubetest.Shared(t).Apply(t, kubetest.Admin, manager, named("by-"+manager))
		names = append(names, "by-"+manager)
	}
	_ = try(t, named("created"), "create", "-f", "-")
	var all strings.Builder
	for _, name := range names {
		all.WriteString(strings.Replace(named(name), "a: b", "a: c", 1))
	}
	return all.String()
}

func TestWhoAppliedAnObjectLastIsGuessedAndTold(t *testing.T) {
	got := map[string]plan.Observation{}
	for _, o := range observe(t, auto(true), traces(t)) {
		got[o.Object.Name()] = o
	}
	const guess, owned, stranger = "a guess, to be settled with --applier", "a guess, to be settled with --owner", "name who applies it with --owner or --applier"
	for name, want := range map[string]struct{ applier, mode, manager, note string }{
		"client":                  {dryrun.NameKubectlClient, plan.ModeClientSide, "kubectl-client-side-apply", guess},
		"client-ci":               {dryrun.NameKubectlClient, plan.ModeClientSide, "kubectl-ci", guess},
		"client-helm":             {dryrun.Manager, plan.ModeServerSide, "changeward", "helm was the last to apply it"},
		"argo":                    {"argocd", plan.ModeClientSide, "argocd-controller", owned},
		"server":                  {dryrun.NameKubectlServer, plan.ModeServerSide, "kubectl", guess},
		"later-server":            {dryrun.NameKubectlServer, plan.ModeServerSide, "kubectl", guess},
		"by-changeward":           {dryrun.Manager, plan.ModeServerSide, "changeward", ""},
		"by-kustomize-controller": {"flux", plan.ModeServerSide, "kustomize-controller", owned},
		"by-argocd-controller":    {"argocd", plan.ModeServerSide, "argocd-controller", owned},
		"by-helm":                 {dryrun.Manager, plan.ModeServerSide, "changeward", stranger},
		"by-helm-controller":      {dryrun.Manager, plan.ModeServerSide, "changeward", stranger},
		"created":                 {dryrun.Manager, plan.ModeServerSide, "changeward", ""},
		"absent":                  {dryrun.Manager, plan.ModeServerSide, "changeward", ""},
	} {
		o := got[name]
		assert.DeepEqual(t, []string{o.Applier.Name, o.Applier.Mode, o.Applier.Manager}, []string{want.applier, want.mode, want.manager})
		notes := strings.Join(o.Notes, "\n")
		assert.Assert(t, strings.Contains(notes, want.note), "%s: %s", name, notes)
		assert.Assert(t, want.note != "" || !strings.Contains(notes, "last to apply"), "%s: %s", name, notes)
	}
}

func TestTheLastOfTwoAppliersIsGuessed(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	text := func(value string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: both, namespace: " + namespace + "}, data: {a: " + value + "}}"
	}
	kubetest.Shared(t).Apply(t, kubetest.Admin, dryrun.Manager, text("b"))
	kubectlApply(t, text("c"))
	value := 0
	poll.WaitOn(t, func(poll.LogT) poll.Result { // times have a grain of a second
		value++
		kubectlApply(t, text(strings.Repeat("d", value)))
		if name := observe(t, auto(false), text("e"))[0].Applier.Name; name != dryrun.NameKubectlClient {
			return poll.Continue("planned as %s", name)
		}
		return poll.Success()
	})
}

// guesses are appliers as objects show them, and what they really do. The marks
// of the owner are on the objects, and not in the manifests that are planned.
func guesses() map[string]func(t *testing.T, text string) func() string {
	return map[string]func(t *testing.T, text string) func() string{
		dryrun.NameKubectlClient: byKubectlApply,
		dryrun.NameKubectlServer: func(t *testing.T, text string) func() string {
			return real(t, text, "--server-side", "--force-conflicts")
		},
		"flux":                          func(t *testing.T, text string) func() string { return fluxApply(t, apps(), text) },
		"argocd " + plan.ModeClientSide: shop{}.syncs,
		"argocd " + plan.ModeServerSide: withOptions("ServerSideApply=true").syncs,
		dryrun.Manager: func(t *testing.T, text string) func() string {
			return real(t, text, "--server-side", "--force-conflicts", "--field-manager=changeward")
		},
	}
}

func TestWhatIsGuessedIsWhatTheApplierThenDoes(t *testing.T) {
	settle(t)
	for name, apply := range guesses() {
		t.Run(name, func(t *testing.T) {
			first, second := versions(t, "objects.yaml", kubetest.Shared(t).Namespace(t))
			apply(t, first)()
			proveGuess(t, name, existing(t, second), apply)
		})
	}
}

func TestWhatIsGuessedIsWhatTheApplierThenDoesAfterPeopleHaveWrittenToIt(t *testing.T) {
	settle(t)
	for name, apply := range guesses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := kubetest.Shared(t).Namespace(t)
			first, second := handled(t, namespace)
			apply(t, first)()
			for name, touch := range hands() {
				if name != "forgotten" { // where nobody shows
					touch(t, namespace, name)
				}
			}
			proveGuess(t, name, second, apply)
		})
	}
}

// existing are the documents of a text whose objects exist: nobody can be
// guessed for the others.
func existing(t *testing.T, text string) string {
	t.Helper()
	exists := map[string]bool{}
	for _, o := range observe(t, auto(true), text) {
		exists[o.Object.Kind()+"/"+o.Object.Name()] = o.Live != nil
	}
	var out []string
	for document := range strings.SplitSeq(text, "\n---\n") {
		objects, problems := manifest.Parse("test.yaml", []byte(document))
		assert.Equal(t, len(problems), 0, "%v", problems)
		if exists[objects[0].Kind()+"/"+objects[0].Name()] {
			out = append(out, document)
		}
	}
	assert.Assert(t, len(out) > 40, "%d", len(out))
	return strings.Join(out, "\n---\n")
}

// proveGuess proves plans of the guess, and that it was this one. An object
// whose manifest says nothing has no trace of who applied it.
func proveGuess(t *testing.T, name, text string, apply func(t *testing.T, text string) func() string) {
	t.Helper()
	for _, o := range prove(t, auto(true), text, apply(t, text)) {
		is := []string{o.Applier.Name, o.Applier.Name + " " + o.Applier.Mode}
		assert.Check(t, slices.Contains(is, name) || o.Object.Name() == "bare", "%s is planned as %v", o.Object.Key(), is)
	}
}

func TestMarksThatAGuessedApplierKeepsAreNotTakenForAdmissions(t *testing.T) {
	text := inNamespace(t, caseFile(t, "B36-job-immutable-force.yaml"))
	fluxApply(t, apps(), strings.ReplaceAll(text, "migrate:2", "migrate:1"))()
	o := prove(t, auto(false), text, fluxApply(t, apps(), text))[0]
	assert.Assert(t, o.Failure == nil && o.Replace, "%+v", o.Failure)
	assert.Equal(t, o.Object.Labels()["kustomize.toolkit.fluxcd.io/name"], "apps")
	for _, value := range o.Admission {
		assert.Assert(t, !strings.Contains(value.Path, "kustomize"), value.Path)
	}
}
