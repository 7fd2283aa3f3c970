// Package gitea starts a real Gitea for tests, and drives it through its API.
//
// Enter at Start, which returns when it serves; then Person makes users with
// tokens, Repository private repositories, and Commit, Protect and Clone work
// on those. The server is bin/gitea, built by `make gitea`. It ends with the
// test, however that ends.
package gitea

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/icmd"

	"github.com/changeward/changeward/testdata/e2e/parts"
)

// Server is a running Gitea.
type Server struct {
	// URL is where it serves, such as http://127.0.0.1:3000, without a slash at
	// its end.
	URL string
	// Root is its admin.
	Root Person
}

// Person is a user.
type Person struct {
	Name string
	// Token is one with the scopes that the person was made with.
	Token string
	// Client acts as the person, by the token.
	Client *sdk.Client
}

// settings is app.ini: the data folder, that of templates and options, and the
// port. What would reach out or take time is off.
const settings = `RUN_MODE = prod
WORK_PATH = %[1]s
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]d
ROOT_URL = http://127.0.0.1:%[3]d/
STATIC_ROOT_PATH = %[2]s
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
SQLITE_JOURNAL_MODE = WAL
[security]
INSTALL_LOCK = true
SECRET_KEY = for tests alone
PASSWORD_HASH_ALGO = pbkdf2$1000$50
[service]
DISABLE_REGISTRATION = true
[repository]
DEFAULT_BRANCH = main
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = false
[packages]
ENABLED = false
[cron]
ENABLED = false
[log]
LEVEL = Warn
`

// Start runs a Gitea with an empty SQLite database for this test alone, and
// stops it when the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	binary := parts.Binary(t, "gitea", "gitea")
	dir, port := t.TempDir(), parts.FreePort(t)
	config := filepath.Join(dir, "app.ini")
	ini := fmt.Sprintf(settings, dir, filepath.Join(filepath.Dir(binary), "gitea-static"), port)
	assert.NilError(t, os.WriteFile(config, []byte(ini), 0o600))

	run := func(args ...string) string {
		t.Helper()
		command := icmd.Command(binary, append(args, "--config", config)...)
		result := icmd.RunCmd(command, icmd.Dir(dir))
		result.Assert(t, icmd.Success)
		return result.Stdout()
	}
	run("migrate")
	run("admin", "user", "create", "--admin", "--username", "root", "--email", "root@example.com",
		"--password", password, "--must-change-password=false")
	said := run("admin", "user", "generate-access-token", "--username", "root", "--scopes", "all", "--raw")
	token := regexp.MustCompile(`(?m)^[0-9a-f]{40}$`).FindString(said) // it logs there, too, before or after
	assert.Assert(t, token != "", said)

	s := &Server{URL: fmt.Sprintf("http://127.0.0.1:%d", port)}
	parts.Run(t, "gitea", dir, nil, binary, "web", "--config", config).Ready(t, s.URL+"/api/healthz")
	s.Root = s.person(t, "root", token)
	return s
}

// password is everyone's.
const password = "correct horse battery staple"

func (s *Server) person(t testing.TB, name, token string) Person {
	t.Helper()
	client, err := sdk.NewClient(s.URL, sdk.SetToken(token))
	assert.NilError(t, err)
	return Person{Name: name, Token: token, Client: client}
}

// Person makes a user, and a token with the scopes given, such as
// write:repository; none stands for all. The name must be new.
func (s *Server) Person(t testing.TB, name string, scopes ...sdk.AccessTokenScope) Person {
	t.Helper()
	_, _, err := s.Root.Client.AdminCreateUser(sdk.CreateUserOption{Username: name, Email: name + "@example.com",
		Password: password, MustChangePassword: new(bool)})
	assert.NilError(t, err)
	return s.Token(t, name, scopes...)
}

// Token is an existing person with a further token, of the scopes given.
func (s *Server) Token(t testing.TB, name string, scopes ...sdk.AccessTokenScope) Person {
	t.Helper()
	if len(scopes) == 0 {
		scopes = []sdk.AccessTokenScope{sdk.AccessTokenScopeAll}
	}
	client, err := sdk.NewClient(s.URL, sdk.SetBasicAuth(name, password))
	assert.NilError(t, err)
	tokens, _, err := client.ListAccessTokens(sdk.ListAccessTokensOptions{})
	assert.NilError(t, err)
	token, _, err := client.CreateAccessToken(sdk.CreateAccessTokenOption{Name: fmt.Sprintf("token-%d", len(tokens)), Scopes: scopes})
	assert.NilError(t, err)
	return s.person(t, name, token.Token)
}
