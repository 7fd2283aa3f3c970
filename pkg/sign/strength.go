package sign

import (
	"crypto/rsa"

	"golang.org/x/crypto/ssh"
)

// minRSABits: 1024 bits are within reach of an attacker. 2048 is what people
// still have in agents and smart cards, and what NIST accepts until 2030;
// ssh-keygen itself takes no less.
const minRSABits = 2048

// checkStrength refuses key types and sizes that no decision may rest on: DSA
// is broken, certificates expire and are vouched for by an authority that no
// record names.
func checkStrength(key ssh.PublicKey) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
		ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return nil
	case ssh.KeyAlgoRSA:
		return checkRSA(key)
	default:
		return fail(ReasonWeakKey, "keys of type %s are not accepted", key.Type())
	}
}

func checkRSA(key ssh.PublicKey) error {
	holder, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return fail(ReasonWeakKey, "RSA key of unknown size")
	}
	public, ok := holder.CryptoPublicKey().(*rsa.PublicKey)
	if !ok {
		return fail(ReasonWeakKey, "RSA key of unknown size")
	}
	if bits := public.N.BitLen(); bits < minRSABits {
		return fail(ReasonWeakKey, "RSA key of %d bits, want at least %d", bits, minRSABits)
	}
	return nil
}
