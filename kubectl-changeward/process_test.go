package main

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/pkg/kubetest"
)

// bin is the folder of what `make build controlplane` has made.
func bin(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", "bin"))
	assert.NilError(t, err)
	_, err = os.Stat(filepath.Join(folder, "kubectl-changeward"))
	assert.NilError(t, err, "run `make build`")
	return folder
}

// environ is the person's environment, and nothing of the machine's but PATH,
// with bin in front.
func (p person) environ(t *testing.T) []string {
	t.Helper()
	env := []string{"PATH=" + bin(t) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + p.home,
		"KUBECONFIG=" + p.kubeconfig(), "CHANGEWARD_KEY=" + p.key()}
	for name, value := range p.env {
		env = append(env, name+"="+value)
	}
	return env
}

// command is the built plugin as a process of its own.
func (p person) command(t *testing.T, args ...string) icmd.Cmd {
	t.Helper()
	return icmd.Cmd{Command: append([]string{filepath.Join(bin(t), "kubectl-changeward")}, args...), Env: p.environ(t)}
}

// process runs the built plugin to its end, as the person.
func (p person) process(t *testing.T, args ...string) answer {
	t.Helper()
	result := icmd.RunCmd(p.command(t, args...))
	got := answer{args: args, code: result.ExitCode, stdout: result.Stdout(), stderr: result.Stderr()}
	got.isCivil(t)
	return got
}

// through is the person with a kubeconfig that leads through a proxy, which
// hands each request to handle together with what would forward it. A client
// certificate ends at the proxy, so the proxy shows it again.
func (w world) through(t *testing.T, p person, handle func(out http.ResponseWriter, r *http.Request, forward http.HandlerFunc)) person {
	t.Helper()
	config := rest.AnonymousClientConfig(w.Config(kubetest.Admin))
	if p.name != "ci" {
		config = w.Config(p.name)
	}
	transport, err := rest.TransportFor(config)
	assert.NilError(t, err)
	server, err := url.Parse(config.Host)
	assert.NilError(t, err)
	quiet := log.New(io.Discard, "", 0) // clients that die are what this is for
	behind := &httputil.ReverseProxy{Transport: transport, ErrorLog: quiet, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) }}
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { handle(out, r, behind.ServeHTTP) }))
	proxy.Config.ErrorLog = quiet
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	theirs, err := clientcmd.LoadFromFile(p.kubeconfig())
	assert.NilError(t, err)
	for _, cluster := range theirs.Clusters {
		cluster.Server = proxy.URL
		cluster.CertificateAuthority = ""
		cluster.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	assert.NilError(t, clientcmd.WriteToFile(*theirs, path))
	return p.with("KUBECONFIG", path)
}
