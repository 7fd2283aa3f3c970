package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// startTimeout is generous: a loaded CI machine is slow, a dead component is
// noticed at once anyway.
const startTimeout = 3 * time.Minute

// up runs a control plane until ctx ends or a component dies.
func up(ctx context.Context, o options) error {
	if err := wanted(o); err != nil {
		return err
	}
	unlock, err := prepare(o.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if o.untilEOF {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }()
	}
	restart := make(chan os.Signal, 1)
	signal.Notify(restart, syscall.SIGHUP)
	plane := &plane{options: o, died: make(chan *process)}
	defer plane.stop()
	if err := plane.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop while starting
		}
		return err
	}
	fmt.Println("ready")
	return plane.wait(ctx, restart)
}

func wanted(o options) error {
	errs := []error{available(apiServer)} // where that is, etcd is too
	if o.controllers {
		errs = append(errs, available(controllers))
	}
	return errors.Join(errs...)
}

// prepare makes the folder ours alone.
func prepare(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s is in use by another control plane", dir)
	}
	run := filepath.Join(dir, runDir)
	if err := errors.Join(os.RemoveAll(run), os.MkdirAll(run, 0o700)); err != nil {
		lock.Close()
		return nil, err
	}
	return func() {
		_ = os.RemoveAll(run)
		_ = os.Remove(filepath.Join(dir, "kubeconfig"))
		lock.Close()
	}, nil
}

// plane is a control plane: its processes in the order of their start.
type plane struct {
	options
	processes []*process
	died      chan *process
	port      int // of the API server
	client    *client
}

func (p *plane) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	if err := writePKI(filepath.Join(p.dir, runDir), ca); err != nil {
		return err
	}
	if _, err := p.launch(etcd, etcdFlags()); err != nil {
		return err
	}
	admin := user{name: adminUser, groups: []string{"system:masters"}}
	client, err := newClient(ca, admin)
	if err != nil {
		return err
	}
	p.client = client
	if err := p.startAPIServer(ctx, client); err != nil {
		return err
	}
	if p.controllers {
		if err := p.startControllers(ctx, client, ca); err != nil {
			return err
		}
	}
	return writeKubeconfig(filepath.Join(p.dir, "kubeconfig"), client.server, ca, append([]user{admin}, p.users...)...)
}

func (p *plane) launch(name string, args []string) (*process, error) {
	started, err := startProcess(p.dir, name, args)
	if err == nil {
		p.processes = append(p.processes, started)
		go func() {
			<-started.done
			p.died <- started
		}()
	}
	return started, err
}

// startAPIServer tries again with another port when the one it found free was
// taken before the server got to it.
func (p *plane) startAPIServer(ctx context.Context, client *client) error {
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		p.port = port
		client.server = "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		server, err := p.launch(apiServer, apiServerFlags(port))
		if err != nil {
			return err
		}
		err = p.until(ctx, client.serves)
		taken := bytes.Contains(server.tail(100), []byte("address already in use"))
		if err == nil || !server.ended() || !taken || attempt == 5 {
			return err
		}
		p.processes = p.processes[:len(p.processes)-1]
	}
}

func (p *plane) startControllers(ctx context.Context, client *client, ca *authority) error {
	path := filepath.Join(p.dir, runDir, "controllers.kubeconfig")
	if err := writeKubeconfig(path, client.server, ca, user{name: "system:kube-controller-manager"}); err != nil {
		return err
	}
	if _, err := p.launch(controllers, controllerFlags(filepath.Base(path))); err != nil {
		return err
	}
	return p.until(ctx, client.controlled)
}

// until polls check, and fails as soon as a component dies.
func (p *plane) until(ctx context.Context, check func(context.Context) error) error {
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		for _, process := range p.processes {
			if process.ended() {
				return process.failure()
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready after %s: %w", startTimeout, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// wait returns nil when asked to stop, or the failure of the first component
// that dies. When asked to restart, it kills the API server and starts it again
// in the same place, as an upgrade or a crash would.
func (p *plane) wait(ctx context.Context, restart <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case process := <-p.died:
			if slices.Contains(p.processes, process) {
				return process.failure()
			}
		case <-restart:
			if err := p.restartAPIServer(ctx); err != nil {
				return err
			}
			fmt.Println("ready")
		}
	}
}

func (p *plane) restartAPIServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	at := slices.IndexFunc(p.processes, func(process *process) bool { return process.name == apiServer })
	server := p.processes[at]
	p.processes = slices.Delete(p.processes, at, at+1)
	server.stop()
	if _, err := p.launch(apiServer, apiServerFlags(p.port)); err != nil {
		return err
	}
	return p.until(ctx, p.client.serves)
}

func (p *plane) stop() {
	for i := len(p.processes) - 1; i >= 0; i-- {
		p.processes[i].stop()
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func etcdFlags() []string {
	return []string{
		"--data-dir=" + etcdData, "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=" + etcdClient, "--advertise-client-urls=" + etcdClient,
		"--listen-peer-urls=" + etcdPeer, "--initial-advertise-peer-urls=" + etcdPeer,
		"--initial-cluster=default=" + etcdPeer,
	}
}

func apiServerFlags(port int) []string {
	return []string{
		"--etcd-servers=" + etcdClient,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key", "--client-ca-file=ca.crt",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=sa.key", "--service-account-signing-key-file=sa.key",
		"--authorization-mode=RBAC", "--allow-privileged=true",
		"--service-cluster-ip-range=10.0.0.0/16", "--endpoint-reconciler-type=none",
	}
}

// controllerFlags choose what acts on objects without a node. Each controller
// has its own service account, as in a real cluster: admission sees their names.
func controllerFlags(kubeconfig string) []string {
	names := []string{
		"namespace-controller", "garbage-collector-controller", "job-controller", "cronjob-controller",
		"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
		"disruption-controller", "resourcequota-controller",
		"serviceaccount-controller", "serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
		"clusterrole-aggregation-controller", "validatingadmissionpolicy-status-controller",
		"persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
		"ttl-after-finished-controller",
	}
	return []string{
		"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=1000", "--kube-api-burst=1000", // nothing to protect here
		"--controllers=" + strings.Join(names, ","), "--use-service-account-credentials=true",
		"--service-account-private-key-file=sa.key", "--root-ca-file=ca.crt",
	}
}
