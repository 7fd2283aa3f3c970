package cli

import (
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"
)

func TestTheCacheIsWhereThatOfKubectlIs(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  map[string]string
		want string
	}{
		{nil, map[string]string{"HOME": "/home/alice"}, "/home/alice/.kube/cache/changeward"},
		{nil, map[string]string{"HOME": "/home/alice", "KUBECACHEDIR": "/var/cache/kube"}, "/var/cache/kube/changeward"},
		{[]string{"--cache-dir=here"}, map[string]string{"HOME": "/home/alice"}, "here/changeward"},
		{nil, nil, ""}, // a container without a user
	} {
		root := &cobra.Command{}
		flags := NewClusterFlags(root)
		assert.NilError(t, root.ParseFlags(c.args))
		got := flags.cacheFolder(func(name string) string { return c.env[name] })
		assert.Equal(t, got, filepath.FromSlash(c.want))
	}
}
