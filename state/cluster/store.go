// Package cluster keeps records in the cluster, as immutable Secrets and
// ConfigMaps of namespace changeward. It is the only package that writes
// records to a cluster.
//
// Enter at New. Store is a state.Store; beside it, Canary tells whether the
// admission policy over records is live, and Foreign lists what lies in the
// namespace without being a record.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"

	"github.com/changeward/changeward/state"
)

// Namespace holds all records.
const Namespace = "changeward"

// pageSize is how many records one request of a List asks for.
const pageSize = 500

// Store is a state.Store over the API server.
type Store struct {
	client kubernetes.Interface
	names  metadata.Interface
	http   *http.Client
	clock  string // URL whose answer carries the server's time

	presence presence
}

// New makes the store of the cluster that config leads to, as the user that
// config names. It sends no request. client-go's own limiter is off; the
// server's 429 answers are honoured.
func New(config *rest.Config) (*Store, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client for records: %w", err)
	}
	client, err := kubernetes.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("client for records: %w", err)
	}
	clock := client.Discovery().RESTClient().Get().AbsPath("/version").URL().String()
	names, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), httpClient)
	if err != nil {
		return nil, fmt.Errorf("client for records: %w", err)
	}
	return &Store{client: client, names: names, http: httpClient, clock: clock}, nil
}

// Create implements state.Store.
func (s *Store) Create(ctx context.Context, record state.Record) (state.Record, error) {
	if err := writable(record); err != nil {
		return state.Record{}, err
	}
	made, err := s.create(ctx, record, metav1.CreateOptions{})
	if err != nil {
		return state.Record{}, s.failed(ctx, "create", record.Type, record.Name, err)
	}
	return fromObject(record.Type, made)
}

func (s *Store) create(ctx context.Context, record state.Record, options metav1.CreateOptions) (metav1.Object, error) {
	if record.Type.Secret() {
		return s.client.CoreV1().Secrets(Namespace).Create(ctx, toSecret(record), options)
	}
	return s.client.CoreV1().ConfigMaps(Namespace).Create(ctx, toConfigMap(record), options)
}

// Get implements state.Store. An object of that name that is no record of type
// t is an error of its own, not ErrNotFound: its name is taken.
func (s *Store) Get(ctx context.Context, t state.Type, name string) (state.Record, error) {
	found, err := s.get(ctx, t, name)
	if err != nil {
		return state.Record{}, s.failed(ctx, "get", t, name, err)
	}
	return fromObject(t, found)
}

func (s *Store) get(ctx context.Context, t state.Type, name string) (metav1.Object, error) {
	if t.Secret() {
		return s.client.CoreV1().Secrets(Namespace).Get(ctx, name, metav1.GetOptions{})
	}
	return s.client.CoreV1().ConfigMaps(Namespace).Get(ctx, name, metav1.GetOptions{})
}

// List implements state.Store.
func (s *Store) List(ctx context.Context, t state.Type, selector state.Selector) ([]state.Record, error) {
	var records []state.Record
	missed := s.presence.missed()
	err := each(ctx, s.objects(t.Secret()), pageSize, selected(t, selector), func(object metav1.Object) {
		if record, err := fromObject(t, object); err == nil {
			records = append(records, record)
		}
	})
	return s.listed(ctx, t, records, missed, err)
}

// listed is what a list of one type came to, in the order of names.
func (s *Store) listed(ctx context.Context, t state.Type, records []state.Record, missed int, err error) ([]state.Record, error) {
	if err == nil && len(records) == 0 {
		err = s.missingNamespace(ctx, missed)
	}
	if err != nil {
		return nil, s.failed(ctx, "list", t, "", err)
	}
	slices.SortFunc(records, func(a, b state.Record) int { return strings.Compare(a.Name, b.Name) })
	return records, nil
}

func selected(t state.Type, selector state.Selector) string {
	wanted := labels.Set{state.LabelType: string(t)}
	if selector.Plan != "" {
		wanted[state.LabelPlan] = selector.Plan
	}
	if selector.Scope != "" {
		wanted[state.LabelScope] = selector.Scope
	}
	return wanted.String()
}

// lister asks for one page of a list.
type lister func(ctx context.Context, options metav1.ListOptions) (page, error)

// each visits all objects of a list that carry the labels, page by page.
func each(ctx context.Context, list lister, size int64, wanted string, visit func(metav1.Object)) error {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		page, err := list(ctx, options)
		if err == nil && page.GetResourceVersion() == "" { // else {} would be a list of nothing
			err = errNoList
		}
		return page, err
	})
	pages.PageSize = size
	return pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: wanted}, func(item runtime.Object) error {
		object, ok := item.(metav1.Object)
		if !ok {
			return fmt.Errorf("unexpected %T in a list", item)
		}
		visit(object)
		return nil
	})
}

var errNoList = errors.New("the server's answer is no list")

type page interface {
	runtime.Object
	GetResourceVersion() string
}

// objects lists all Secrets, or all ConfigMaps, of the namespace.
func (s *Store) objects(secrets bool) lister {
	return func(ctx context.Context, options metav1.ListOptions) (page, error) {
		if secrets {
			return s.client.CoreV1().Secrets(Namespace).List(ctx, options)
		}
		return s.client.CoreV1().ConfigMaps(Namespace).List(ctx, options)
	}
}

// Delete implements state.Store.
func (s *Store) Delete(ctx context.Context, t state.Type, name string) error {
	if _, err := s.Get(ctx, t, name); err != nil {
		return err
	}
	var err error
	if t.Secret() {
		err = s.client.CoreV1().Secrets(Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	} else {
		err = s.client.CoreV1().ConfigMaps(Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	}
	return s.failed(ctx, "delete", t, name, err)
}

// failed turns an answer of the server into one of state's, keeping its text.
func (s *Store) failed(ctx context.Context, verb string, t state.Type, name string, err error) error {
	if err == nil {
		return nil
	}
	kind := "configmaps"
	if t.Secret() {
		kind = "secrets"
	}
	if apierrors.IsNotFound(err) && !namesNamespace(err) {
		if missing := s.missingNamespace(ctx, s.presence.missed()); apierrors.IsNotFound(missing) {
			err = missing
		}
	}
	what := strings.TrimSpace(fmt.Sprintf("%s %s %s", verb, t, name)) + fmt.Sprintf(" (%s in namespace %s)", kind, Namespace)
	switch {
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("%s: %w", what, state.ErrExists)
	case apierrors.IsNotFound(err) && namesNamespace(err):
		return fmt.Errorf("%s: %w: %w", what, state.ErrNoStore, err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s: %w", what, state.ErrNotFound)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: %w: %w", what, state.ErrForbidden, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func namesNamespace(err error) bool {
	status, ok := err.(apierrors.APIStatus)
	return ok && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}

var _ state.Store = (*Store)(nil)
