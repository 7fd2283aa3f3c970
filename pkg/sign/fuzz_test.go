package sign

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
)

// fixedKey is one key for all workers of a fuzzer.
func fixedKey(f *testing.F) Signer {
	f.Helper()
	signer, err := newKeySigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	assert.NilError(f, err)
	return signer
}

// A public key has one text, so that nobody is enrolled twice with one key.
func FuzzAPublicKeyIsReadAndWrittenTheSame(f *testing.F) {
	good := AuthorizedKey(fixedKey(f).PublicKey())
	for _, seed := range []string{good, good + " me@desk", " " + good, "ssh-dss AAAA", "sk-ssh-ed25519@openssh.com AAAA", "", "ssh-rsa " + good[12:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := ParseKey(text); err == nil {
			assert.Equal(t, AuthorizedKey(key), text)
		}
	})
}

func FuzzAKeyFileIsReadOrRefused(f *testing.F) {
	private, _, err := NewGateKey()
	assert.NilError(f, err)
	f.Add(private)
	f.Add([]byte("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"))
	f.Add([]byte("-----BEGIN RSA PRIVATE KEY-----\n\n-----END RSA PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if signer, err := ParseGateKey(data); err == nil {
			_, err := signer.Sign("decision@changeward.dev", data)
			assert.NilError(t, err)
		}
	})
}

func FuzzNoOtherBytesProveThePossessionOfAKey(f *testing.F) {
	signer := fixedKey(f)
	good, err := ProvePossession(signer, "uid", "alice")
	assert.NilError(f, err)
	f.Add(good)
	f.Add(good[:len(good)-1])
	key := state.Key{ClusterUID: "uid", Person: state.Person{Username: "alice"}, PublicKey: AuthorizedKey(signer.PublicKey())}
	f.Fuzz(func(t *testing.T, proof []byte) {
		key := key
		key.Possession = proof
		assert.Equal(t, VerifyPossession(key) == nil, bytes.Equal(proof, good))
	})
}
