package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Masker masks with the cluster's digest key; where the caller may not read
// it, or there is none, with a key that dies with this process.
func (s *Session) Masker(ctx context.Context) (manifest.Masker, error) {
	key, err := s.keySecret(ctx, install.DigestKeySecret)
	if err != nil {
		return manifest.Masker{}, err
	}
	if key != nil {
		return manifest.NewMasker(key, s.Cluster, false), nil
	}
	key = make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return manifest.Masker{}, fmt.Errorf("make a key: %w", err)
	}
	return manifest.NewMasker(key, s.Cluster, true), nil
}

// keySecret reads one of the two keys of the gate; nil where it is not there
// or not for this caller.
func (s *Session) keySecret(ctx context.Context, name string) ([]byte, error) {
	secret, err := s.Kube.CoreV1().Secrets(install.NamespaceGate).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Secret %s/%s: %w", install.NamespaceGate, name, err)
	case len(secret.Data[install.DataKey]) == 0:
		return nil, fmt.Errorf("Secret %s/%s has no %s", install.NamespaceGate, name, install.DataKey)
	}
	return secret.Data[install.DataKey], nil
}

// GateSigner is what plans, outcomes and audit entries are signed with: the
// gate key, or, where the caller may not read that, their own. To enroll a
// first key for that takes no question: it decides nothing.
func (s *Session) GateSigner(ctx context.Context, keys KeyFlags) (sign.Signer, error) {
	if keys.Key == "" && s.Gate.Attestation != nil { // where there is no fence, no epoch names a gate key
		private, err := s.keySecret(ctx, install.GateKeySecret)
		if err != nil {
			return nil, err
		}
		if private != nil {
			return sign.ParseGateKey(private)
		}
		if epoch := s.Ledger.Epoch(); install.IsGate(s.Gate.Caller, epoch.GateUsers, epoch.GateGroups) {
			return nil, Fail(ReasonNoKey, fmt.Errorf("the gate key, Secret %s/%s, is not there, or this gate may not read it", install.NamespaceGate, install.GateKeySecret),
				"bind role "+install.RoleGate+" of namespace "+install.NamespaceGate+" to the gate, as `token create` does; `doctor` says what is missing")
		}
	}
	keys.Yes = true
	signer, first, err := s.OwnKey(ctx, keys)
	if !first || err != nil {
		return signer, err
	}
	if _, err := s.Gate.Enroll(ctx, s.Ledger, signer, nil, nil); err != nil && !errors.Is(err, state.ErrExists) {
		return nil, fmt.Errorf("enroll key %s: %w", ssh.FingerprintSHA256(signer.PublicKey()), err)
	}
	s.NoteEnrolled(signer)
	return signer, s.Reload(ctx)
}

// OwnKey is the caller's own SSH key. first says that nobody has enrolled it
// yet, and that the caller agreed that it be enrolled as theirs: the use case
// does that, once all else is known to hold.
func (s *Session) OwnKey(ctx context.Context, keys KeyFlags) (signer sign.Signer, first bool, err error) {
	if signer, err = s.Finder(keys).Find(ctx, keys.Key); err != nil {
		return nil, false, err
	}
	fingerprint := ssh.FingerprintSHA256(signer.PublicKey())
	if s.Gate.Enrolled(s.Ledger, fingerprint) {
		return signer, false, nil
	}
	if why := s.Gate.FirstKey(s.Ledger, fingerprint); why != "" {
		return nil, false, Fail(ReasonNoKey, fmt.Errorf("key %s is not enrolled for %s: %s", fingerprint, s.Gate.Caller.Username, why),
			"a further key is vouched for by an enrolled one: `"+s.Streams.Advice()+" signer enroll --key NEW --voucher ENROLLED`; without --voucher it waits for an admin", "or sign with an enrolled one: --key ENROLLED")
	}
	question := fmt.Sprintf("enroll key %s as that of %s?", fingerprint, s.Gate.Caller.Username)
	return signer, true, s.asker.Confirm(question, keys.Yes)
}

// NoteEnrolled tells that a first key was enrolled.
func (s *Session) NoteEnrolled(signer sign.Signer) {
	s.Streams.Note(fmt.Sprintf("enrolled key %s as that of %s", ssh.FingerprintSHA256(signer.PublicKey()), s.Gate.Caller.Username))
}

// Finder finds SSH keys of the caller.
func (s *Session) Finder(keys KeyFlags) sign.Finder {
	f := sign.Finder{Env: s.Streams.Env, Home: s.Streams.Home(), Git: sign.GitConfig,
		Enrolled: func(fingerprint string) bool { return s.Ledger != nil && s.Gate.Enrolled(s.Ledger, fingerprint) }}
	if !s.Streams.Interactive {
		return f
	}
	f.Passphrase = func(path string) ([]byte, error) { return s.asker.Secret("passphrase of " + path + ":") }
	f.Ask = func(choices []sign.Choice) (int, error) {
		if keys.Yes {
			return 0, errors.New("several SSH keys could sign, and --yes chooses none: name one with --key")
		}
		lines := make([]string, 0, len(choices))
		for _, choice := range choices {
			lines = append(lines, choice.String())
		}
		return s.asker.Choose("sign with which key?", lines)
	}
	return f
}
