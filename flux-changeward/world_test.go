package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/sign"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // as main does
	os.Exit(m.Run())
}

// world is a cluster in which Flux keeps objects, with changeward in it.
type world struct {
	*kubetest.Cluster
	t *testing.T
}

// incidentWorld installs Flux's kinds and changeward. alice and carol are on call,
// and may change everything; dave may only read.
func incidentWorld(t *testing.T) world {
	t.Helper()
	w := world{kubetest.Start(t, "alice:sre", "carol:sre", "dave:dev"), t}
	crds, err := os.ReadFile(filepath.Join("..", "testdata", "cases", "stub-crds.yaml"))
	assert.NilError(t, err)
	w.Apply(t, kubetest.Admin, "flux", string(crds), "{apiVersion: v1, kind: Namespace, metadata: {name: flux-system}}")
	for _, name := range []string{"alice", "carol", "dave", kubetest.Admin} {
		w.house(name)
	}
	for role, subject := range map[string]rbacv1.Subject{
		"cluster-admin": {Kind: "Group", APIGroup: rbacv1.GroupName, Name: "sre"}, "reader": {Kind: "User", APIGroup: rbacv1.GroupName, Name: "dave"}} {
		_, err := w.Client(kubetest.Admin).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "test-" + role},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
		assert.NilError(t, err)
	}
	w.Apply(t, kubetest.Admin, "test", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}, {apiGroups: [""], resources: [configmaps], verbs: [create]}]}`)
	w.kubectl(kubetest.Admin, "install", "--name", "demo", "--env", "prod", "--approvers", "group:sre", "--proposers", "group:dev", "--yes")
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if _, err := w.owners("kustomizations").List(t.Context(), metav1.ListOptions{}); err != nil {
			return poll.Continue("%v", err)
		}
		return poll.Success()
	})
	return w
}

func (w world) home(name string) string {
	return filepath.Join(filepath.Dir(w.Kubeconfig()), "people", name)
}

func (w world) house(name string) {
	config, err := clientcmd.LoadFromFile(w.Kubeconfig())
	assert.NilError(w.t, err)
	assert.NilError(w.t, os.MkdirAll(filepath.Join(w.home(name), ".ssh"), 0o700))
	_, err = sign.CreateKey(filepath.Join(w.home(name), ".ssh", "id_ed25519"), name)
	assert.NilError(w.t, err)
	config.CurrentContext = name
	assert.NilError(w.t, clientcmd.WriteToFile(*config, filepath.Join(w.home(name), "kubeconfig")))
}

func (w world) env(name string) map[string]string {
	return map[string]string{"HOME": w.home(name), "CHANGEWARD_KEY": filepath.Join(w.home(name), ".ssh", "id_ed25519"), "KUBECONFIG": filepath.Join(w.home(name), "kubeconfig")}
}

// kubectl runs the built kubectl plugin.
func (w world) kubectl(who string, args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), filepath.Join("..", "bin", "kubectl-changeward"), args...)
	for key, value := range w.env(who) {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	said, err := cmd.CombinedOutput()
	assert.NilError(w.t, err, "%s", said)
}

// as runs a verb of incidents as a person.
func (w world) as(who string, args ...string) answer {
	w.t.Helper()
	env := w.env(who)
	args = append([]string{"incident"}, args...)
	return run(w.t, env, append(args, "--kubeconfig", env["KUBECONFIG"])...)
}

func (a answer) exits(t *testing.T, code int, texts ...string) answer {
	t.Helper()
	assert.Equal(t, a.code, code, "%s\n%s", a.stdout, a.stderr)
	for _, text := range texts {
		assert.Assert(t, strings.Contains(a.stdout+a.stderr, text), "lacks %q\n%s\n%s", text, a.stdout, a.stderr)
	}
	return a
}

// document is stdout, which must be what the published schema says of a kind.
func (a answer) document(t *testing.T, kind string) map[string]any {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(a.stdout)))
	assert.NilError(t, err, a.stderr)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiled, err := compiler.Compile(filepath.Join("..", "docs", "schema", "changeward.dev_v1alpha1.json") + "#/$defs/" + kind)
	assert.NilError(t, err)
	assert.NilError(t, compiled.Validate(document), a.stdout)
	var members map[string]any
	assert.NilError(t, json.Unmarshal([]byte(a.stdout), &members))
	return members
}

func (w world) owners(resource string) dynamic.ResourceInterface {
	client, err := dynamic.NewForConfig(w.Config(kubetest.Admin))
	assert.NilError(w.t, err)
	gvr := schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: resource}
	if resource == "helmreleases" {
		gvr = schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: resource}
	}
	return client.Resource(gvr).Namespace("flux-system")
}

// owner reads an owner of Flux.
func (w world) owner(resource, name string) *unstructured.Unstructured {
	w.t.Helper()
	object, err := w.owners(resource).Get(w.t.Context(), name, metav1.GetOptions{})
	assert.NilError(w.t, err)
	return object
}

func suspended(o *unstructured.Unstructured) bool {
	is, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	return is
}

// kustomization makes one; more is further members of it.
func (w world) kustomization(name, more string) {
	w.t.Helper()
	if more == "" {
		more = "spec: {path: ./" + name + "}"
	}
	w.Apply(w.t, kubetest.Admin, "kustomize-controller", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: "+name+
		"\n  namespace: flux-system\n"+more+"\n")
}
