package forge_test

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/changeward/changeward/pkg/reconcile/fault"
	"github.com/changeward/changeward/pkg/reconcile/forge"
)

// everything has a token for each forge.
func everything(name string) string {
	switch name {
	case "GITHUB_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN":
		return "token of " + name
	}
	return ""
}

func TestARemoteSaysWhichForgeItIsOnAndAFlagSaysItOfOthers(t *testing.T) {
	for _, test := range []struct {
		remote, flag   string
		kind           forge.Kind
		web, path      string
		reason         string
		nothing, unset bool
	}{
		{remote: "https://github.com/team/shop.git", kind: forge.GitHub, web: "https://github.com", path: "team/shop"},
		{remote: "git@github.com:team/shop.git", kind: forge.GitHub, web: "https://github.com", path: "team/shop"},
		{remote: "ssh://git@ssh.github.com:443/team/shop.git", kind: forge.GitHub, web: "https://github.com", path: "team/shop"},
		{remote: "https://user:secret@gitlab.com/team/apps/shop", kind: forge.GitLab, web: "https://gitlab.com", path: "team/apps/shop"},
		{remote: "git@codeberg.org:/team/shop/", kind: forge.Gitea, web: "https://codeberg.org", path: "team/shop"},
		{remote: "https://git.example.com:8443/team/shop.git", flag: "gitea", kind: forge.Gitea, web: "https://git.example.com:8443", path: "team/shop"},
		{remote: "ssh://git@git.example.com:2222/team/shop.git", flag: "gitlab", kind: forge.GitLab, web: "https://git.example.com", path: "team/shop"},
		{remote: "git@git.example.com:team/shop.git", flag: "gitea=http://git.example.com:3000/", kind: forge.Gitea, web: "http://git.example.com:3000", path: "team/shop"},
		{remote: "https://example.com/git/team/shop.git", flag: "gitea=https://example.com/git", kind: forge.Gitea, web: "https://example.com/git", path: "team/shop"},
		{remote: "https://git.example.com/team/shop.git", nothing: true},
		{remote: "/srv/git/shop.git", nothing: true},
		{remote: "https://github.com.example.com/team/shop.git", nothing: true},
		{remote: "/srv/git/shop.git", flag: "github", reason: fault.UnknownForge},
		{remote: "https://github.com/shop", reason: fault.UnknownForge},
		{remote: "https://github.com/team/shop", flag: "bitbucket", reason: fault.UnknownForge},
		{remote: "https://github.com/team/shop", flag: "github=ftp://x", reason: fault.UnknownForge},
		{remote: "https://github.com/team/shop", unset: true, reason: fault.NoToken},
	} {
		t.Run(test.remote+" "+test.flag, func(t *testing.T) {
			getenv := everything
			if test.unset {
				getenv = func(string) string { return "" }
			}
			place, err := forge.Detect(test.remote, test.flag, getenv)
			if test.reason != "" {
				var fails *fault.Error
				assert.Assert(t, errors.As(err, &fails), "%v", err)
				assert.Equal(t, fails.Reason, test.reason)
				return
			}
			assert.NilError(t, err)
			if test.nothing {
				assert.Assert(t, is.Nil(place))
				return
			}
			assert.Equal(t, place.Kind, test.kind)
			assert.Equal(t, place.Web, test.web)
			assert.Equal(t, place.Path, test.path)
			assert.Assert(t, place.Token != "")
		})
	}
}
