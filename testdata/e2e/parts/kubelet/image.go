package kubelet

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// Image is what a Dockerfile makes.
type Image struct {
	Root       string // folder of its files
	Entrypoint []string
	User       int64
}

// Build follows a Dockerfile whose last stage is FROM scratch: what its RUN
// lines compile is compiled on this machine, with /out in a folder of the
// test's, and what it copies from an earlier stage comes from there, else from
// this machine. Any line that it does not understand fails the test.
func Build(t testing.TB, dockerfile string) Image {
	t.Helper()
	text, err := os.ReadFile(dockerfile)
	assert.NilError(t, err)
	b := builder{context: filepath.Dir(dockerfile), out: t.TempDir(), image: Image{Root: t.TempDir()}}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "" && !strings.HasPrefix(word, "#") {
			b.line(t, word, strings.TrimSpace(rest))
		}
	}
	assert.Assert(t, b.last, "the last stage is not FROM scratch")
	return b.image
}

type builder struct {
	context, out string
	last         bool // in the last stage
	image        Image
}

func (b *builder) line(t testing.TB, word, rest string) {
	t.Helper()
	switch {
	case word == "FROM":
		b.last = rest == "scratch"
	case word == "LABEL" || word == "ARG" || !b.last && (word == "WORKDIR" || word == "COPY"):
	case word == "RUN" && !b.last:
		b.compile(t, strings.ReplaceAll(rest, "/out/", b.out+"/"))
	case word == "COPY":
		b.copy(t, rest)
	case word == "USER":
		user, _, _ := strings.Cut(rest, ":")
		id, err := strconv.ParseInt(user, 10, 64)
		assert.NilError(t, err, "a user by number, so that runAsNonRoot can be checked")
		b.image.User = id
	case word == "ENTRYPOINT":
		assert.NilError(t, json.Unmarshal([]byte(rest), &b.image.Entrypoint))
	default:
		t.Fatalf("%s %s: not understood here", word, rest)
	}
}

func (b *builder) compile(t testing.TB, script string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Dir = b.context
	said, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s: %s", script, said)
}

func (b *builder) copy(t testing.TB, rest string) {
	t.Helper()
	words := strings.Fields(rest)
	assert.Assert(t, len(words) == 3 && strings.HasPrefix(words[0], "--from="), "COPY %s: not understood here", rest)
	source := words[1]
	if name, compiled := strings.CutPrefix(source, "/out/"); compiled {
		source = filepath.Join(b.out, name)
	}
	info, err := os.Stat(source)
	assert.NilError(t, err)
	content, err := os.ReadFile(source)
	assert.NilError(t, err)
	target := filepath.Join(b.image.Root, words[2])
	assert.NilError(t, os.MkdirAll(filepath.Dir(target), 0o755))
	assert.NilError(t, os.WriteFile(target, content, info.Mode().Perm()|0o444))
}
