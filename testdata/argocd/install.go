package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	gitops "github.com/argoproj/argo-cd/gitops-engine/v3/pkg/utils/kube"
	"github.com/argoproj/argo-cd/v3/controller"
	statecache "github.com/argoproj/argo-cd/v3/controller/cache"
	"github.com/argoproj/argo-cd/v3/controller/metrics"
	"github.com/argoproj/argo-cd/v3/controller/sharding"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	appclientset "github.com/argoproj/argo-cd/v3/pkg/client/clientset/versioned/fake"
	applisters "github.com/argoproj/argo-cd/v3/pkg/client/listers/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/argo"
	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	cacheutil "github.com/argoproj/argo-cd/v3/util/cache"
	"github.com/argoproj/argo-cd/v3/util/cache/appstate"
	"github.com/argoproj/argo-cd/v3/util/db"
	"github.com/argoproj/argo-cd/v3/util/kube"
	"github.com/argoproj/argo-cd/v3/util/settings"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// namespace is where Argo CD would be installed.
const namespace = "argocd"

// install is an application controller without its queues. Its own namespace
// is in memory.
type install struct {
	manager  controller.AppStateManager
	settings *settings.SettingsManager
}

func newInstall(ctx context.Context, kubeconfig string, data map[string]string, app *v1alpha1.Application) (*install, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	own, err := ownObjects(config, data)
	if err != nil {
		return nil, err
	}
	client := fake.NewClientset(own...)
	manager := settings.NewSettingsManager(ctx, client, namespace)
	if err := manager.ResyncInformers(); err != nil {
		return nil, err
	}
	app.Spec.Destination.Server, app.Spec.Destination.Name = config.Host, ""
	argoDB := db.NewDB(namespace, manager, client)
	server, err := metrics.NewMetricsServer("127.0.0.1:0", applisters.NewApplicationLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)),
		func(any) (bool, string, error) { return true, "", nil }, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	tracking := argo.NewResourceTracking()
	live := statecache.NewLiveStateCache(argoDB, nil, manager, server, func(map[string]bool, corev1.ObjectReference) {},
		sharding.NewClusterSharding(argoDB, 0, 1, "legacy"), tracking)
	if err := live.Init(); err != nil {
		return nil, err
	}
	seen := appstate.NewCache(cacheutil.NewCache(cacheutil.NewInMemoryCache(time.Hour)), time.Hour)
	return &install{settings: manager, manager: controller.NewAppStateManager(argoDB, appclientset.NewSimpleClientset(app), nil, namespace,
		kube.NewKubectl(), nil, manager, live, server, seen, time.Hour, tracking, true, 0, false, normalizers.IgnoreNormalizerOpts{})}, nil
}

// rendered are the manifests as the repository server hands them over: with
// the marks of the Application, but for definitions.
func (i *install) rendered(asked request) ([]string, error) {
	label, err := i.settings.GetAppInstanceLabelKey()
	if err != nil {
		return nil, err
	}
	method, err := i.settings.GetTrackingMethod()
	if err != nil {
		return nil, err
	}
	id, err := i.settings.GetInstallationID()
	if err != nil {
		return nil, err
	}
	app := asked.Application
	var out []string
	for _, manifest := range asked.Manifests {
		object := &unstructured.Unstructured{}
		if err := json.Unmarshal(manifest, &object.Object); err != nil {
			return nil, err
		}
		if !gitops.IsCRD(object) {
			if err := argo.NewResourceTracking().SetAppInstance(object, label, app.InstanceName(namespace), app.Spec.Destination.Namespace,
				v1alpha1.TrackingMethod(method), id); err != nil {
				return nil, err
			}
		}
		text, err := json.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

// ownObjects are argocd-cm, argocd-secret, and the registered cluster.
func ownObjects(config *rest.Config, data map[string]string) ([]runtime.Object, error) {
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, err
	}
	access, err := json.Marshal(v1alpha1.ClusterConfig{BearerToken: config.BearerToken, TLSClientConfig: v1alpha1.TLSClientConfig{
		CAData: config.CAData, CertData: config.CertData, KeyData: config.KeyData}})
	if err != nil {
		return nil, fmt.Errorf("access to the cluster: %w", err)
	}
	meta := func(name string, labels ...string) metav1.ObjectMeta {
		out := metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app.kubernetes.io/part-of": "argocd"}}
		for _, label := range labels {
			out.Labels["argocd.argoproj.io/secret-type"] = label
		}
		return out
	}
	return []runtime.Object{
		&corev1.ConfigMap{ObjectMeta: meta("argocd-cm"), Data: data},
		&corev1.Secret{ObjectMeta: meta("argocd-secret"), Data: map[string][]byte{"server.secretkey": []byte("unused")}},
		&corev1.Secret{ObjectMeta: meta("cluster", "cluster"), Data: map[string][]byte{
			"name": []byte("cluster"), "server": []byte(config.Host), "config": access}},
	}, nil
}

// project allows everything.
func project() *v1alpha1.AppProject {
	everything := []v1alpha1.ClusterResourceRestrictionItem{{Group: "*", Kind: "*"}}
	return &v1alpha1.AppProject{
		ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace},
		Spec: v1alpha1.AppProjectSpec{
			SourceRepos: []string{"*"}, ClusterResourceWhitelist: everything,
			Destinations: []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}},
		},
	}
}
