package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/changeward/changeward/testdata/server"
)

// cluster is a control plane for this run alone.
type cluster struct {
	bin, dir   string
	kubeconfig string
	config     *rest.Config
	client     kubernetes.Interface
	server     *server.Server
	large      bool          // objects of a few KB
	via        string        // kubeconfig of the contenders
	away       time.Duration // what a round trip by it takes longer
}

func start(ctx context.Context, bin, dir string) (*cluster, error) {
	c := &cluster{bin: bin, dir: dir}
	var err error
	if c.server, err = server.Start(ctx, bin, dir); err != nil {
		return nil, err
	}
	c.kubeconfig = c.server.Kubeconfig
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
