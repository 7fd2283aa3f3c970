package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is a control plane for this run alone.
type cluster struct {
	bin, dir   string
	kubeconfig string
	config     *rest.Config
	client     kubernetes.Interface
	process    *exec.Cmd
	large      bool          // objects of a few KB
	via        string        // kubeconfig of the contenders
	away       time.Duration // what a round trip by it takes longer
}

func start(ctx context.Context, bin, dir string) (*cluster, error) {
	c := &cluster{bin: bin, dir: dir, kubeconfig: filepath.Join(dir, "cluster", "kubeconfig")}
	c.process = exec.CommandContext(ctx, filepath.Join(bin, "controlplane"), "up", "--dir", filepath.Join(dir, "cluster"))
	c.process.Cancel = func() error { return c.process.Process.Signal(os.Interrupt) }
	c.process.Stderr = os.Stderr
	out, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, fmt.Errorf("%w: run `make controlplane`", err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "ready" {
		return nil, fmt.Errorf("the control plane did not come up: %q, %v", line, err)
	}
	if c.config, err = connect(c.kubeconfig); err != nil {
		return nil, err
	}
	c.client, err = kubernetes.NewForConfig(c.config)
	return c, err
}

func connect(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Timeout = -1, time.Minute
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

func (c *cluster) stop() {
	_ = c.process.Process.Signal(os.Interrupt)
	_ = c.process.Wait()
}

// requests is how many requests the API server has answered so far.
func (c *cluster) requests(ctx context.Context) (int, error) {
	text, err := c.client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "apiserver_request_total{") || strings.Contains(line, `resource="leases"`) {
			continue
		}
		var n float64
		if _, err := fmt.Sscan(line[strings.LastIndex(line, " ")+1:], &n); err != nil {
			return 0, fmt.Errorf("metrics: %q: %w", line, err)
		}
		total += n
	}
	return int(total), nil
}
