package sign

import (
	"bytes"

	"github.com/changeward/changeward/state"
)

// ProvePossession signs, with the key that is to be enrolled, for whom and
// where: so nobody can enroll another's public key as an own one.
func ProvePossession(signer Signer, clusterUID, username string) ([]byte, error) {
	message, err := possession(clusterUID, username, AuthorizedKey(signer.PublicKey()))
	if err != nil {
		return nil, err
	}
	return signer.Sign(state.KeyPossession, message)
}

// VerifyPossession checks the proof of possession in an enrolment. Errors are
// *Error.
func VerifyPossession(key state.Key) error {
	public, err := ParseKey(key.PublicKey)
	if err != nil {
		return err
	}
	message, err := possession(key.ClusterUID, key.Person.Username, key.PublicKey)
	if err != nil {
		return fail(ReasonBadPossession, "%w", err)
	}
	signed, err := verify(state.KeyPossession, message, key.Possession)
	if err != nil {
		return fail(ReasonBadPossession, "%w", err)
	}
	if !bytes.Equal(signed.Marshal(), public.Marshal()) {
		return fail(ReasonBadPossession, "signed by another key than the one enrolled")
	}
	return nil
}

func possession(clusterUID, username, publicKey string) ([]byte, error) {
	return state.Canonical([]string{clusterUID, username, publicKey})
}
