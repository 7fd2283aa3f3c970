package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/testdata/server"
)

// plane is a control plane for this run alone, with people who use it.
type plane struct {
	*server.Server
	bin, dir string
}

func start(ctx context.Context, bin, dir string) (*plane, error) {
	s, err := server.Start(ctx, bin, dir, "alice:sre")
	return &plane{Server: s, bin: bin, dir: dir}, err
}

func (c *plane) key(who string) string { return filepath.Join(c.dir, who+".key") }

// config is the client of a person; traffic counts what it does, if not nil.
func (c *plane) config(who string, count *traffic) (*rest.Config, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: who}).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Timeout, config.WarningHandler = -1, time.Minute, rest.NoWarnings{}
	if count != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { count.next = next; return count })
	}
	return config, nil
}

// run runs a command of the plugin as a process of its own, as a person.
func (c *plane) run(ctx context.Context, who string, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "kubectl-changeward"), append(args, "--context", who)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "KUBECONFIG=" + c.Kubeconfig, "CHANGEWARD_KEY=" + c.key(who)}
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(begin), nil
}

// traffic counts requests, and bytes of answers as they come over the wire
// (gzip, where the server sends that).
type traffic struct {
	next            http.RoundTripper
	requests, bytes atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (t *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	t.requests.Add(1)
	answer, err := t.next.RoundTrip(r)
	if err == nil {
		answer.Body = &counted{ReadCloser: answer.Body, bytes: &t.bytes}
	}
	return answer, err
}

type counted struct {
	io.ReadCloser
	bytes *atomic.Int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}
