// Command argosync syncs an Application with Argo CD's own code: it compares
// as the application controller does, applies as it does, and prints what came
// of each object. Tests hold plans against it.
//
//	argosync --kubeconfig FILE < request.json > result.json
//
// What Argo CD keeps in its own namespace comes with the request: nothing but
// the objects of the Application is read or written in the cluster.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/v3/pkg/sync/common"
	"github.com/argoproj/argo-cd/v3/controller"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	log "github.com/sirupsen/logrus"
)

// request is an Application as it is in the cluster, with an operation where
// the sync is not to be the automated one, the content of argocd-cm, and the
// rendered objects. Separately syncs them one by one, so that what fails for
// one of them stops no other.
type request struct {
	Application v1alpha1.Application `json:"application"`
	Settings    map[string]string    `json:"settings"`
	Manifests   []json.RawMessage    `json:"manifests"`
	Separately  bool                 `json:"separately"`
}

// most is how long one sync may take: what waits for hooks, or for health,
// waits for ever without controllers.
const most = 20 * time.Second

// result is how an operation ended, and each object of it.
type result struct {
	Phase     common.OperationPhase `json:"phase"`
	Message   string                `json:"message"`
	Resources []resource            `json:"resources"`
}

type resource struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	Message   string `json:"message"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the cluster to sync to")
	verbose := flag.Bool("v", false, "show Argo CD's own log")
	flag.Parse()
	// The real binary goes by this name, which is the field manager of writes
	// that name none.
	os.Args[0] = "argocd-application-controller"
	os.Setenv(controller.EnvVarSyncWaveDelay, "0")
	log.SetLevel(log.PanicLevel)
	if *verbose {
		log.SetLevel(log.DebugLevel)
	}
	if err := run(context.Background(), *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "argosync:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string) error {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	install, err := newInstall(ctx, kubeconfig, asked.Settings, &asked.Application)
	if err != nil {
		return err
	}
	manifests, err := install.rendered(asked)
	if err != nil {
		return err
	}
	var out []result
	for _, set := range sets(manifests, asked.Separately) {
		operation := operation(asked)
		operation.Sync.Manifests = set
		out = append(out, install.sync(ctx, asked.Application.DeepCopy(), operation))
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// sets are all manifests together, or each alone.
func sets(manifests []string, separately bool) [][]string {
	if separately {
		return slices.Collect(slices.Chunk(manifests, 1))
	}
	return [][]string{manifests}
}

// sync is one operation, until it has ended.
func (i *install) sync(ctx context.Context, app *v1alpha1.Application, operation v1alpha1.Operation) result {
	state := controller.NewOperationState(operation)
	for end := time.Now().Add(most); time.Now().Before(end); {
		i.manager.SyncAppState(ctx, app, project(), state)
		if state.Phase.Completed() {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	return resultOf(state)
}

// operation is the one of the Application, else what an automated sync does.
func operation(asked request) v1alpha1.Operation {
	operation := v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	if asked.Application.Operation != nil {
		operation = *asked.Application.Operation.DeepCopy()
	} else if policy := asked.Application.Spec.SyncPolicy; policy != nil {
		operation.Sync.SyncOptions = policy.SyncOptions
		operation.Sync.Prune = policy.IsAutomatedSyncEnabled() && policy.Automated.GetPrune()
	}
	return operation
}

func resultOf(state *v1alpha1.OperationState) result {
	out := result{Phase: state.Phase, Message: state.Message}
	if state.SyncResult == nil {
		return out
	}
	for _, r := range state.SyncResult.Resources {
		out.Resources = append(out.Resources, resource{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name,
			Status: string(r.Status), Message: r.Message})
	}
	return out
}
