package render

import (
	"time"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/pkg/trust"
)

// Kinds of documents about keys.
const (
	KindSigner     = "Signer"
	KindSignerList = "SignerList"
	KindRoster     = "Roster"
)

// Signer is one SSH key: made (File, PublicKey), enrolled (Person, Record), or
// listed (all but File).
type Signer struct {
	Type
	Fingerprint string   `json:"fingerprint"`
	PublicKey   string   `json:"publicKey,omitempty"` // authorized_keys form
	File        string   `json:"file,omitempty"`      // of the private half
	Person      string   `json:"person,omitempty"`
	Logins      []string `json:"logins,omitempty"`
	From        string   `json:"from,omitempty"`
	Revoked     string   `json:"revoked,omitempty"`
	Record      string   `json:"record,omitempty"`
	VouchedBy   string   `json:"vouchedBy,omitempty"` // fingerprint
	Status      string   `json:"status,omitempty"`    // a Key constant of pkg/gate
}

// SignerList answers `signer list -o json`.
type SignerList struct {
	Type
	Items []Signer `json:"items"`
}

// Roster answers `signer roster show -o json` and `signer roster set -o json`.
type Roster struct {
	Type
	Version int         `json:"version"` // 0: there is none yet
	Expires string      `json:"expires,omitempty"`
	Keys    []RosterKey `json:"keys"`
}

// RosterKey is one key on a roster.
type RosterKey struct {
	Person    string   `json:"person"`
	Logins    []string `json:"logins,omitempty"`
	PublicKey string   `json:"publicKey"`
}

// RosterDocument is the JSON form of a roster.
func RosterDocument(version int, roster trust.Roster) Roster {
	document := Roster{Type: Head(KindRoster), Version: version, Expires: roster.Expires, Keys: []RosterKey{}}
	for _, k := range roster.Keys {
		document.Keys = append(document.Keys, RosterKey{Person: k.Person, Logins: k.Logins, PublicKey: k.PublicKey})
	}
	return document
}

// SignerListDocument is the JSON form of enrolled keys.
func SignerListDocument(keys []gate.Key) SignerList {
	document := SignerList{Type: Head(KindSignerList), Items: []Signer{}}
	for _, k := range keys {
		item := Signer{Type: Head(KindSigner), Fingerprint: k.Fingerprint, PublicKey: sign.AuthorizedKey(k.Key), Person: k.Person,
			Logins: k.Logins, From: stamp(k.From), Record: k.Record, VouchedBy: k.Signer, Status: k.Status}
		if k.Revoked != nil {
			item.Revoked = stamp(*k.Revoked)
		}
		document.Items = append(document.Items, item)
	}
	return document
}

// Signers is enrolled keys as a table. now is the store's clock, for ages.
func Signers(keys []gate.Key, now time.Time) string {
	if len(keys) == 0 {
		return "no keys are enrolled yet\n"
	}
	rows := make([][]string, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, []string{k.Person, k.Fingerprint, k.Key.Type(), age(now, k.From), k.Status})
	}
	return Table([]string{"PERSON", "KEY", "TYPE", "AGE", "STATUS"}, rows)
}
