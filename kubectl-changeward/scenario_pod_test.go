package main

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
)

// mountPoint is where every Pod finds its service account. client-go knows no
// other place.
const mountPoint = "/var/run/secrets/kubernetes.io/serviceaccount"

// pod is where a process finds a service account's files, the server's address
// in its environment, no home and no kubeconfig.
type pod struct {
	files  string
	prefix []string // of its commands
	env    []string
}

func (w world) pod(t *testing.T, namespace, token string) pod {
	t.Helper()
	config := w.Config(kubetest.Admin)
	server, err := url.Parse(config.Host)
	assert.NilError(t, err)
	authority := config.CAData
	if len(authority) == 0 {
		authority = read(t, config.CAFile)
	}
	p := pod{files: t.TempDir(), env: []string{"PATH=" + os.Getenv("PATH"),
		"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port()}}
	for name, content := range map[string]string{"token": token, "ca.crt": string(authority), "namespace": namespace} {
		assert.NilError(t, os.WriteFile(filepath.Join(p.files, name), []byte(content), 0o600))
	}
	p.prefix = mounted(t, p.files)
	return p
}

func (p pod) run(t *testing.T, args ...string) answer {
	t.Helper()
	command := slices.Concat(p.prefix, []string{filepath.Join(bin(t), "kubectl-changeward")}, args)
	result := icmd.RunCmd(icmd.Cmd{Command: command, Env: p.env})
	got := answer{args: args, code: result.ExitCode, stdout: result.Stdout(), stderr: result.Stderr()}
	got.isCivil(t)
	return got
}

// mounted brings the files to the mount point. Who may make that folder does,
// for the time of the test; anyone else gets a mount namespace, where the
// returned command runs what follows it.
func mounted(t *testing.T, files string) []string {
	t.Helper()
	_, err := os.Stat(mountPoint)
	if errors.Is(err, fs.ErrNotExist) {
		top := filepath.Dir(filepath.Dir(mountPoint))
		_, err := os.Stat(top)
		fresh := errors.Is(err, fs.ErrNotExist)
		if err := os.MkdirAll(filepath.Dir(mountPoint), 0o755); err == nil {
			t.Cleanup(func() {
				assert.NilError(t, os.Remove(mountPoint))
				_ = os.Remove(filepath.Dir(mountPoint)) // not empty where others use it
				if fresh {
					_ = os.Remove(top)
				}
			})
			assert.NilError(t, os.Symlink(files, mountPoint))
			return nil
		}
	}
	script := strings.NewReplacer("MOUNT", mountPoint, "FILES", files).Replace(
		`mount -t tmpfs none /run && mkdir -p MOUNT && cp FILES/* MOUNT && exec "$@"`)
	return []string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"}
}

func TestInAPodTheServiceAccountIsUsedWithItsNamespace(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	token := s.Token(t, install.NamespaceGate, "ci")
	path := s.write(t, "shop.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop-config}, data: {feature_new_cart: "true"}}`)
	p, gate := s.pod(t, s.namespace, token), []string{"gate", "-f", path, "--scope", s.dir}
	got := p.run(t, gate...).exits(t, 2)
	got.prints(t, "~ "+s.namespace+"/ConfigMap/shop-config (update)", " · demo (prod) · ")
	assert.Equal(t, s.request(t, idOf(t, got)).Proposer.Username, "system:serviceaccount:changeward-gate:ci")
	p.run(t, append(gate, "--target", clusterName)...).exits(t, 2)
	p.run(t, append(gate, "--target", "prod-us", "-o", "json")...).exits(t, 1).
		tells(t, `unknown target "prod-us": it is not stored, and this cluster is demo`)
	assert.NilError(t, os.WriteFile(filepath.Join(p.files, "token"), []byte("not a token"), 0o600))
	p.run(t, gate...).exits(t, 1).tells(t, "error: ", "nauthorized")
}
