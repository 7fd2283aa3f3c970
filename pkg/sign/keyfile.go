package sign

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"golang.org/x/crypto/ssh"
)

// named is the key at a path that a person gave.
func (f Finder) named(path string) (candidate, error) {
	fromAgent, _, agentErr := f.fromAgent()
	c, err := f.file(path, fromAgent)
	if err != nil {
		return c, errors.Join(err, agentErr)
	}
	if err := checkStrength(c.key); err != nil {
		return c, fmt.Errorf("key %s: %w", path, err)
	}
	return c, nil
}

// file is the key in a private file, or the one whose .pub is at path. A key
// that the agent holds is used from there, so that nobody types a passphrase.
func (f Finder) file(path string, fromAgent []candidate) (candidate, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return candidate{}, fmt.Errorf("key: %w", err)
	}
	private := strings.TrimSuffix(path, ".pub")
	public, comment, err := publicHalf(path, data)
	if err != nil {
		return candidate{}, fmt.Errorf("key %s: %w", path, err)
	}
	for _, c := range fromAgent {
		if bytes.Equal(c.key.Marshal(), public.Marshal()) {
			return c, nil
		}
	}
	return f.candidate(public, private, comment, func() (Signer, error) { return f.load(private, public) }), nil
}

// publicHalf reads the public key of a .pub file or a private key file,
// without a passphrase.
func publicHalf(path string, data []byte) (ssh.PublicKey, string, error) {
	if key, comment, _, _, err := ssh.ParseAuthorizedKey(data); err == nil {
		return key, comment, nil
	}
	if beside, err := os.ReadFile(path + ".pub"); err == nil {
		if key, comment, _, _, err := ssh.ParseAuthorizedKey(beside); err == nil {
			return key, comment, nil
		}
	}
	signer, err := ssh.ParsePrivateKey(data)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked) && locked.PublicKey != nil:
		return locked.PublicKey, "", nil
	case errors.As(err, &locked):
		return nil, "", errors.New("old key format: its public half must lie beside it as .pub")
	case err != nil:
		return nil, "", fmt.Errorf("not an SSH key: %w", err)
	}
	return signer.PublicKey(), "", nil
}

// load reads a private key file and asks for its passphrase if it has one.
func (f Finder) load(path string, want ssh.PublicKey) (Signer, error) {
	if err := checkPermissions(path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	private, err := ssh.ParseRawPrivateKey(data)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		private, err = f.unlock(path, data)
	}
	if err != nil && strings.HasPrefix(want.Type(), "sk-") {
		return nil, fmt.Errorf("key %s: a hardware key signs through an SSH agent only, and none holds it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	signer, err := newKeySigner(private)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	if !bytes.Equal(signer.PublicKey().Marshal(), want.Marshal()) {
		return nil, fmt.Errorf("key %s: the .pub beside it belongs to another key", path)
	}
	return signer, nil
}

func (f Finder) unlock(path string, data []byte) (any, error) {
	if f.Passphrase == nil {
		return nil, errors.New("has a passphrase, and there is nobody to ask: add it to an SSH agent")
	}
	passphrase, err := f.Passphrase(path)
	if err != nil {
		return nil, err
	}
	key, err := ssh.ParseRawPrivateKeyWithPassphrase(data, passphrase)
	if errors.Is(err, x509.IncorrectPasswordError) {
		return nil, errors.New("that is not its passphrase")
	}
	return key, err
}

// checkPermissions refuses a private key that others can read, as ssh does.
func checkPermissions(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("key %s: private half is neither in the SSH agent nor in this file: %w", path, err)
	}
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return fmt.Errorf("key %s: permissions %#o are too open, others can read it", path, mode)
	}
	return nil
}

// CreateKey makes a new ed25519 key without a passphrase, writes it to path
// (mode 0600, OpenSSH format) and its public half to path.pub, and returns its
// signer. It never overwrites: an existing file is fs.ErrExist. The folder
// must exist.
func CreateKey(path, comment string) (Signer, error) {
	private, public, err := newKey(comment)
	if err != nil {
		return nil, err
	}
	if err := writeNew(path+".pub", []byte(public+" "+comment+"\n"), 0o644); err != nil {
		return nil, err
	}
	if err := writeNew(path, private, 0o600); err != nil {
		return nil, errors.Join(err, os.Remove(path+".pub"))
	}
	return ParseGateKey(private)
}

func writeNew(path string, data []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("create key: %w", err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("create key: %w", err), os.Remove(path))
	}
	return nil
}
