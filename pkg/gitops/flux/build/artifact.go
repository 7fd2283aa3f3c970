package build

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/tar"

	"github.com/changeward/changeward/pkg/plan"
)

// maxArtifact bounds what is loaded and laid out, in bytes.
const maxArtifact = 1 << 30

// fetch loads an artifact, checks that it is the one that the cluster vouches
// for, and lays it out.
func (r *run) fetch(ctx context.Context, artifact *meta.Artifact) error {
	unreadable := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &Error{Reason: plan.ReasonUnreadable, Message: fmt.Sprintf("the artifact of its source %s cannot be fetched: %v", r.source(), err)}
	}
	body, err := r.reader.Fetch(ctx, artifact.URL)
	if err != nil {
		return unreadable(err)
	}
	defer body.Close()
	file, err := os.CreateTemp("", "changeward-artifact-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := verified(file, body, artifact.Digest); err != nil {
		return unreadable(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := tar.Untar(file, r.dir, tar.WithMaxUntarSize(maxArtifact), tar.WithSkipSymlinks()); err != nil {
		return unreadable(err)
	}
	r.result.Revision = artifact.Revision
	return nil
}

// verified copies, and checks the digest of what was copied.
func verified(to io.Writer, from io.Reader, digest string) error {
	algorithm, want, _ := strings.Cut(digest, ":")
	sum := hashOf(algorithm)
	if sum == nil || want == "" {
		return fmt.Errorf("its digest %q cannot be checked: this knows sha256, sha384 and sha512", digest)
	}
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(from, maxArtifact+1))
	switch {
	case err != nil:
		return err
	case n > maxArtifact:
		return errors.New("it is larger than 1 GiB")
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("its digest is %s:%s, the cluster says %s: it was changed, or replaced a moment ago", algorithm, got, digest)
	}
	return nil
}

func hashOf(algorithm string) hash.Hash {
	switch algorithm {
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	}
	return nil
}
