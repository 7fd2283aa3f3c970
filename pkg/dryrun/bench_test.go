package dryrun_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gotest.tools/v3/assert"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
)

// BenchmarkObserveAgainstABareClient compares Observe with a client that fires
// the same requests at the same concurrency and throws the answers away.
func BenchmarkObserveAgainstABareClient(b *testing.B) {
	const concurrency = 16
	config := kubetest.Shared(b).Config(kubetest.Admin)
	namespace := kubetest.Shared(b).Namespace(b)
	for name, text := range map[string]string{
		"creates":   deployments(namespace, 500),
		"unchanged": configMaps(namespace, 500),
	} {
		if name == "unchanged" {
			kubetest.Shared(b).Apply(b, kubetest.Admin, dryrun.Manager, text)
		}
		b.Run(name, func(b *testing.B) {
			client, err := dryrun.New(config)
			assert.NilError(b, err)
			kinds, err := client.Kinds(b.Context())
			assert.NilError(b, err)
			objects, problems := manifest.Parse("bench.yaml", []byte(text))
			assert.Equal(b, len(problems), 0)
			options := dryrun.ObserveOptions{Kinds: kinds, Applier: dryrun.Changeward(false), Concurrency: concurrency,
				Masker: manifest.NewMasker([]byte("k"), "uid", false)}
			var ours, bare time.Duration
			for b.Loop() {
				start := time.Now()
				_, err := client.Observe(b.Context(), manifest.Set{Objects: objects}, options)
				assert.NilError(b, err)
				ours += time.Since(start)
				start = time.Now()
				assert.NilError(b, fire(config, objects, concurrency))
				bare += time.Since(start)
			}
			b.ReportMetric(float64(ours)/float64(bare), "x-bare-client")
			b.ReportMetric(float64(len(objects)*b.N)/ours.Seconds(), "objects/s")
		})
	}
}

func deployments(namespace string, n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d-%03d, namespace: %s}
spec:
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: "a:1", env: [{name: A, value: b}]}]}}
`, i, namespace)
	}
	return text.String()
}

// fire sends what Observe sends: a read, a dry-run apply, and for what does
// not exist a dry-run create.
func fire(config *rest.Config, objects []manifest.Object, concurrency int) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	group := errgroup.Group{}
	group.SetLimit(concurrency)
	for _, object := range objects {
		group.Go(func() error {
			body, err := json.Marshal(object.Content)
			if err != nil {
				return err
			}
			base := config.Host + "/api/v1/namespaces/" + object.Namespace() + "/configmaps"
			if object.Kind() == "Deployment" {
				base = config.Host + "/apis/apps/v1/namespaces/" + object.Namespace() + "/deployments"
			}
			const query = "?dryRun=All&fieldManager=bare&fieldValidation=Strict"
			code, err := send(client, http.MethodGet, base+"/"+object.Name(), nil)
			if err == nil {
				_, err = send(client, http.MethodPatch, base+"/"+object.Name()+query+"&force=true", body)
			}
			if err == nil && code == http.StatusNotFound {
				_, err = send(client, http.MethodPost, base+query, body)
			}
			return err
		})
	}
	return group.Wait()
}

func send(client *http.Client, method, url string, body []byte) (int, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}
