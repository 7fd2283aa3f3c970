package sign

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
	"testing"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
)

func sealed(t testing.TB, signer Signer) []byte {
	t.Helper()
	envelope, _, err := Seal(signer, state.TypeDecision, "c_9dd33d8939b8", planHash, decision())
	assert.NilError(t, err)
	return envelope
}

// edit changes a sealed envelope and encodes it again.
func edit(t testing.TB, envelope []byte, change func(*state.Envelope)) []byte {
	t.Helper()
	parsed, err := state.ParseEnvelope(envelope)
	assert.NilError(t, err)
	change(&parsed)
	again, err := state.Canonical(parsed)
	assert.NilError(t, err)
	return again
}

func TestARecordThatWasTamperedWithDoesNotOpen(t *testing.T) {
	signer, other := newSigner(t), newSigner(t)
	good := sealed(t, signer)
	with := func(change func(*state.Envelope)) []byte { return edit(t, good, change) }
	inForm := func(namespace string, hash sshsig.HashAlgorithm, change func(*sshsig.Signature)) []byte {
		return with(func(e *state.Envelope) {
			sig, err := sshsig.Sign(bytes.NewReader(state.PAE(e.PayloadType, e.Payload)), signer.(keySigner).key, hash, namespace)
			assert.NilError(t, err)
			change(sig)
			e.Signatures[0].Sig = sig.Marshal()
		})
	}
	asIs := func(*sshsig.Signature) {}
	for _, test := range []struct {
		name, reason string
		envelope     []byte
	}{
		{"no envelope", ReasonBadEnvelope, nil},
		{"other white space", ReasonBadEnvelope, append(bytes.Clone(good), '\n')},
		{"two signatures", ReasonBadEnvelope, with(func(e *state.Envelope) { e.Signatures = append(e.Signatures, e.Signatures[0]) })},
		{"no signature", ReasonBadSignature, with(func(e *state.Envelope) { e.Signatures[0].Sig = nil })},
		{"other payload", ReasonBadSignature, with(func(e *state.Envelope) {
			e.Payload = bytes.Replace(e.Payload, []byte("approve"), []byte("reject"), 1)
		})},
		{"bytes behind the signature", ReasonBadSignature, with(func(e *state.Envelope) { e.Signatures[0].Sig = append(e.Signatures[0].Sig, 0) })},
		{"other key", ReasonBadSignature, inForm("decision@changeward.dev", sshsig.HashSHA512, func(s *sshsig.Signature) { s.PublicKey = other.PublicKey() })},
		{"keyid of another", ReasonWrongKeyID, with(func(e *state.Envelope) { e.Signatures[0].KeyID = ssh.FingerprintSHA256(other.PublicKey()) })},
		{"signed for git", ReasonWrongNamespace, inForm("git", sshsig.HashSHA512, asIs)},
		{"signed for another type", ReasonWrongNamespace, inForm("review@changeward.dev", sshsig.HashSHA512, asIs)},
		{"renamed to our namespace", ReasonBadSignature, inForm("git", sshsig.HashSHA512, func(s *sshsig.Signature) { s.Namespace = "decision@changeward.dev" })},
		{"sha256", ReasonWrongHash, inForm("decision@changeward.dev", sshsig.HashSHA256, asIs)},
		{"payload of another type", ReasonBadStatement, with(func(e *state.Envelope) {
			e.Payload = bytes.Replace(e.Payload, []byte("decision/v1"), []byte("decision/v2"), 1)
			sig, err := signer.Sign("decision@changeward.dev", state.PAE(e.PayloadType, e.Payload))
			assert.NilError(t, err)
			e.Signatures[0].Sig = sig
		})},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(state.TypeDecision, test.envelope, &state.Decision{})
			wantReason(t, err, test.reason)
		})
	}
	_, err := Open(state.TypeReview, good, &state.Decision{})
	wantReason(t, err, ReasonWrongNamespace)
}

func TestNoByteOfARecordCanBeFlipped(t *testing.T) {
	good := sealed(t, newSigner(t))
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		_, err := Open(state.TypeDecision, bad, &state.Decision{})
		assert.Assert(t, err != nil, "byte %d", i)
	}
}

func FuzzOpen(f *testing.F) {
	// Every worker of the fuzzer must know the same record.
	signer, err := newKeySigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	assert.NilError(f, err)
	good := sealed(f, signer)
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		var read state.Decision
		if _, err := Open(state.TypeDecision, data, &read); err == nil && !bytes.Equal(data, good) {
			t.Errorf("opened %q", data)
		}
	})
}

func TestKeysAreAcceptedByTypeAndSize(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	assert.NilError(t, err)
	for _, test := range []struct {
		name   string
		key    func() (any, error)
		reason string
	}{
		{"ed25519", func() (any, error) { return ed, nil }, ""},
		{"ecdsa 256", func() (any, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }, ""},
		{"ecdsa 384", func() (any, error) { return ecdsa.GenerateKey(elliptic.P384(), rand.Reader) }, ""},
		{"ecdsa 521", func() (any, error) { return ecdsa.GenerateKey(elliptic.P521(), rand.Reader) }, ""},
		{"rsa 2048", func() (any, error) { return rsa.GenerateKey(rand.Reader, 2048) }, ""},
		{"rsa 1024", func() (any, error) { return rsa.GenerateKey(rand.Reader, 1024) }, ReasonWeakKey},
	} {
		t.Run(test.name, func(t *testing.T) {
			key, err := test.key()
			assert.NilError(t, err)
			signer, err := newKeySigner(key)
			if test.reason != "" {
				wantReason(t, err, test.reason)
				plain, err := ssh.NewSignerFromKey(key)
				assert.NilError(t, err)
				_, err = Open(state.TypeDecision, sealed(t, keySigner{plain}), &state.Decision{})
				wantReason(t, err, test.reason)
				return
			}
			assert.NilError(t, err)
			_, err = Open(state.TypeDecision, sealed(t, signer), &state.Decision{})
			assert.NilError(t, err)
		})
	}
}

func TestDSAKeysAndCertificatesAreRefused(t *testing.T) {
	_, err := ParseKey("ssh-dss " + base64.StdEncoding.EncodeToString(ssh.Marshal(struct{ Type string }{"ssh-dss"})))
	wantReason(t, err, ReasonBadKey)
	signer := newSigner(t).(keySigner).key
	certificate := &ssh.Certificate{Key: signer.PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{"alice"}}
	assert.NilError(t, certificate.SignCert(rand.Reader, signer))
	_, err = ParseKey(AuthorizedKey(certificate))
	wantReason(t, err, ReasonWeakKey)
}

// hardware signs as a security key does, with or without a person's touch.
type hardware struct {
	private ed25519.PrivateKey
	public  ssh.PublicKey
	flags   byte
}

func newHardware(t *testing.T, flags byte) keySigner {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	assert.NilError(t, err)
	key, err := ssh.ParsePublicKey(ssh.Marshal(struct{ Type, Key, Application string }{ssh.KeyAlgoSKED25519, string(public), "ssh:"}))
	assert.NilError(t, err)
	return keySigner{hardware{private, key, flags}}
}

func (h hardware) PublicKey() ssh.PublicKey { return h.public }

func (h hardware) Sign(random io.Reader, data []byte) (*ssh.Signature, error) {
	application, message := sha256.Sum256([]byte("ssh:")), sha256.Sum256(data)
	rest := binary.BigEndian.AppendUint32([]byte{h.flags}, 7)
	sig, err := h.private.Sign(random, append(append(application[:], rest...), message[:]...), crypto.Hash(0))
	return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: sig, Rest: rest}, err
}

func TestAHardwareKeyCountsOnlyWhenItWasTouched(t *testing.T) {
	_, err := Open(state.TypeDecision, sealed(t, newHardware(t, 1)), &state.Decision{})
	assert.NilError(t, err)
	_, err = Open(state.TypeDecision, sealed(t, newHardware(t, 0)), &state.Decision{})
	wantReason(t, err, ReasonBadSignature)
}

func TestAGateKeyReadsBack(t *testing.T) {
	private, public, err := NewGateKey()
	assert.NilError(t, err)
	signer, err := ParseGateKey(private)
	assert.NilError(t, err)
	assert.Equal(t, AuthorizedKey(signer.PublicKey()), public)
	parsed, err := ParseKey(public)
	assert.NilError(t, err)
	assert.DeepEqual(t, parsed.Marshal(), signer.PublicKey().Marshal())
	_, err = ParseGateKey([]byte("garbage"))
	wantReason(t, err, ReasonBadKey)
}

func TestAPublicKeyHasOneForm(t *testing.T) {
	good := AuthorizedKey(newSigner(t).PublicKey())
	for _, bad := range []string{"", "garbage", good + "\n", good + " comment", " " + good, `no-touch-required ` + good, good + "\n" + good} {
		_, err := ParseKey(bad)
		wantReason(t, err, ReasonBadKey)
	}
}

func TestPossessionIsProvedForOnePersonKeyAndCluster(t *testing.T) {
	signer := newSigner(t)
	proof, err := ProvePossession(signer, "uid-1", "alice")
	assert.NilError(t, err)
	good := state.Key{ClusterUID: "uid-1", Person: state.Person{Username: "alice"}, PublicKey: AuthorizedKey(signer.PublicKey()), Possession: proof}
	assert.NilError(t, VerifyPossession(good))

	for name, change := range map[string]func(*state.Key){
		"another person":  func(k *state.Key) { k.Person.Username = "mallory" },
		"another cluster": func(k *state.Key) { k.ClusterUID = "uid-2" },
		"another key":     func(k *state.Key) { k.PublicKey = AuthorizedKey(newSigner(t).PublicKey()) },
		"no proof":        func(k *state.Key) { k.Possession = nil },
		"proof by another key": func(k *state.Key) {
			message, err := possession(k.ClusterUID, k.Person.Username, k.PublicKey)
			assert.NilError(t, err)
			k.Possession, err = newSigner(t).Sign(state.KeyPossession, message)
			assert.NilError(t, err)
		},
	} {
		bad := good
		change(&bad)
		t.Log(name)
		wantReason(t, VerifyPossession(bad), ReasonBadPossession)
	}
}
