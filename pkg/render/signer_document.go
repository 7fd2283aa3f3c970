package render

import (
	"time"

	"github.com/changeward/changeward/pkg/sign"
)

// Kinds of documents about keys.
const (
	KindSigner     = "Signer"
	KindSignerList = "SignerList"
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
}

// SignerList answers `signer list -o json`.
type SignerList struct {
	Type
	Items []Signer `json:"items"`
}

// SignerListDocument is the JSON form of enrolled keys.
func SignerListDocument(entries []sign.Entry) SignerList {
	document := SignerList{Type: Head(KindSignerList), Items: []Signer{}}
	for _, e := range entries {
		item := Signer{Type: Head(KindSigner), Fingerprint: e.Fingerprint, PublicKey: sign.AuthorizedKey(e.Key), Person: e.Person,
			Logins: e.Logins, From: stamp(e.From), Record: e.Record, VouchedBy: e.Signer}
		if e.Revoked != nil {
			item.Revoked = stamp(*e.Revoked)
		}
		document.Items = append(document.Items, item)
	}
	return document
}

// Signers is enrolled keys as a table. now is the store's clock, for ages.
func Signers(entries []sign.Entry, now time.Time) string {
	if len(entries) == 0 {
		return "no keys are enrolled yet\n"
	}
	rows := make([][]string, 0, len(entries))
	for _, e := range entries {
		status := "valid"
		if e.Revoked != nil {
			status = "revoked"
		}
		rows = append(rows, []string{e.Person, e.Fingerprint, e.Key.Type(), age(now, e.From), status})
	}
	return Table([]string{"PERSON", "KEY", "TYPE", "AGE", "STATUS"}, rows)
}
