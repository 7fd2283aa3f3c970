package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

func TestWhoAppliedAnObjectLastIsGuessedAndTold(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	named := func(name string) string {
		return "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: " + namespace + "}, data: {a: b}}\n"
	}
	kubectlApply(t, named("client")+named("later-server"))
	kubectlApply(t, named("client-ci"), "--field-manager=kubectl-ci")
	kubectlApply(t, named("argo"), "--field-manager=argocd-controller")
	kubectlApply(t, named("server"), "--server-side")
	kubectlApply(t, named("later-server"), "--server-side")
	for _, manager := range []string{dryrun.Manager, "kustomize-controller"} {
		kubetest.Shared(t).Apply(t, kubetest.Admin, manager, named("by-"+manager))
	}
	_ = try(t, named("created"), "create", "-f", "-")
	var all strings.Builder
	for _, name := range []string{"client", "later-server", "client-ci", "argo", "server", "by-changeward", "by-kustomize-controller", "created", "absent"} {
		all.WriteString(strings.Replace(named(name), "a: b", "a: c", 1))
	}
	got := map[string]plan.Observation{}
	for _, o := range observe(t, dryrun.Auto(true), all.String()) {
		got[o.Object.Name()] = o
	}
	const guess, stranger = "a guess, to be settled with --applier", "name who applies it with --owner or --applier"
	for name, want := range map[string]struct{ applier, manager, note string }{
		"client":                  {dryrun.NameKubectlClient, "kubectl-client-side-apply", guess},
		"client-ci":               {dryrun.NameKubectlClient, "kubectl-ci", guess},
		"argo":                    {dryrun.Manager, "changeward", "argocd-controller was the last to apply it"},
		"server":                  {dryrun.NameKubectlServer, "kubectl", guess},
		"later-server":            {dryrun.NameKubectlServer, "kubectl", guess},
		"by-changeward":           {dryrun.Manager, "changeward", ""},
		"by-kustomize-controller": {dryrun.Manager, "changeward", stranger},
		"created":                 {dryrun.Manager, "changeward", ""},
		"absent":                  {dryrun.Manager, "changeward", ""},
	} {
		o := got[name]
		assert.Equal(t, o.Applier.Name, want.applier, name)
		assert.Equal(t, o.Applier.Manager, want.manager, name)
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
		if name := observe(t, dryrun.Auto(false), text("e"))[0].Applier.Name; name != dryrun.NameKubectlClient {
			return poll.Continue("planned as %s", name)
		}
		return poll.Success()
	})
}
