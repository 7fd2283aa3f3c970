package sign

import (
	"bytes"
	"fmt"
	"net"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// keySigner signs with a private key that this process holds.
type keySigner struct{ key ssh.Signer }

func newKeySigner(private any) (Signer, error) {
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, fail(ReasonBadKey, "%w", err)
	}
	if err := checkStrength(key.PublicKey()); err != nil {
		return nil, err
	}
	return keySigner{key}, nil
}

func (s keySigner) PublicKey() ssh.PublicKey { return s.key.PublicKey() }

func (s keySigner) Sign(namespace string, message []byte) ([]byte, error) {
	sig, err := sshsig.Sign(bytes.NewReader(message), s.key, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, fmt.Errorf("sign with %s: %w", ssh.FingerprintSHA256(s.PublicKey()), err)
	}
	return sig.Marshal(), nil
}

// agentSigner signs with a key that an SSH agent holds. It connects anew for
// each signature, so that no connection outlives its use.
type agentSigner struct {
	socket string
	key    ssh.PublicKey
}

func (s agentSigner) PublicKey() ssh.PublicKey { return s.key }

func (s agentSigner) Sign(namespace string, message []byte) ([]byte, error) {
	connection, err := net.Dial("unix", s.socket)
	if err != nil {
		return nil, fmt.Errorf("SSH agent: %w", err)
	}
	defer connection.Close()
	signers, err := agent.NewClient(connection).Signers()
	if err != nil {
		return nil, fmt.Errorf("SSH agent: %w", err)
	}
	for _, key := range signers {
		if bytes.Equal(key.PublicKey().Marshal(), s.key.Marshal()) {
			return keySigner{key}.Sign(namespace, message)
		}
	}
	return nil, fmt.Errorf("SSH agent: holds no key %s any more", ssh.FingerprintSHA256(s.key))
}

// agentKeys lists the keys of an SSH agent that signatures may rest on, and
// says of certificates and weak keys why they are left out.
func agentKeys(socket string) (keys []*agent.Key, refused []error, err error) {
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return nil, nil, fmt.Errorf("SSH agent: %w", err)
	}
	defer connection.Close()
	listed, err := agent.NewClient(connection).List()
	if err != nil {
		return nil, nil, fmt.Errorf("SSH agent: %w", err)
	}
	for _, key := range listed {
		public, err := ssh.ParsePublicKey(key.Blob)
		if err == nil {
			err = checkStrength(public)
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("key %s of the SSH agent: %w", key.Comment, err))
			continue
		}
		keys = append(keys, key)
	}
	return keys, refused, nil
}
