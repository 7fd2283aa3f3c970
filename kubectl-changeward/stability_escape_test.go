package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// evil is text that would recolour, erase, reorder and split what is shown, and
// command a CI that reads the log.
const evil = "a\n::error::b\n ##vso[task.complete]c\n##[endgroup]d\x1b[2K\x1b]8;;https://evil.example/\a\rb\u202ec\u200bd\u2028e\u0085f\x7fg\ufeffh\u2066i"

// assertPlain refuses every raw character that a terminal or a reader obeys,
// but for the line feed, and every command that a CI obeys.
func assertPlain(t *testing.T, where, content string) {
	t.Helper()
	for line := range strings.Lines(content) {
		command := strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##vso[") || strings.Contains(line, "##[")
		assert.Assert(t, !command, "%s: a CI would obey %q", where, line)
	}
	for i, r := range content {
		switch {
		case r == '\n':
			continue
		case r < 0x20, r >= 0x7f && r <= 0x9f, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
			r == 0xfeff, r == utf8.RuneError:
			t.Fatalf("%s: raw %U in …%q…", where, r, content[max(0, i-60):min(len(content), i+20)])
		}
	}
}

// plainly runs a command, with --out where it has that, and checks all that
// it has written.
func (p person) plainly(t *testing.T, args ...string) answer {
	t.Helper()
	got := p.run(t, args...)
	assertPlain(t, got.String(), got.stdout+got.stderr)
	if at := slices.Index(args, "--out"); at >= 0 {
		content, err := os.ReadFile(args[at+1])
		assert.NilError(t, err)
		assertPlain(t, args[at+1], string(content))
	}
	return got
}

func TestNoOutputOrErrorOfARealClusterIsRaw(t *testing.T) {
	w := shared(t)
	namespace := w.Namespace(t)
	for name, code := range map[string]int{"B63-terminal-injection": 2, "B63-terminal-injection-key": 1, "B63-c1-control": 1} {
		file := manifest(t, name+".yaml", strings.ReplaceAll(caseText(t, name), "team-a", namespace))
		if name == "B63-terminal-injection" { // as an update, which people decide
			w.Apply(t, kubetest.Admin, "changeward", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b63, namespace: "+namespace+"}, data: {cr: \"1\\r\\u202e2\"}}")
		}
		for form, extension := range map[string]string{"text": ".json", "json": ".md", "markdown": ".txt"} {
			out := filepath.Join(t.TempDir(), "out"+extension)
			w.as("ci").plainly(t, "plan", "-f", file, "-o", form, "--out", out)
			w.as("ci").plainly(t, "gate", "-f", file, "-o", form, "--out", out, "--scope", name, "--reason", evil, "--ticket", evil, "--author", evil, "--revision", evil).exits(t, code)
		}
	}
	w.plainlyDecided(t, "B63-terminal-injection")
}

// plainlyDecided has people look at a request of this scope, and decide.
func (w world) plainlyDecided(t *testing.T, scope string) {
	t.Helper()
	var list render.ChangeRequestList
	w.as("alice").plainly(t, "list", "-o", "json").json(t, &list)
	at := slices.IndexFunc(list.Items, func(r render.ChangeRequest) bool { return r.Scope == scope })
	id := list.Items[at].ID
	var shown render.ChangeRequest
	w.as("alice").plainly(t, "show", id, "-o", "json").json(t, &shown)
	assert.Equal(t, shown.Reason, evil, "who reads JSON gets the true value")
	fields := map[string]any{}
	for _, field := range shown.Plan.Changes[0].Fields {
		fields[field.Path] = *field.New
	}
	assert.Equal(t, fields["data.bidi"], "user\u202enimda")
	assert.Equal(t, fields["data.cr"], "replicas: 2\rreplicas: 9")
	w.as("alice").plainly(t, "show", id).prints(t, `\u202e`, `\u200b`, `\u2028`, `\u001b`, `\r`)
	for _, args := range [][]string{{"list"}, {"show", id, "-o", "markdown"}, {"policy", "explain", id}, {"approve", id, "--yes", "--reason", evil, "--ticket", evil},
		{"show", id}, {"revoke", id, "--yes", "--reason", evil}, {"reject", id, "--yes", "--reason", evil}, {"show", id}} {
		w.as("alice").plainly(t, args...).exits(t, 0)
	}
}

func TestNoErrorRepeatsRawWhatWasTyped(t *testing.T) {
	alice := shared(t).as("alice").with("XDG_CONFIG_HOME", t.TempDir())
	good := manifest(t, "a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	odd := manifest(t, "a\x1b[31m\u202e.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}")
	quoted, err := json.Marshal(evil)
	assert.NilError(t, err)
	var sets []string
	for i, text := range []string{`{apiVersion: v1, kind: %s, metadata: {name: a}}`, `{apiVersion: %s, kind: A, metadata: {name: a}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}`, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %s}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, %s: 1}`, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, %[1]s: 1, %[1]s: 2}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {argocd.argoproj.io/hook: %s}}}`} {
		sets = append(sets, manifest(t, fmt.Sprint(i, ".yaml"), fmt.Sprintf(text, quoted)))
	}
	lines := [][]string{{"no-such-" + evil}, {"policy", evil}, {"show", evil}, {"show", "cw-" + evil, "--pae"}, {"approve", evil, "--yes"}, {"list", "-o", evil}, {"list", "--" + evil},
		{"list", "--context", evil}, {"list", "--target", evil}, {"list", "--state", evil}, {"list", "--state", "dir:" + evil}, {"list", "--request-timeout", evil},
		{"plan", "-f", odd}, {"plan", "-f", evil}, {"plan", "-k", evil}, {"plan", "-f", good, "-n", evil}, {"plan", "-f", good, "--target", evil},
		{"approve", "1", "--yes", "--key", evil}, {"token", "create", evil, "--role", "propose"}, {"token", "create", "a", "--role", evil},
		{"install", "--name", evil, "--approvers", evil}, {"policy", "set", "-f", odd}, {"policy", "test", "-f", odd}, {"connect", evil}, {"connect", "a", "--option", evil},
		{"signer", "create", "--file", "/nowhere/" + evil}, {"targets", "-o", "name"}, {"completion", evil}, {"help", evil}}
	for _, set := range sets {
		lines = append(lines, []string{"plan", "-f", set}, []string{"plan", "-f", set, "-o", "json"}, []string{"plan", "-f", set, "-o", "markdown"})
	}
	for _, line := range lines {
		alice.plainly(t, line...)
	}
}

func TestWhatCannotBeSeenIsHashed(t *testing.T) {
	w := shared(t)
	namespace := w.Namespace(t)
	hash := func(value string) string {
		quoted, err := json.Marshal(value)
		assert.NilError(t, err)
		text := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %s}, data: {k: %s}}", namespace, quoted)
		return given{value, []string{"-f", "-"}, text}.planned(t, w.as(kubetest.Admin)).Hash
	}
	hashes := map[string]bool{}
	for _, value := range []string{"payments", "pay\u200bments", "payments\u200b", `pay\u200bments`, "payments\u00a0", "payments\n", "payments\r"} {
		hashes[hash(value)] = true
	}
	assert.Equal(t, len(hashes), 7)
}
