package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Roles of a token.
const (
	TokenPropose = "propose" // a gate
	TokenApprove = "approve" // counts as a person for decisions and keys
)

// How long a new token is tried, and how often.
const (
	tokenTimeout  = 10 * time.Second
	tokenInterval = 100 * time.Millisecond
)

// TokenOptions describe a service account for a robot.
type TokenOptions struct {
	Name     string
	Role     string        // TokenPropose or TokenApprove
	Duration time.Duration // asked for, 10 minutes at least; the server may give less
	Scope    []string      // of a gate: namespaces it may plan; empty: the whole cluster
}

// Token is a kubeconfig with a token in it, and when that dies.
type Token struct {
	Account    string // system:serviceaccount:…
	Kubeconfig []byte
	Expires    time.Time
}

// CreateToken makes the service account if it is not there, binds its roles
// and asks for a token. The namespaces and roles of an install must be there.
func CreateToken(ctx context.Context, cluster Cluster, options TokenOptions) (Token, error) {
	namespace, bindings, err := tokenObjects(options)
	if err != nil {
		return Token{}, err
	}
	c, err := newClient(cluster)
	if err != nil {
		return Token{}, err
	}
	items, err := newItems(append([]runtime.Object{&corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: meta(namespace, options.Name)}}, bindings...))
	if err != nil {
		return Token{}, err
	}
	for i := range items {
		if err := c.observe(ctx, &items[i]); err != nil {
			return Token{}, err
		}
		if err := c.ensure(ctx, &items[i]); err != nil {
			return Token{}, err
		}
	}
	return c.token(ctx, cluster.Config, namespace, options)
}

func tokenObjects(options TokenOptions) (namespace string, bindings []runtime.Object, err error) {
	if problems := validation.IsDNS1123Label(options.Name); len(problems) > 0 {
		return "", nil, fmt.Errorf("token name %q: %s", options.Name, problems[0])
	}
	switch options.Role {
	case TokenApprove:
		if len(options.Scope) > 0 {
			return "", nil, errors.New("only a token that proposes plans anything, so only that one has a scope")
		}
		return NamespaceApprovers, []runtime.Object{tokenBinding(Namespace, RoleApprove, NamespaceApprovers, options.Name)}, nil
	case TokenPropose:
		return NamespaceGate, append([]runtime.Object{
			tokenBinding(Namespace, RolePropose, NamespaceGate, options.Name),
			tokenBinding(NamespaceGate, RoleGate, NamespaceGate, options.Name),
		}, tokenPlan(options)...), nil
	}
	return "", nil, fmt.Errorf("unknown role %q: %s or %s", options.Role, TokenPropose, TokenApprove)
}

func tokenPlan(options TokenOptions) []runtime.Object {
	if len(options.Scope) == 0 {
		return []runtime.Object{&rbacv1.ClusterRoleBinding{TypeMeta: typeMeta("ClusterRoleBinding"),
			ObjectMeta: tokenMeta("", RolePlan, options.Name),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacGroup, Kind: "ClusterRole", Name: RolePlan},
			Subjects:   account(NamespaceGate, options.Name)}}
	}
	var all []runtime.Object
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(options.Scope))) {
		binding := tokenBinding(namespace, RolePlan, NamespaceGate, options.Name)
		binding.RoleRef.Kind = "ClusterRole"
		all = append(all, binding)
	}
	return all
}

func tokenBinding(namespace, role, accountNamespace, name string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{TypeMeta: typeMeta("RoleBinding"), ObjectMeta: tokenMeta(namespace, role, name),
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacGroup, Kind: "Role", Name: role},
		Subjects: account(accountNamespace, name)}
}

func (c client) token(ctx context.Context, config *rest.Config, namespace string, options TokenOptions) (Token, error) {
	seconds := int64(options.Duration / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	made, err := c.typed.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, options.Name, request, metav1.CreateOptions{})
	if err != nil {
		return Token{}, fmt.Errorf("request a token for ServiceAccount/%s/%s: %w", namespace, options.Name, err)
	}
	kubeconfig, err := kubeconfig(config, options.Name, made.Status.Token)
	if err != nil {
		return Token{}, err
	}
	if err := c.note(ctx, namespace, options.Name, made.Status.ExpirationTimestamp.Time); err != nil {
		return Token{}, err
	}
	if err := awaitToken(ctx, config, made.Status.Token, options.Role); err != nil {
		return Token{}, fmt.Errorf("try the token of ServiceAccount/%s/%s: %w", namespace, options.Name, err)
	}
	return Token{Account: "system:serviceaccount:" + namespace + ":" + options.Name, Kubeconfig: kubeconfig,
		Expires: made.Status.ExpirationTimestamp.UTC()}, nil
}

// note writes down when the newest token of a service account ends: the server
// keeps no list of them.
func (c client) note(ctx context.Context, namespace, name string, end time.Time) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, annotationExpires, end.UTC().Format(time.RFC3339))
	if _, err := c.typed.CoreV1().ServiceAccounts(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: partOf}); err != nil {
		return fmt.Errorf("note the end of the token on ServiceAccount/%s/%s: %w", namespace, name, err)
	}
	return nil
}

// awaitToken waits until the server takes the token and knows its role, which
// is a moment after it has made them. One that takes longer is not waited for.
func awaitToken(ctx context.Context, config *rest.Config, token, role string) error {
	theirs := rest.AnonymousClientConfig(config)
	theirs.BearerToken, theirs.QPS = token, -1
	typed, err := kubernetes.NewForConfig(theirs)
	if err != nil {
		return err
	}
	right := authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: "create", Resource: "secrets"}
	if role == TokenApprove {
		right.Resource = "configmaps"
	}
	err = wait.PollUntilContextTimeout(ctx, tokenInterval, tokenTimeout, true, func(ctx context.Context) (bool, error) {
		allowed, err := client{typed: typed}.may(ctx, right)
		if apierrors.IsUnauthorized(err) {
			return false, nil
		}
		return allowed, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

// kubeconfig leads to the server of config with nothing but the token.
func kubeconfig(config *rest.Config, user, token string) ([]byte, error) {
	authority := config.CAData
	if len(authority) == 0 && config.CAFile != "" {
		var err error
		if authority, err = os.ReadFile(config.CAFile); err != nil {
			return nil, fmt.Errorf("read the server's certificate authority: %w", err)
		}
	}
	const name = "changeward"
	out := api.NewConfig()
	out.Clusters[name] = &api.Cluster{Server: config.Host, CertificateAuthorityData: authority,
		InsecureSkipTLSVerify: config.Insecure, TLSServerName: config.ServerName}
	out.AuthInfos[user] = &api.AuthInfo{Token: token}
	out.Contexts[name] = &api.Context{Cluster: name, AuthInfo: user}
	out.CurrentContext = name
	return clientcmd.Write(*out)
}
