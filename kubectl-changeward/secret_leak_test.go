package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/state"
)

// witness hears everything that anybody is told about Secrets.
type witness struct {
	shop
	markers markers
	heard   map[string]string
}

func newWitness(t *testing.T) witness {
	t.Helper()
	s := shop{world: shared(t), dir: t.TempDir()}
	s.namespace = s.Namespace(t)
	return witness{shop: s, markers: markers{}, heard: map[string]string{}}
}

func (w witness) fill(t *testing.T, text string) string {
	t.Helper()
	return w.markers.fill(t, w.namespace, text)
}

// file is a file of manifests, in a folder of its own.
func (w witness) file(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(w.dir, folder, name)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(w.fill(t, text)), 0o600))
	return path
}

// hears runs a command line.
func (w witness) hears(t *testing.T, who string, args ...string) answer {
	t.Helper()
	got := w.as(who).run(t, args...)
	title := fmt.Sprintf("%d. %s: %s", len(w.heard), who, strings.Join(args, " "))
	w.heard[title+" (stdout)"], w.heard[title+" (stderr)"] = got.stdout, got.stderr
	if at := slices.Index(args, "--out"); at >= 0 {
		content, err := os.ReadFile(args[at+1])
		assert.NilError(t, err)
		w.heard[title+" (file)"] = string(content)
		if filepath.Ext(args[at+1]) == ".json" {
			answer{args: args, stdout: string(content)}.isDocument(t)
		}
	}
	return got
}

// inAllForms plans and gates an input, with every form of output, and says the
// exit code of the gate.
func (w witness) inAllForms(t *testing.T, input ...string) int {
	t.Helper()
	out := t.TempDir()
	w.hears(t, kubetest.Admin, append([]string{"plan", "--show-unchanged", "-o", "json", "--out", filepath.Join(out, "plan.md")}, input...)...)
	w.hears(t, "ci", append([]string{"plan", "--out", filepath.Join(out, "plan.json")}, input...)...)
	gate := append([]string{"gate"}, input...)
	w.hears(t, "ci", append(gate, "-o", "markdown", "--out", filepath.Join(out, "gate.txt"))...)
	return w.hears(t, "ci", append(gate, "-o", "json", "--out", filepath.Join(out, "gate.md"))...).code
}

// asKubectl plans an input as kubectl would apply it, in every way.
func (w witness) asKubectl(t *testing.T, file string) {
	t.Helper()
	for _, flags := range []string{"--applier=kubectl-client", "--applier=kubectl-client --force", "--applier=kubectl-server",
		"--applier=kubectl-server --force-conflicts --field-manager=ci"} {
		w.hears(t, "ci", append([]string{"plan", "-f", file}, strings.Fields(flags)...)...)
	}
}

func TestASecretsValueIsInNoOutputRecordOrError(t *testing.T) {
	w := newWitness(t)
	w.prepareLive(t)
	w.gossip(t)

	complete := w.file(t, "complete", "all.yaml", completeSet)
	assert.Equal(t, w.inAllForms(t, "-f", complete), 2)
	w.asKubectl(t, complete)
	for name, text := range refusedSets() {
		file := w.file(t, "refused", strings.ReplaceAll(name, " ", "-")+".yaml", text)
		assert.Equal(t, w.inAllForms(t, "-f", file, "--applier", "changeward"), 1, name)
		w.asKubectl(t, file)
	}
	w.file(t, "generator", "key.pem", `{{v "generated file"}}`+"\n"+`{{v "generated file, too"}}`+"\n")
	w.file(t, "generator", "values.env", `token={{v "generated environment"}}`+"\n")
	w.file(t, "generator", "kustomization.yaml", generator)
	assert.Equal(t, w.inAllForms(t, "-k", filepath.Join(w.dir, "generator")), 2)
	for name, text := range refusedKustomizations() {
		w.file(t, name, "wrong.env", `not a name={{v "environment with a wrong name"}}`+"\n")
		w.file(t, name, "kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: {{ns}}\n"+text)
		assert.Equal(t, w.inAllForms(t, "-k", filepath.Join(w.dir, name)), 1, name)
	}
	w.decide(t, complete, "-f", complete)

	records := recorded(t, w.world)
	assert.Assert(t, strings.Contains(records, `"this is no secret"`), "the records were not unpacked")
	w.heard["what is recorded"] = records
	w.markers.assertSilent(t, w.heard)
}

// prepareLive makes what is live: by kubectl, by us, by others.
func (w witness) prepareLive(t *testing.T) {
	t.Helper()
	file := w.file(t, "live", "by-kubectl.yaml", liveByKubectl)
	kubectl := filepath.Join("..", "bin", "kubectl")
	icmd.RunCommand(kubectl, "--kubeconfig", w.as(kubetest.Admin).kubeconfig(), "apply", "-f", file).Assert(t, icmd.Success)
	w.Apply(t, kubetest.Admin, "changeward", w.fill(t, liveByUs))
	w.Apply(t, kubetest.Admin, "stranger", w.fill(t, liveByStrangers))
}

// gossip lets admission repeat Secrets, and waits until it does.
func (w witness) gossip(t *testing.T) {
	t.Helper()
	w.Apply(t, kubetest.Admin, "test", w.fill(t, gossips))
	probe := w.file(t, "probe", "probe.yaml", refusedSets()["denied"])
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		got := w.as(kubetest.Admin).run(t, "plan", "-f", probe, "-o", "json")
		if !strings.Contains(got.stdout, "gossip-") {
			return poll.Continue("the policy does not refuse yet: %s", got)
		}
		return poll.Success()
	})
}

// decide has people look at the request of a file in every way, approve it,
// take that back, and reject it; then the gate asks again.
func (w witness) decide(t *testing.T, file string, input ...string) {
	t.Helper()
	var list render.ChangeRequestList
	w.hears(t, "alice", "list", "-o", "json").exits(t, 0).json(t, &list)
	newest := slices.IndexFunc(list.Items, func(r render.ChangeRequest) bool { return slices.Contains(r.Sources, file) })
	assert.Assert(t, newest >= 0)
	id := list.Items[newest].ID
	hash := w.request(t, id).Hash
	for _, args := range [][]string{{"list"}, {"show", id}, {"show", id, "-o", "json"}, {"show", id, "-o", "markdown"}, {"show", id, "--pae"},
		{"show", id, "--signature"}, {"policy", "explain", id}, {"policy", "explain", id, "-o", "json"},
		{"approve", id, "--yes", "--confirm", hash[len(hash)-4:]}, {"show", id}} {
		w.hears(t, "alice", args...).exits(t, 0)
	}
	w.hears(t, "ci", append([]string{"gate"}, input...)...).exits(t, 0)
	w.hears(t, "alice", "revoke", id, "--yes").exits(t, 0)
	w.hears(t, "alice", "reject", id, "--yes", "-o", "json").exits(t, 0)
	w.hears(t, "ci", append([]string{"gate", "--again", "--reason", "again", "-o", "json"}, input...)...).exits(t, 2)
	w.hears(t, "alice", "list").exits(t, 0)
}

// recorded is every object of namespace changeward, with what is packed in it,
// but for its resourceVersion.
func recorded(t *testing.T, w world) string {
	t.Helper()
	var all strings.Builder
	add := func(name string, object any, parts map[string][]byte) {
		fmt.Fprintf(&all, "\n%s %s\n", name, text(object))
		for key, part := range parts {
			unpacked := part
			if plain, err := state.Decompress(part, 64<<20); err == nil {
				unpacked = plain
			}
			fmt.Fprintf(&all, "%s %s\n", key, unpacked)
			var envelope struct{ Payload []byte }
			if json.Unmarshal(part, &envelope) == nil {
				fmt.Fprintf(&all, "payload %s\n", envelope.Payload)
			}
		}
	}
	client := w.Client(kubetest.Admin).CoreV1()
	secrets, err := client.Secrets(install.Namespace).List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	for _, secret := range secrets.Items {
		secret.ResourceVersion = ""
		add("Secret "+secret.Name, secret, secret.Data)
	}
	maps, err := client.ConfigMaps(install.Namespace).List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	for _, m := range maps.Items {
		m.ResourceVersion = ""
		parts := map[string][]byte{}
		for key, value := range m.Data {
			parts[key] = []byte(value)
		}
		add("ConfigMap "+m.Name, m, parts)
	}
	return all.String()
}
