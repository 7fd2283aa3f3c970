package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
	"github.com/changeward/changeward/state/dir"
)

// statePath is the path in --state dir:PATH; "" is the cluster.
func statePath(flag string) (string, error) {
	if flag == "" {
		return "", nil
	}
	path, found := strings.CutPrefix(flag, "dir:")
	if !found || path == "" {
		return "", Usage(fmt.Sprintf("--state %s: want dir:PATH, or nothing for the cluster", flag))
	}
	return filepath.Clean(path), nil
}

// folder is statePath of a folder that must be there.
func folder(flag string) (string, error) {
	path, err := statePath(flag)
	if path == "" || err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", Fail(ReasonNotFound, fmt.Errorf("--state: %w", err), "new records in files begin with `policy set FILE --state "+flag+"`")
	}
	return path, nil
}

// InFiles says that --state leads to files.
func (f *ClusterFlags) InFiles() bool { return f.State != "" }

// NewFolder is the path of --state if records are yet to begin there: it is not
// there, or holds nothing but keys of a beginning that was stopped. "" where
// they have begun, or where the cluster keeps them.
func NewFolder(ctx context.Context, flags *ClusterFlags) (string, error) {
	path, err := statePath(flags.State)
	if path == "" || err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	store, other := dir.Open(path, time.Now), 0
	for _, t := range state.Types() {
		list, err := store.List(ctx, t, state.Selector{})
		switch {
		case err != nil:
			return "", err
		case t == state.TypePolicy && len(list) > 0:
			return "", nil
		case t != state.TypeKey:
			other += len(list)
		}
	}
	if other > 0 {
		return "", Fail(ReasonFailed, fmt.Errorf("%s holds records, but no policy: it was taken away", path), "bring it back; a new policy would not know of what is there")
	}
	return path, nil
}

// StartFolder begins records in a folder, with this policy as the first.
func (s *Session) StartFolder(ctx context.Context, path, source string, signer sign.Signer) error {
	store, err := dir.Create(path, time.Now)
	if err != nil {
		return err
	}
	return install.StartRecords(ctx, store, s.Cluster, install.Options{Caller: s.Gate.Caller, Credential: s.Gate.Credential, Signer: signer}, source)
}

// FitsFiles refuses a policy under which nobody could approve where records are
// files.
func FitsFiles(p *policy.Policy) error {
	if p.Approvals.Identity == policy.IdentitySigned {
		return nil
	}
	return Fail(ReasonBadInput, errors.New("no API server vouches for records in files, so that under this policy no approval would ever count"),
		"say so in the policy: spec.approvals.identity: signed")
}
