package parts

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"gotest.tools/v3/assert"
)

// Commands are the blocks of commands in a page of docs/, in their order.
func Commands(t testing.TB, page string) []string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "..", "..", "docs", page))
	assert.NilError(t, err)
	var blocks []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)\n```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}
