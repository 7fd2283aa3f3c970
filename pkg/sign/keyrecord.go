package sign

import (
	"errors"

	"golang.org/x/crypto/ssh"

	"github.com/changeward/changeward/state"
)

// readKey checks all that a key record says about itself; who may say it is
// for the ring.
func readKey(record state.Record, trust Trust) (keyRecord, *Error) {
	k := keyRecord{record: record}
	opened, err := Open(state.TypeKey, record.Data[state.DataEnvelope], &k.key)
	if err != nil {
		return k, asError(err, ReasonBadEnvelope)
	}
	k.signer = opened.Fingerprint
	if k.public, err = ParseKey(k.key.PublicKey); err != nil {
		return k, asError(err, ReasonBadKey)
	}
	k.fingerprint = ssh.FingerprintSHA256(k.public)
	if failed := checkPlace(record, opened, k.key, trust); failed != nil {
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
func checkPlace(record state.Record, opened Opened, key state.Key, trust Trust) *Error {
	if !record.Immutable {
		return fail(ReasonNotImmutable, "the stored object can be edited")
	}
	if want := state.ContentName(state.TypeKey, opened.Payload); record.Name != want {
		return fail(ReasonWrongName, "content belongs to the name %s", want)
	}
	if key.ClusterUID != trust.ClusterUID {
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
