package sign

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// NewGateKey makes the ed25519 key that a gate signs with: the private half
// as OpenSSH PEM, the public half as AuthorizedKey.
func NewGateKey() (private []byte, public string, err error) {
	return newKey("changeward-gate")
}

// ParseGateKey reads the private half that NewGateKey made.
func ParseGateKey(private []byte) (Signer, error) {
	key, err := ssh.ParseRawPrivateKey(private)
	if err != nil {
		return nil, fail(ReasonBadKey, "gate key: %w", err)
	}
	return newKeySigner(key)
}

func newKey(comment string) (private []byte, public string, err error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(key, comment)
	if err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	return pem.EncodeToMemory(block), AuthorizedKey(signer.PublicKey()), nil
}
