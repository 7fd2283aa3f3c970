// Package kubelet runs the Pods of Jobs as processes of this machine, for tests
// on a cluster without nodes: each in a mount namespace of its own, with the
// files of its image and nothing else, its environment, its volumes, its
// service account's token at the usual place, and as its user. What a Pod then
// says in its status is what a kubelet would say; the rest is the controllers'.
//
// Enter at Start, with images made by Build. Log is what the containers of a Job
// have printed.
package kubelet

import (
	"context"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/kubetest"
)

// jobName is the label by which a Pod names its Job.
const jobName = "batch.kubernetes.io/job-name"

// Kubelet runs Pods until its test ends.
type Kubelet struct {
	config *rest.Config
	client kubernetes.Interface
	images map[string]Image
	dir    string
	fail   func(format string, args ...any)

	mu      sync.Mutex
	running map[types.UID]context.CancelFunc
	logs    []Log
}

// Log is what the container of a Pod printed, and how it ended.
type Log struct {
	Namespace, Job, Pod string
	Output              string // stdout and stderr, as they came
	ExitCode            int
	Message             string // termination message
}

// Start runs the Pods of Jobs of a cluster whose images are known, by the name
// that the Pods use. A Pod of another image fails the test.
func Start(t testing.TB, cluster *kubetest.Cluster, images map[string]Image) *Kubelet {
	t.Helper()
	dir, err := os.MkdirTemp("", "kubelet-") // short: it goes into arguments of mount
	assert.NilError(t, err)
	k := &Kubelet{config: cluster.Config(kubetest.Admin), client: cluster.Client(kubetest.Admin), images: images, dir: dir,
		fail: t.Errorf, running: map[types.UID]context.CancelFunc{}}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { k.loop(ctx, &group) })
	t.Cleanup(func() {
		cancel()
		group.Wait()
		assert.Check(t, os.RemoveAll(dir))
	})
	return k
}

// Logs are those of a namespace's Jobs whose names begin so, in the order in
// which they ended.
func (k *Kubelet) Logs(namespace, job string) (out []Log) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, log := range k.logs {
		if log.Namespace == namespace && strings.HasPrefix(log.Job, job) {
			out = append(out, log)
		}
	}
	return out
}

func (k *Kubelet) loop(ctx context.Context, group *sync.WaitGroup) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		pods, err := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: jobName})
		if err != nil {
			continue // the server may be restarting
		}
		k.look(ctx, group, pods.Items)
	}
}

// look starts what waits, and stops what is gone.
func (k *Kubelet) look(ctx context.Context, group *sync.WaitGroup, pods []corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	gone := maps.Clone(k.running)
	for _, pod := range pods {
		delete(gone, pod.UID)
		if _, started := k.running[pod.UID]; started || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
			continue
		}
		own, cancel := context.WithCancel(ctx)
		k.running[pod.UID] = cancel
		group.Go(func() { k.run(own, &pod) })
	}
	for uid, cancel := range gone {
		cancel()
		delete(k.running, uid)
	}
}

// run is the life of a Pod. One that lacks what it refers to is looked at again.
func (k *Kubelet) run(ctx context.Context, pod *corev1.Pod) {
	image, known := k.images[pod.Spec.Containers[0].Image]
	if !known || len(pod.Spec.Containers) != 1 || len(pod.Spec.InitContainers) > 0 {
		k.fail("pod %s/%s: want one container of a known image, not %+v", pod.Namespace, pod.Name, pod.Spec.Containers)
		return
	}
	started := metav1.Now()
	made, err := k.prepare(ctx, pod, image)
	if err != nil {
		k.report(ctx, pod, corev1.PodPending, started, corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: err.Error()}})
		k.mu.Lock()
		delete(k.running, pod.UID)
		k.mu.Unlock()
		return
	}
	k.report(ctx, pod, corev1.PodRunning, started, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}})
	log := made.run(ctx)
	if log.ExitCode == notStarted {
		k.fail("pod %s/%s could not be started: %s", pod.Namespace, pod.Name, log.Output)
	}
	k.mu.Lock()
	k.logs = append(k.logs, log)
	k.mu.Unlock()
	phase, reason := corev1.PodSucceeded, "Completed"
	if log.ExitCode != 0 {
		phase, reason = corev1.PodFailed, "Error"
	}
	k.report(ctx, pod, phase, started, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(log.ExitCode),
		Reason: reason, Message: log.Message, StartedAt: started, FinishedAt: metav1.Now()}})
}

// report writes the status of a Pod. A Pod that is gone has none.
func (k *Kubelet) report(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, started metav1.Time, state corev1.ContainerState) {
	container := pod.Spec.Containers[0]
	status := corev1.PodStatus{Phase: phase, StartTime: &started, ContainerStatuses: []corev1.ContainerStatus{
		{Name: container.Name, Image: container.Image, ImageID: container.Image, State: state}}}
	for range 5 {
		current, err := k.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return
		}
		current.Status.Phase, current.Status.StartTime, current.Status.ContainerStatuses = status.Phase, status.StartTime, status.ContainerStatuses
		if _, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, current, metav1.UpdateOptions{}); err == nil {
			return
		}
	}
	if ctx.Err() == nil {
		k.fail("pod %s/%s: its status cannot be written", pod.Namespace, pod.Name)
	}
}
