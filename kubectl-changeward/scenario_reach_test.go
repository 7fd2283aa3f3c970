package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

// fails runs a command that cannot reach what it needs, in text and as JSON.
func (p person) fails(t *testing.T, reason string, args ...string) answer {
	t.Helper()
	var document render.Error
	p.run(t, append(args, "-o", "json")...).exits(t, 1).json(t, &document)
	assert.Equal(t, document.Kind, "Error")
	assert.Equal(t, document.Reason, reason)
	assert.Equal(t, document.ExitCode, 1)
	got := p.run(t, args...).exits(t, 1).tells(t, "error: ")
	assert.Equal(t, got.stdout, "")
	for _, hint := range document.Hints {
		got.tells(t, "hint: "+hint+"\n")
	}
	return got
}

func TestAServerThatCannotBeReachedIsNamed(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	for _, verb := range [][]string{{"gate", "-f", s.dir}, {"plan", "-f", s.dir}, {"list"}, {"approve", "1", "--yes"}, {"doctor"}, {"install", "--yes"}} {
		s.as("ci").fails(t, "Unreachable", append(verb, "--server", "https://127.0.0.1:1")...).
			tells(t, "the server cannot be reached", "127.0.0.1:1", "hint: is this the right cluster, and is the network up?")
	}
}

func TestAKubeconfigThatLeadsNowhereIsNamed(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.as("ci").fails(t, "NoKubeconfig", "gate", "-f", s.dir, "--kubeconfig", "/nowhere").tells(t, "/nowhere: no such file or directory", "hint: name another file")
	s.as("ci").fails(t, "NoKubeconfig", "list", "--context", "prod").tells(t, `context "prod" does not exist`, "hint: the kubeconfig has these contexts: changeward")
	broken := filepath.Join(t.TempDir(), "kubeconfig")
	assert.NilError(t, os.WriteFile(broken, []byte("{apiVersion: v1, kind: Config, clusters: 7}"), 0o600))
	s.as("ci").fails(t, "NoKubeconfig", "list", "--kubeconfig", broken).tells(t, "error: read kubeconfig: ", broken)
}

// token is one of a service account, as the API server makes them, that lives
// until then.
func (w world) token(t *testing.T, namespace, account string, until time.Time) string {
	t.Helper()
	block, _ := pem.Decode(read(t, filepath.Join(filepath.Dir(w.Kubeconfig()), "run", "sa.key")))
	key, err := x509.ParseECPrivateKey(block.Bytes)
	assert.NilError(t, err)
	object, err := w.Client(kubetest.Admin).CoreV1().ServiceAccounts(namespace).Get(t.Context(), account, metav1.GetOptions{})
	assert.NilError(t, err)
	const issuer = "https://kubernetes.default.svc"
	from := until.Add(-24 * time.Hour).Unix()
	part := func(v any) string {
		data, err := json.Marshal(v)
		assert.NilError(t, err)
		return base64.RawURLEncoding.EncodeToString(data)
	}
	signed := part(map[string]any{"alg": "ES256"}) + "." + part(map[string]any{"iss": issuer, "aud": []string{issuer}, "iat": from, "nbf": from,
		"exp": until.Unix(), "sub": "system:serviceaccount:" + namespace + ":" + account, "kubernetes.io": map[string]any{"namespace": namespace,
			"serviceaccount": map[string]any{"name": account, "uid": object.UID}}})
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	assert.NilError(t, err)
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	return data
}

func TestCredentialsThatHaveExpiredAreSaidToBeSo(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	bearer := func(token string) string { return s.withUser(t, &api.AuthInfo{Token: token}) }
	fresh := bearer(s.token(t, install.NamespaceGate, "ci", time.Now().Add(time.Hour)))
	s.as("ci").run(t, "gate", "-f", s.dir, "--kubeconfig", fresh).exits(t, 2)
	expired := bearer(s.token(t, install.NamespaceGate, "ci", time.Now().Add(-time.Hour)))
	for _, verb := range [][]string{{"gate", "-f", s.dir}, {"list"}, {"doctor"}} {
		s.as("ci").fails(t, "Unauthorized", append(verb, "--kubeconfig", expired)...).
			tells(t, "the credentials are not accepted, perhaps expired", "hint: log in again")
	}
	helper := s.withUser(t, &api.AuthInfo{Exec: &api.ExecConfig{Command: "false", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}})
	s.as("ci").fails(t, "Unauthorized", "list", "--kubeconfig", helper).tells(t, "getting credentials: ", "hint: log in again")
	assert.DeepEqual(t, counts(s.records(t)), map[string]int{"plan": 1, "audit": 1})
}

// withUser is a kubeconfig to this cluster with these credentials.
func (w world) withUser(t *testing.T, user *api.AuthInfo) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(w.as("ci").kubeconfig())
	assert.NilError(t, err)
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo] = user
	path := filepath.Join(t.TempDir(), "kubeconfig")
	assert.NilError(t, clientcmd.WriteToFile(*config, path))
	return path
}

func TestWhatIsForbiddenOnOneObjectHidesNoOther(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	path := s.write(t, "deployment.yaml", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: NS}, spec: {selector: {matchLabels: {a: b}},
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: web}]}}}}`)
	got := s.gate(t, "dave").exits(t, 1).prints(t, `data.feature_new_cart: "false" → "true"`, "incomplete: 1 problem",
		"✗ "+s.namespace+"/Deployment/web (Forbidden)\n     "+path+":1: ", `User "dave" cannot `, "policy: could not decide")
	got.tells(t, "error: the plan is incomplete: 1 problem\n")
	result := s.judged(t, "dave", 1)
	assert.Equal(t, result.Plan.Errors[0].Reason, "Forbidden")
	assert.Assert(t, !result.Plan.Complete && result.Change == nil)
	assert.Equal(t, len(s.records(t)), 0, "nothing to approve")
	s.gate(t, "ci").exits(t, 2)
}

func TestWhoHasNoRoleIsToldSo(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	id := s.proposed(t).ID
	for _, verb := range [][]string{{"gate", "-f", s.dir}, {"list"}, {"show", id}, {"approve", id, "--yes"}, {"policy", "show"}} {
		s.as("eve").fails(t, "Forbidden", verb...).tells(t, `User "eve" cannot `, "hint: an admin gives you a role by naming you in the policy")
	}
	// Who may look and plan, but not propose, puts nothing forward.
	_, err := s.Client(kubetest.Admin).RbacV1().RoleBindings(s.namespace).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "carol"},
		RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "edit"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "carol"}}}, metav1.CreateOptions{})
	assert.NilError(t, err)
	s.write(t, "shop.yaml", s.config("other"))
	s.as("carol").fails(t, "Forbidden", "gate", "-f", s.dir).tells(t, "cw-plan-", `User "carol" cannot create resource "secrets"`)
	s.as("dave").fails(t, "Forbidden", "policy", "set", "-f", s.write(t, "policy.yaml", s.as("dave").run(t, "policy", "show").stdout+"# more\n"), "--yes")
}

func TestWhoHasNoKeyIsToldHowToGetOne(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	id, home := s.proposed(t).ID, t.TempDir()
	keyless := s.as("alice").with("CHANGEWARD_KEY", "").with("HOME", home)
	keyless.fails(t, "NoKey", "approve", id, "--yes").tells(t, "error: no SSH key found\nhint: make one with `kubectl changeward signer create`, or name yours with --key\n")
	named := s.as("alice").run(t, "approve", id, "--yes", "--key", filepath.Join(home, "missing")).exits(t, 1)
	assert.Assert(t, cmp.Contains(named.stderr, filepath.Join(home, "missing")))
	keyless.run(t, "signer", "create").exits(t, 0).prints(t, "made key SHA256:", filepath.Join(home, ".ssh", "id_ed25519"))
	keyless.run(t, "signer", "create").exits(t, 1).tells(t, "there is a key already", "hint: use it")
	keyless.run(t, "approve", id, "--yes").exits(t, 1).tells(t, "is not enrolled for alice", "hint: a further key is vouched for by an enrolled one")
	assert.Equal(t, counts(s.records(t))["decision"], 0)
}

func TestWhoComesFromAnExecutorIsToldWhereRecordsLive(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	says := []string{"there is no executor: plans and approvals are records in the cluster itself, in namespace changeward\n",
		"; your kubeconfig is all that is needed\n", "hint: to keep records in files instead, use --state dir:PATH\n"}
	for _, verb := range [][]string{{"gate", "-f", s.dir}, {"approve", "1", "--yes"}, {"list"}} {
		s.as("ci").fails(t, "Executor", append(verb, "--executor", "https://changeward.example.com")...).tells(t, says...).
			tells(t, "error: --executor: ", "hint: leave out --executor; ")
		s.as("ci").with("CHANGEWARD_EXECUTOR_URL", "https://changeward.example.com").fails(t, "Executor", verb...).tells(t, says...).
			tells(t, "error: CHANGEWARD_EXECUTOR_URL: ", "hint: leave out CHANGEWARD_EXECUTOR_URL; ")
	}
	assert.Equal(t, len(s.records(t)), 0)
}
