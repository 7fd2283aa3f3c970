package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// PayloadType is the DSSE payload type of every record.
const PayloadType = "application/vnd.in-toto+json"

const statementType = "https://in-toto.io/Statement/v1"

// Envelope is a DSSE envelope (github.com/secure-systems-lab/dsse) with
// exactly one signature.
type Envelope struct {
	Payload     []byte      `json:"payload"` // base64 in JSON
	PayloadType string      `json:"payloadType"`
	Signatures  []Signature `json:"signatures"`
}

// Signature is a binary SSHSIG over the PAE of the payload; KeyID is the
// key's fingerprint as ssh-keygen prints it (SHA256:…).
type Signature struct {
	KeyID string `json:"keyid"`
	Sig   []byte `json:"sig"` // base64 in JSON
}

// Statement is an in-toto Statement v1 with one subject.
type Statement struct {
	Type          string          `json:"_type"`
	Predicate     json.RawMessage `json:"predicate"`
	PredicateType string          `json:"predicateType"`
	Subject       []Subject       `json:"subject"`
}

// Subject is what a statement is about. For plan, outcome, decision and
// review the name is the change request's c_… and the digest the plan hash;
// for the other types the name is the record's type and the digest that of
// the canonical predicate.
type Subject struct {
	Digest map[string]string `json:"digest"`
	Name   string            `json:"name"`
}

// PredicateType of a record type.
func PredicateType(t Type) string { return "https://changeward.dev/" + string(t) + "/v1" }

// Namespace is the SSHSIG namespace of a record type: a signature over one
// type can never be read as another, or as a git commit.
func Namespace(t Type) string { return string(t) + "@changeward.dev" }

// PAE is DSSE's pre-authentication encoding: the bytes that are signed.
func PAE(payloadType string, payload []byte) []byte {
	out := []byte("DSSEv1 " + strconv.Itoa(len(payloadType)) + " " + payloadType + " " + strconv.Itoa(len(payload)) + " ")
	return append(out, payload...)
}

// NewStatement makes the payload of a record: the canonical statement. name
// and hash are the change request (c_…) and plan hash (sha256:…) for types that
// are about one, see Type.AboutPlan; for the others both are empty, and the
// subject is the predicate itself.
func NewStatement(t Type, name, hash string, predicate any) ([]byte, error) {
	body, err := Canonical(predicate)
	if err != nil {
		return nil, err
	}
	if !t.AboutPlan() {
		if name != "" || hash != "" {
			return nil, fmt.Errorf("%s: a record of this type has no subject but itself", t)
		}
		name, hash = string(t), Digest(body)
	}
	if err := checkSubject(t, name, hash, body); err != nil {
		return nil, err
	}
	return Canonical(Statement{Type: statementType, Predicate: body, PredicateType: PredicateType(t),
		Subject: []Subject{{Name: name, Digest: map[string]string{"sha256": Hex(hash)}}}})
}

// ParseEnvelope reads an envelope strictly and checks its fixed parts; it
// verifies no signature (pkg/sign does).
func ParseEnvelope(data []byte) (Envelope, error) {
	var e Envelope
	if err := DecodeStrict(data, &e); err != nil {
		return e, fmt.Errorf("envelope: %w", err)
	}
	if e.PayloadType != PayloadType {
		return e, fmt.Errorf("envelope: unknown payload type %q", e.PayloadType)
	}
	if len(e.Signatures) != 1 {
		return e, fmt.Errorf("envelope: %d signatures, want exactly one", len(e.Signatures))
	}
	return e, nil
}

// ParseStatement reads the payload of a record of type t strictly into
// predicate, and returns the subject. An unknown type or version is refused by
// name.
func ParseStatement(t Type, payload []byte, predicate any) (name, hash string, err error) {
	var s Statement
	if err := DecodeStrict(payload, &s); err != nil {
		return "", "", fmt.Errorf("statement: %w", err)
	}
	if s.Type != statementType {
		return "", "", fmt.Errorf("statement: unknown type %q", s.Type)
	}
	if s.PredicateType != PredicateType(t) {
		return "", "", fmt.Errorf("statement: predicate type %q, want %q", s.PredicateType, PredicateType(t))
	}
	if len(s.Subject) != 1 || len(s.Subject[0].Digest) != 1 {
		return "", "", errors.New("statement: want one subject with one digest")
	}
	name, hash = s.Subject[0].Name, "sha256:"+s.Subject[0].Digest["sha256"]
	if err := checkSubject(t, name, hash, s.Predicate); err != nil {
		return "", "", err
	}
	if err := DecodeStrict(s.Predicate, predicate); err != nil {
		return "", "", fmt.Errorf("%s: %w", t, err)
	}
	return name, hash, nil
}

// checkSubject refuses a subject that a record of type t cannot have, so that
// none can pass for being about a plan, or about itself, when it is not.
func checkSubject(t Type, name, hash string, predicate []byte) error {
	switch {
	case !IsDigest(hash):
		return fmt.Errorf("%s: subject digest %q is no sha256", t, hash)
	case t.AboutPlan() && !IsChangeID(name):
		return fmt.Errorf("%s: subject %q is no change request", t, name)
	case !t.AboutPlan() && name != string(t):
		return fmt.Errorf("%s: subject is %q, want the record itself", t, name)
	case !t.AboutPlan() && hash != Digest(predicate):
		return fmt.Errorf("%s: subject digest is not that of the predicate", t)
	}
	return nil
}
