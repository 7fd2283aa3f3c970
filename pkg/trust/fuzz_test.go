package trust_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/trust"
)

func FuzzARosterThatIsReadIsWrittenAndReadTheSame(f *testing.F) {
	const head = "apiVersion: changeward.dev/v1alpha1\nkind: Roster\nspec:\n"
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
	f.Add([]byte(head + "  expires: 2027-01-01T00:00:00Z\n  people:\n  - user: alice\n    logins: [github:alice]\n    keys: [" + key + "]\n"))
	f.Add([]byte(head + "  people:\n  - {user: \"a\\nb\", keys: [" + key + ", " + key + "]}\n"))
	f.Add([]byte(head + "  people: [{user: &a alice, keys: [*a]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		roster, err := trust.ParseRoster(data)
		if err != nil {
			return
		}
		text, err := roster.Format()
		assert.NilError(t, err)
		again, err := trust.ParseRoster(text)
		assert.NilError(t, err, "%s", text)
		assert.Equal(t, again.Expires, roster.Expires)
		assert.Equal(t, len(again.Keys), len(roster.Keys))
		same, err := again.Format()
		assert.NilError(t, err)
		assert.Equal(t, string(same), string(text))
	})
}
