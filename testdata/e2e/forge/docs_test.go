package forge_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/testdata/e2e/parts"
)

// documented are the blocks of docs/direct-changes.md, in its order.
type documented struct {
	ask, approve, emergency, apply, rollback, drift, reconcile, settle string
}

func read(t *testing.T) documented {
	t.Helper()
	all := parts.Commands(t, "direct-changes.md")
	assert.Equal(t, len(all), 8)
	return documented{all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7]}
}

// ids finds requests.
func ids() *regexp.Regexp { return regexp.MustCompile(`c_[0-9a-f]{12}`) }

// types has someone run a block as typed, with the page's request replaced by
// this one, in a folder.
func (l *loop) types(who, dir, block, id string, code int) string {
	l.t.Helper()
	result := icmd.RunCmd(icmd.Command("sh", "-ec", ids().ReplaceAllString(block, id)), icmd.Dir(dir), icmd.WithEnv(l.env(who)...))
	assert.Equal(l.t, result.ExitCode, code, "%s\n%s", block, result.Combined())
	return result.Stdout()
}

// asked is the request that an answer names.
func asked(t *testing.T, said string) string {
	t.Helper()
	_, rest, found := strings.Cut(said, "\nchange ")
	assert.Assert(t, found, said)
	return ids().FindString(rest)
}

func TestTheLoopOfTheDocsWorksAsWritten(t *testing.T) {
	l, page, desk := newLoop(t), read(t), t.TempDir()
	l.ownerApplies()
	assert.NilError(t, os.WriteFile(filepath.Join(desk, "hot.yaml"), []byte(strings.Replace(l.manifest, `"false"`, `"true"`, 1)), 0o600))
	change := func() string {
		id := asked(t, l.types("bob", desk, page.ask, "", 2))
		l.types("alice", desk, page.approve+" --yes", id, 0)
		l.types("bob", desk, page.apply, id, 0)
		assert.Equal(t, l.live(), "true")
		return id
	}
	wrong := change()
	back := asked(t, l.types("bob", desk, page.rollback, wrong, 2))
	l.types("alice", desk, page.emergency+" --yes", back, 0)
	l.types("bob", desk, page.rollback, wrong, 0)
	assert.Equal(t, l.live(), "false")

	right := change()
	l.types("bob", desk, page.drift, "", 3)
	l.types("bob", l.dir, page.reconcile+" --forge gitea", right, 0)
	l.Merge(t, 1)
	l.pull()
	l.ownerHasReconciled()
	assert.Assert(t, strings.Contains(l.types("bob", l.dir, page.settle, "", 0), right))
	assert.Assert(t, !strings.Contains(l.types("bob", desk, page.drift, "", 0), right), "it is settled")
}
