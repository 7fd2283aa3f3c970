package sign

import (
	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/state"
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

// Seal makes the stored envelope of a record: statement, PAE, signature. name
// and hash are as for state.NewStatement.
func Seal(signer Signer, t state.Type, name, hash string, predicate any) (envelope, payload []byte, err error) {
	panic("to do")
}

// Open reads an envelope of type t into predicate and verifies its signature.
func Open(t state.Type, envelope []byte, predicate any) (Opened, error) {
	panic("to do")
}

// Ring is the enrolled keys of people.
type Ring struct{}
