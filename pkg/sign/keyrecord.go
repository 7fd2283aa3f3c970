package sign

import (
	"errors"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/state"
)

// KeyRecord is a key record whose signature and form hold.
type KeyRecord struct {
	record      state.Record
	key         state.Key
	public      ssh.PublicKey
	fingerprint string // of the key that the record is about
	signer      string // fingerprint of the key that signed
}

// Created is the server time of the record.
func (k KeyRecord) Created() time.Time { return k.record.Created }

// Name of the record.
func (k KeyRecord) Name() string { return k.record.Name }

// The ranks of key records within one second, which is all that server time
// tells: a self-signed enrolment comes first, a revocation last.
const (
	RankSelf = iota
	RankCountersigned
	RankRevocation
)

// Rank orders the records of one second.
func (k KeyRecord) Rank() int {
	switch {
	case k.key.Action == state.KeyRevoke:
		return RankRevocation
	case k.signer != k.fingerprint:
		return RankCountersigned
	}
	return RankSelf
}

// Rejected is the record as one that counts for nothing.
func (k KeyRecord) Rejected(err *Error) Rejected {
	out := Rejected{Record: k.Name(), Err: err}
	if err.Reason == ReasonNotCountersigned && k.signer == k.fingerprint && k.record.Claims.Actor == k.key.Person.Username {
		out.Asked = &Asked{Fingerprint: k.fingerprint, Key: k.key, At: k.record.Created}
	}
	return out
}

// ReadKeys checks all that key records say about themselves; who may say it is
// for the ring.
func ReadKeys(records []state.Record, clusterUID string) (read []KeyRecord, rejected []Rejected) {
	for _, record := range records {
		k, err := readKey(record, clusterUID)
		if err != nil {
			rejected = append(rejected, Rejected{Record: record.Name, Err: err})
			continue
		}
		read = append(read, k)
	}
	return read, rejected
}

func readKey(record state.Record, clusterUID string) (KeyRecord, *Error) {
	k := KeyRecord{record: record}
	opened, err := Open(state.TypeKey, record.Data[state.DataEnvelope], &k.key)
	if err != nil {
		return k, asError(err, ReasonBadEnvelope)
	}
	k.signer = opened.Fingerprint
	if k.public, err = ParseKey(k.key.PublicKey); err != nil {
		return k, asError(err, ReasonBadKey)
	}
	k.fingerprint = ssh.FingerprintSHA256(k.public)
	if failed := checkPlace(record, opened, k.key, clusterUID); failed != nil {
		return k, failed
	}
	switch k.key.Action {
	case state.KeyRevoke:
		return k, nil
	case state.KeyEnroll:
		if err := VerifyPossession(k.key); err != nil {
			return k, asError(err, ReasonBadPossession)
		}
		return k, nil
	}
	return k, fail(ReasonUnknownKeyAction, "unknown action %q", k.key.Action)
}

// checkPlace compares what is signed with where and when it is stored.
func checkPlace(record state.Record, opened Opened, key state.Key, clusterUID string) *Error {
	if !record.Immutable {
		return fail(ReasonNotImmutable, "the stored object can be edited")
	}
	if want := state.ContentName(state.TypeKey, opened.Payload); record.Name != want {
		return fail(ReasonWrongName, "content belongs to the name %s", want)
	}
	if key.ClusterUID != clusterUID {
		return fail(ReasonWrongCluster, "made for cluster %s", key.ClusterUID)
	}
	if key.Person.Username == "" || record.Claims.Actor == "" {
		return fail(ReasonWrongActor, "names no person")
	}
	signed, err := state.ParseTime(key.Time)
	if err != nil {
		return fail(ReasonWrongTime, "%w", err)
	}
	if apart := record.Created.Sub(signed).Abs(); apart > MaxClockDifference {
		return fail(ReasonWrongTime, "signed %s away from the server's time", apart)
	}
	return nil
}

func asError(err error, reason string) *Error {
	var failed *Error
	if errors.As(err, &failed) {
		return failed
	}
	return fail(reason, "%w", err)
}
