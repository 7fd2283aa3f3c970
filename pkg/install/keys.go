package install

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/sign"
)

// digestKeyBytes is the length of the HMAC key for Secret values.
const digestKeyBytes = 32

// keySecret reads one of the key Secrets; nil: it is not there.
func (c client) keySecret(ctx context.Context, name string) (*corev1.Secret, error) {
	secret, err := c.typed.CoreV1().Secrets(NamespaceGate).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Secret/%s/%s: %w", NamespaceGate, name, err)
	}
	return secret, nil
}

// gatePublic is the public half of the gate key, from its private half; "" if
// there is none yet.
func (c client) gatePublic(ctx context.Context) (string, error) {
	secret, err := c.keySecret(ctx, GateKeySecret)
	if err != nil || secret == nil {
		return "", err
	}
	key, err := sign.ParseGateKey(secret.Data[DataKey])
	if err != nil {
		return "", fmt.Errorf("key Secret/%s/%s: not a gate key", NamespaceGate, GateKeySecret)
	}
	public := sign.AuthorizedKey(key.PublicKey())
	if string(secret.Data[DataPublic]) != public {
		return "", fmt.Errorf("key Secret/%s/%s: public half is not that of the key", NamespaceGate, GateKeySecret)
	}
	return public, nil
}

// digestKey says whether the digest key is there and whole.
func (c client) digestKey(ctx context.Context) (bool, error) {
	secret, err := c.keySecret(ctx, DigestKeySecret)
	if err != nil || secret == nil {
		return false, err
	}
	if len(secret.Data[DataKey]) != digestKeyBytes {
		return false, fmt.Errorf("key Secret/%s/%s: not a key of %d bytes", NamespaceGate, DigestKeySecret, digestKeyBytes)
	}
	return true, nil
}

func (c client) makeGateKey(ctx context.Context) error {
	private, public, err := sign.NewGateKey()
	if err != nil {
		return err
	}
	return c.makeKey(ctx, GateKeySecret, map[string][]byte{DataKey: private, DataPublic: []byte(public)})
}

func (c client) makeDigestKey(ctx context.Context, random io.Reader) error {
	if random == nil {
		return errors.New("make the digest key: no source of random bytes")
	}
	key := make([]byte, digestKeyBytes)
	if _, err := io.ReadFull(random, key); err != nil {
		return fmt.Errorf("make the digest key: %w", err)
	}
	return c.makeKey(ctx, DigestKeySecret, map[string][]byte{DataKey: key})
}

// makeKey creates an immutable Secret; one that another install made in the
// meantime stays.
func (c client) makeKey(ctx context.Context, name string, data map[string][]byte) error {
	immutable := true
	_, err := c.typed.CoreV1().Secrets(NamespaceGate).Create(ctx, &corev1.Secret{ObjectMeta: meta(NamespaceGate, name),
		Immutable: &immutable, Data: data}, metav1.CreateOptions{FieldManager: partOf})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create Secret/%s/%s: %w", NamespaceGate, name, err)
	}
	return nil
}
