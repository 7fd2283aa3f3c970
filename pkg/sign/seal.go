package sign

import (
	"bytes"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/state"
)

// Seal makes the stored envelope of a record: statement, PAE, signature. name
// and hash are as for state.NewStatement. payload is the signed statement,
// which names the record (state.ContentName).
func Seal(signer Signer, t state.Type, name, hash string, predicate any) (envelope, payload []byte, err error) {
	payload, err = state.NewStatement(t, name, hash, predicate)
	if err != nil {
		return nil, nil, err
	}
	sig, err := signer.Sign(state.Namespace(t), state.PAE(state.PayloadType, payload))
	if err != nil {
		return nil, nil, err
	}
	envelope, err = state.Canonical(state.Envelope{Payload: payload, PayloadType: state.PayloadType,
		Signatures: []state.Signature{{KeyID: ssh.FingerprintSHA256(signer.PublicKey()), Sig: sig}}})
	return envelope, payload, err
}

// Open reads an envelope of type t into predicate, a pointer to the zero value
// of the type's predicate, and verifies its signature over exactly the bytes
// that are parsed. Errors are *Error.
func Open(t state.Type, envelope []byte, predicate any) (Opened, error) {
	e, err := state.ParseEnvelope(envelope)
	if err != nil {
		return Opened{}, fail(ReasonBadEnvelope, "%w", err)
	}
	key, err := verify(state.Namespace(t), state.PAE(e.PayloadType, e.Payload), e.Signatures[0].Sig)
	if err != nil {
		return Opened{}, err
	}
	fingerprint := ssh.FingerprintSHA256(key)
	if e.Signatures[0].KeyID != fingerprint {
		return Opened{}, fail(ReasonWrongKeyID, "keyid %q, signed by %s", e.Signatures[0].KeyID, fingerprint)
	}
	name, hash, err := state.ParseStatement(t, e.Payload, predicate)
	if err != nil {
		return Opened{}, fail(ReasonBadStatement, "%w", err)
	}
	return Opened{Payload: e.Payload, Envelope: envelope, Key: key, Fingerprint: fingerprint, Name: name, Hash: hash}, nil
}

// verify checks a binary SSHSIG over message and returns the key it carries.
func verify(namespace string, message, raw []byte) (ssh.PublicKey, error) {
	sig, err := sshsig.ParseSignature(raw)
	if err != nil {
		return nil, fail(ReasonBadSignature, "%w", err)
	}
	// ssh.Unmarshal skips what SSHSIG reserves; a signature has one form.
	if !bytes.Equal(sig.Marshal(), raw) {
		return nil, fail(ReasonBadSignature, "not in its one encoded form")
	}
	if sig.Namespace != namespace {
		return nil, fail(ReasonWrongNamespace, "signed for %q, want %q", sig.Namespace, namespace)
	}
	if sig.HashAlgorithm != sshsig.HashSHA512 {
		return nil, fail(ReasonWrongHash, "hash algorithm %q, want %q", sig.HashAlgorithm, sshsig.HashSHA512)
	}
	if err := checkStrength(sig.PublicKey); err != nil {
		return nil, err
	}
	if err := sshsig.Verify(bytes.NewReader(message), sig, sig.PublicKey, sshsig.HashSHA512, namespace); err != nil {
		return nil, fail(ReasonBadSignature, "%w", err)
	}
	return sig.PublicKey, nil
}
