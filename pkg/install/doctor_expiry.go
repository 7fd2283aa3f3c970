package install

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/policy"
)

// soon is how long before its end something is named.
const soon = 14 * 24 * time.Hour

// expiry looks at the ends of policy and roster.
func (d examiner) expiry(ctx context.Context) Check {
	if d.history.policy == nil {
		return Check{CheckExpiry, StatusOK, "", "there is no policy that could expire", ""}
	}
	now, err := d.cluster.Store.Now(ctx)
	if err != nil {
		return unchecked(CheckExpiry, err)
	}
	ends := []struct {
		what, fix string
		at        time.Time
	}{{"the policy", "set a policy with a later `expires`: `kubectl changeward policy set`", d.history.policy.Expires}}
	if _, until, there := d.history.book.Roster(); there && d.history.policy.Approvals.Enrollment == policy.EnrollmentRoster {
		ends = append(ends, ends[0])
		ends[1].what, ends[1].fix, ends[1].at = "the roster", "set a roster with a later `expires`: `kubectl changeward signer roster set`", until
	}
	worst := Check{CheckExpiry, StatusOK, "", "neither policy nor roster expires within two weeks", ""}
	for _, end := range ends {
		switch at := end.at.UTC().Format(time.RFC3339); {
		case end.at.IsZero():
		case !now.Before(end.at):
			return Check{CheckExpiry, StatusFail, ReasonExpired, end.what + " expired at " + at + ": nothing passes", end.fix}
		case end.at.Sub(now) < soon:
			worst = Check{CheckExpiry, StatusWarn, ReasonExpiresSoon, end.what + " expires at " + at + ": nothing passes from then on", end.fix}
		}
	}
	return worst
}

// keys names the keys of which nothing proves whose they are.
func (d examiner) keys(ctx context.Context) Check {
	if d.history.policy == nil || d.history.policy.Approvals.Identity == policy.IdentitySigned {
		return Check{CheckKeys, StatusOK, "", "no key rests on the API server's word", ""}
	}
	standing := Attest(ctx, d.cluster, d.history.epochs)
	if standing.Void != "" && standing.Void != ReasonCanaryForbidden {
		return unchecked(CheckKeys, fmt.Errorf("while the admission policies may be down (%s), every key that only the API server vouched for is in doubt", standing.Void))
	}
	book, err := d.history.opened.Read(d.history.opened.Epochs(), func(at time.Time) string {
		if at.Before(standing.From) {
			return "BeforeEpoch"
		}
		return ""
	})
	if err != nil {
		return unchecked(CheckKeys, err)
	}
	var doubted []string
	for _, e := range book.Ring.Entries() {
		if e.Doubt != "" && e.Revoked == nil {
			doubted = append(doubted, e.Fingerprint+" of "+e.Person)
		}
	}
	if len(doubted) > 0 {
		return Check{CheckKeys, StatusWarn, ReasonKeysInDoubt, "approvals with these keys do not count: " + strings.Join(doubted, ", "),
			"their owners run `kubectl changeward signer enroll` again, or an admin `signer countersign`"}
	}
	return Check{CheckKeys, StatusOK, "", fmt.Sprintf("%d keys, none in doubt", len(book.Ring.Entries())), ""}
}

// tokens looks at those of robots: kept ones never die, and what `token
// create` noted says when the others do; so does the caller's own.
func (d examiner) tokens(ctx context.Context) Check {
	now, err := d.cluster.Store.Now(ctx)
	if err != nil {
		return unchecked(CheckTokens, err)
	}
	config := d.cluster.Config
	if end := expiryOf(config.BearerToken); config.BearerTokenFile == "" && !end.IsZero() && end.Sub(now) < soon {
		return Check{CheckTokens, StatusWarn, ReasonTokenDies, "your own token expires at " + end.Format(time.RFC3339), "make a new one: `kubectl changeward token create`"}
	}
	forever, dying, err := d.robots(ctx, now)
	if err != nil {
		return unchecked(CheckTokens, err)
	}
	switch {
	case len(forever) > 0:
		return Check{CheckTokens, StatusWarn, ReasonTokenForever, "these hold tokens that never expire: " + strings.Join(forever, ", "),
			"delete these Secrets, and make tokens with `kubectl changeward token create`"}
	case len(dying) > 0:
		return Check{CheckTokens, StatusWarn, ReasonTokenDies, "the newest tokens of these end: " + strings.Join(dying, ", "),
			"make new ones with `kubectl changeward token create`, or delete the service accounts"}
	}
	return Check{CheckTokens, StatusOK, "", "no token is kept in the cluster, and none that `token create` made ends within two weeks", ""}
}

// robots finds tokens that are kept for ever, and service accounts whose newest
// token ends soon, or has.
func (d examiner) robots(ctx context.Context, now time.Time) (forever, dying []string, err error) {
	for _, namespace := range []string{NamespaceGate, NamespaceApprovers} {
		kept, err := d.client.typed.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("type", string(corev1.SecretTypeServiceAccountToken)).String()})
		if err != nil {
			return nil, nil, fmt.Errorf("list Secrets of namespace %s: %w", namespace, err)
		}
		for _, secret := range kept.Items {
			forever = append(forever, "Secret/"+namespace+"/"+secret.Name)
		}
		accounts, err := d.client.typed.CoreV1().ServiceAccounts(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, nil, fmt.Errorf("list service accounts of namespace %s: %w", namespace, err)
		}
		for _, account := range accounts.Items {
			end, err := time.Parse(time.RFC3339, account.Annotations[annotationExpires])
			if err == nil && end.Sub(now) < soon {
				dying = append(dying, fmt.Sprintf("ServiceAccount/%s/%s at %s", namespace, account.Name, end.Format(time.RFC3339)))
			}
		}
	}
	return forever, dying, nil
}

// expiryOf reads when a service account's token ends; zero where it does not
// say. It decides nothing, so the signature is not looked at.
func expiryOf(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	var claims struct {
		Expires int64 `json:"exp"`
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(content, &claims) != nil || claims.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(claims.Expires, 0).UTC()
}

// hooks says that an Argo CD hook is no border, where there is an Argo CD.
func (d examiner) hooks(ctx context.Context) Check {
	applications := schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	_, err := d.client.typed.Discovery().ServerResourcesForGroupVersion(applications.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return Check{CheckHooks, StatusOK, "", "no Argo CD syncs into this cluster from within", ""}
	}
	if err != nil {
		return unchecked(CheckHooks, fmt.Errorf("discover Argo CD: %w", err))
	}
	list, err := d.client.dynamic.Resource(applications).List(ctx, metav1.ListOptions{})
	if err != nil {
		return unchecked(CheckHooks, fmt.Errorf("list the Applications of Argo CD: %w", err))
	}
	message := fmt.Sprintf("Argo CD (%d Applications) skips a PreSync hook in a selective sync, an apply-strategy sync and a self-heal", len(list.Items))
	var healing []string
	for _, a := range list.Items {
		if heals(a.Object) {
			healing = append(healing, a.GetNamespace()+"/"+a.GetName())
		}
	}
	if len(healing) > 0 {
		message += "; these heal themselves: " + strings.Join(healing, ", ")
	}
	return Check{CheckHooks, StatusWarn, ReasonHookCourtesy, message,
		"make the gate a required check of the pull request, and let only its path start a sync: no right to sync for people in Argo CD's RBAC, no selfHeal"}
}

func heals(application map[string]any) bool {
	heals, _, err := unstructured.NestedBool(application, "spec", "syncPolicy", "automated", "selfHeal")
	return heals && err == nil
}
