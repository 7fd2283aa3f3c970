package sign

import (
	"context"
	"os/exec"
	"strings"

	"golang.org/x/crypto/ssh"
)

// GitConfig reads a value of git's configuration, with paths expanded. A
// missing value, or no git, is "".
func GitConfig(ctx context.Context, name string) string {
	out, err := exec.CommandContext(ctx, "git", "config", "--get", "--type=path", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// fromGit is the key that git signs commits with, if that is an SSH key that
// can be found: a literal public key must be in the agent.
func (f Finder) fromGit(ctx context.Context, fromAgent []candidate) []candidate {
	if f.Git == nil || f.Git(ctx, "gpg.format") != "ssh" {
		return nil
	}
	value := f.Git(ctx, "user.signingkey")
	literal := strings.TrimPrefix(value, "key::")
	if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(literal)); err == nil {
		for _, c := range fromAgent {
			if c.Fingerprint == ssh.FingerprintSHA256(key) {
				return []candidate{c}
			}
		}
		return nil
	}
	c, err := f.file(value, fromAgent)
	if err != nil || checkStrength(c.key) != nil {
		return nil
	}
	return []candidate{c}
}
