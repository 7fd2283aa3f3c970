package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"gotest.tools/v3/assert"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/changeward/changeward/pkg/cli"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/sign"
)

// The people of the tests, beside admin, and ci, which is a gate's token:
// alice and carol approve, bob proposes and could approve, dave only proposes;
// these have enrolled their keys. frank could approve, grace could propose, and eve
// has no role.
func people() []string {
	return []string{"alice:sre", "carol:sre", "bob:dev,sre", "dave:dev", "frank:sre", "grace:dev", "eve"}
}

// clusterName is what the first policy calls the cluster.
const clusterName = "demo"

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // as main does
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // gates wait more than they work
		panic(err)
	}
	os.Exit(kubetest.MainAfter(m, settle, people()...))
}

// world is a cluster with changeward in it, and the people who use it.
type world struct {
	*kubetest.Cluster
}

// shared is the world of the whole package. Tests in it run in parallel, and
// keep to a namespace and a scope of their own; those that look at all records
// have a cluster of their own (own).
func shared(t *testing.T) world { return world{kubetest.Shared(t)} }

// own is a world that no other test touches.
func own(t *testing.T) world {
	t.Helper()
	w := world{kubetest.Start(t, people()...)}
	assert.NilError(t, settle(w.Cluster))
	return w
}

// settle gives everyone a home and a key, installs changeward, and makes ci.
func settle(c *kubetest.Cluster) error {
	if err := house(c); err != nil {
		return err
	}
	w := world{c}
	for _, step := range []struct {
		who  string
		args []string
	}{
		{kubetest.Admin, []string{"install", "--name", clusterName, "--env", "prod", "--approvers", "group:sre", "--proposers", "group:dev", "--yes"}},
		{kubetest.Admin, []string{"token", "create", "ci", "--role", "propose", "--out", w.as("ci").kubeconfig()}},
		{"alice", []string{"signer", "enroll", "--yes"}},
		{"bob", []string{"signer", "enroll", "--yes"}},
		{"carol", []string{"signer", "enroll", "--yes"}},
		{"dave", []string{"signer", "enroll", "--yes"}},
	} {
		if got := w.as(step.who).start(context.Background(), nil, step.args); got.code != 0 {
			return errors.New(got.String())
		}
	}
	return nil
}

// house gives everyone a folder with a kubeconfig and an SSH key.
func house(c *kubetest.Cluster) error {
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		return err
	}
	names := []string{"ci"}
	for name := range config.Contexts {
		names = append(names, name)
	}
	for _, name := range names {
		p := world{c}.as(name)
		if err := os.MkdirAll(filepath.Join(p.home, ".ssh"), 0o700); err != nil {
			return err
		}
		if _, err := sign.CreateKey(p.key(), name); err != nil {
			return err
		}
		config.CurrentContext = name
		if err := clientcmd.WriteToFile(*config, p.kubeconfig()); err != nil {
			return err
		}
	}
	return nil
}

// person is someone at a terminal of their own: a home, a kubeconfig, a key.
type person struct {
	name, home string
	stdin      string            // what they type, or pipe in
	terminal   bool              // they can be asked
	env        map[string]string // beside HOME and CHANGEWARD_KEY
}

func (w world) as(name string) person {
	return person{name: name, home: filepath.Join(filepath.Dir(w.Kubeconfig()), "people", name)}
}

func (p person) kubeconfig() string { return filepath.Join(p.home, "kubeconfig") }
func (p person) key() string        { return filepath.Join(p.home, ".ssh", "id_ed25519") }

// typing is the person at a terminal, giving these answers.
func (p person) typing(answers string) person {
	p.stdin, p.terminal = answers, true
	return p
}

// piping is the person with this text on standard input.
func (p person) piping(text string) person {
	p.stdin = text
	return p
}

// with is the person with a variable of their environment set.
func (p person) with(name, value string) person {
	env := map[string]string{name: value}
	for k, v := range p.env {
		if _, set := env[k]; !set {
			env[k] = v
		}
	}
	p.env = env
	return p
}

func (p person) getenv(name string) string {
	if value, set := p.env[name]; set {
		return value
	}
	return map[string]string{"HOME": p.home, "CHANGEWARD_KEY": p.key()}[name]
}

// answer is what a command said, and how it ended.
type answer struct {
	args           []string
	code           int
	stdout, stderr string
}

// run runs a command of the plugin in this process. Whatever the command, it
// may not show a stack trace, and with -o json stdout is one document.
func (p person) run(t *testing.T, args ...string) answer {
	t.Helper()
	got := p.start(t.Context(), strings.NewReader(p.stdin), args)
	got.isCivil(t)
	return got
}

func (p person) start(ctx context.Context, in io.Reader, args []string) answer {
	var stdout, stderr bytes.Buffer
	streams := cli.Streams{In: in, Out: &stdout, ErrOut: &stderr, Env: p.getenv, Interactive: p.terminal, Program: "kubectl changeward"}
	if !slices.Contains(args, "--kubeconfig") {
		args = append(slices.Clone(args), "--kubeconfig", p.kubeconfig())
	}
	code := cli.Run(ctx, newRoot(streams), args, streams)
	return answer{args: args, code: code, stdout: stdout.String(), stderr: stderr.String()}
}

func (a answer) String() string {
	return fmt.Sprintf("$ %s\n%s--- stderr\n%s--- exit %d", strings.Join(a.args, " "), a.stdout, a.stderr, a.code)
}

func (a answer) isCivil(t *testing.T) {
	t.Helper()
	for _, sign := range []string{"goroutine ", "panic", "internal error", "runtime error", ".go:"} {
		assert.Assert(t, !strings.Contains(a.stdout+a.stderr, sign), "%s", a)
	}
	assert.Assert(t, !strings.Contains(a.stdout+a.stderr, "marker-"), "a Secret's value is shown\n%s", a)
	if i := slices.Index(a.args, "-o"); i >= 0 && a.args[i+1] == "json" {
		var document map[string]any
		a.json(t, &document)
		assert.Equal(t, document["apiVersion"], "changeward.dev/v1alpha1", "%s", a)
		kind, _ := document["kind"].(string)
		a.is(t, kind)
	}
}

// exits checks the exit code.
func (a answer) exits(t *testing.T, code int) answer {
	t.Helper()
	assert.Equal(t, a.code, code, "%s", a)
	return a
}

// prints checks that stdout holds each text.
func (a answer) prints(t *testing.T, texts ...string) answer {
	t.Helper()
	for _, text := range texts {
		assert.Assert(t, strings.Contains(a.stdout, text), "stdout lacks %q\n%s", text, a)
	}
	return a
}

// tells checks that stderr holds each text.
func (a answer) tells(t *testing.T, texts ...string) answer {
	t.Helper()
	for _, text := range texts {
		assert.Assert(t, strings.Contains(a.stderr, text), "stderr lacks %q\n%s", text, a)
	}
	return a
}

// json reads stdout, which must hold exactly one document.
func (a answer) json(t *testing.T, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(a.stdout))
	assert.NilError(t, decoder.Decode(into), "%s", a)
	var more any
	assert.Assert(t, errors.Is(decoder.Decode(&more), io.EOF), "more than one document\n%s", a)
}
