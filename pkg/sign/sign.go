// Package sign makes and checks the signatures under records: SSHSIG, the
// format of ssh-keygen -Y, made by a person's own SSH key or by the gate key.
//
// To write a record: Finder.Find (a person) or ParseGateKey (a gate) gives a
// Signer, Seal the stored envelope. To read one: Open checks everything that
// the record says about itself; ReadKeys and Ring tell from key records
// whose key it was (pkg/trust replays them). Whether the record counts is decided elsewhere (pkg/approval).
package sign

import (
	"golang.org/x/crypto/ssh"
)

// Signer signs as one key: an SSH agent's, a file's, or the gate key.
type Signer interface {
	// PublicKey is the key that signatures verify with.
	PublicKey() ssh.PublicKey
	// Sign makes a binary SSHSIG (sha512) over message in the namespace.
	Sign(namespace string, message []byte) ([]byte, error)
}

// Opened is a record whose envelope was parsed strictly and whose one
// signature verifies with the key it carries. Whether that key is to be
// believed is for the caller to decide.
type Opened struct {
	Payload     []byte // exact signed bytes
	Envelope    []byte // exact stored bytes; their Digest chains records
	Key         ssh.PublicKey
	Fingerprint string // SHA256:…
	Name        string // subject name
	Hash        string // subject digest
}

// AuthorizedKey is the one form in which records carry a public key: type and
// base64 of an authorized_keys line, without comment or line end.
func AuthorizedKey(key ssh.PublicKey) string {
	line := ssh.MarshalAuthorizedKey(key)
	return string(line[:len(line)-1])
}

// ParseKey reads a public key in exactly the form that AuthorizedKey writes,
// and refuses one that is too weak. Errors are *Error.
func ParseKey(text string) (ssh.PublicKey, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil {
		return nil, fail(ReasonBadKey, "public key: %w", err)
	}
	if AuthorizedKey(key) != text {
		return nil, fail(ReasonBadKey, "public key: not in the form \"type base64\"")
	}
	if err := checkStrength(key); err != nil {
		return nil, err
	}
	return key, nil
}
