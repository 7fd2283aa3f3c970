package sign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// ErrNoKey says that the person has no SSH key at all that could sign.
var ErrNoKey = errors.New("no SSH key found")

// SeveralKeysError says that several keys could sign, none of them is
// enrolled, and there is nobody to ask.
type SeveralKeysError struct{ Choices []Choice }

func (e *SeveralKeysError) Error() string {
	lines := []string{"several SSH keys could sign, and none is enrolled:"}
	for _, choice := range e.Choices {
		lines = append(lines, "  "+choice.String())
	}
	return strings.Join(lines, "\n")
}

// Choice is a key that could sign.
type Choice struct {
	Fingerprint string // SHA256:…
	Type        string // as in authorized_keys
	Source      string // "SSH agent", or the file
	Comment     string
	Enrolled    bool
}

func (c Choice) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s (%s) %s", c.Fingerprint, c.Type, c.Source, c.Comment))
}

// Finder finds the SSH key that a person signs with. The zero value finds
// nothing; all that it knows of the machine comes in as values.
type Finder struct {
	Env        func(name string) string                       // nil: no environment
	Home       string                                         // home directory, for .ssh
	Git        func(ctx context.Context, name string) string  // see GitConfig; nil: git is not asked
	Enrolled   func(fingerprint string) bool                  // enrolled for this person; nil: none is
	Ask        func(choices []Choice) (chosen int, err error) // nil: nobody to ask
	Passphrase func(path string) ([]byte, error)              // nil: nobody to ask
}

// Find returns the signer for a person, in this order: path (the value of
// --key) or else $CHANGEWARD_KEY, a private key file or the .pub of a key in
// the agent; a key that is enrolled, in the agent, as git's, or in the usual
// files; git's user.signingkey where gpg.format is ssh; the only key there is;
// the one that Ask chooses. Errors: ErrNoKey, *SeveralKeysError, or why the
// key cannot be used.
func (f Finder) Find(ctx context.Context, path string) (Signer, error) {
	if path == "" {
		path = f.env("CHANGEWARD_KEY")
	}
	if path != "" {
		named, err := f.named(path)
		if err != nil {
			return nil, err
		}
		return named.open()
	}
	fromAgent, refused, agentErr := f.fromAgent()
	fromGit := f.fromGit(ctx, fromAgent)
	inFiles, weak := f.usual(fromAgent)
	all := distinct(slices.Concat(fromAgent, fromGit, inFiles))
	if i := slices.IndexFunc(all, func(c candidate) bool { return c.Enrolled }); i >= 0 {
		return all[i].open()
	}
	if len(fromGit) > 0 {
		return fromGit[0].open()
	}
	if why := errors.Join(append(append(refused, weak...), agentErr)...); len(all) == 0 && why != nil {
		return nil, fmt.Errorf("%w that can sign: %w", ErrNoKey, why)
	}
	return f.choose(all)
}

func (f Finder) choose(all []candidate) (Signer, error) {
	choices := make([]Choice, 0, len(all))
	for _, c := range all {
		choices = append(choices, c.Choice)
	}
	switch {
	case len(all) == 0:
		return nil, ErrNoKey
	case len(all) == 1:
		return all[0].open()
	case f.Ask == nil:
		return nil, &SeveralKeysError{Choices: choices}
	}
	chosen, err := f.Ask(choices)
	if err != nil {
		return nil, err
	}
	if chosen < 0 || chosen >= len(all) {
		return nil, fmt.Errorf("no key number %d", chosen)
	}
	return all[chosen].open()
}

// candidate is a key and how to get at its private half, which may ask for a
// passphrase: so only the chosen one is opened.
type candidate struct {
	Choice
	key  ssh.PublicKey
	open func() (Signer, error)
}

func (f Finder) candidate(key ssh.PublicKey, source, comment string, open func() (Signer, error)) candidate {
	fingerprint := ssh.FingerprintSHA256(key)
	return candidate{key: key, open: open, Choice: Choice{Fingerprint: fingerprint, Type: key.Type(),
		Source: source, Comment: comment, Enrolled: f.Enrolled != nil && f.Enrolled(fingerprint)}}
}

func (f Finder) fromAgent() (found []candidate, refused []error, err error) {
	socket := f.env("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, nil, nil
	}
	keys, refused, err := agentKeys(socket)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range keys {
		public, err := ssh.ParsePublicKey(key.Blob)
		if err != nil {
			return nil, nil, fmt.Errorf("SSH agent: %w", err)
		}
		found = append(found, f.candidate(public, "SSH agent", key.Comment,
			func() (Signer, error) { return agentSigner{socket: socket, key: public}, nil }))
	}
	return found, refused, nil
}

// usual are the files that ssh itself tries, in its order; weak are those that
// are not accepted.
func (f Finder) usual(fromAgent []candidate) (found []candidate, weak []error) {
	if f.Home == "" {
		return nil, nil
	}
	for _, name := range []string{"id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"} {
		path := filepath.Join(f.Home, ".ssh", name)
		c, err := f.file(path, fromAgent)
		if err != nil {
			continue
		}
		if err := checkStrength(c.key); err != nil {
			weak = append(weak, fmt.Errorf("key %s: %w", path, err))
			continue
		}
		found = append(found, c)
	}
	return found, weak
}

func (f Finder) env(name string) string {
	if f.Env == nil {
		return ""
	}
	return f.Env(name)
}

// distinct keeps the first candidate of each key.
func distinct(all []candidate) []candidate {
	var kept []candidate
	for _, c := range all {
		if !slices.ContainsFunc(kept, func(k candidate) bool { return k.Fingerprint == c.Fingerprint }) {
			kept = append(kept, c)
		}
	}
	return kept
}
