package diff_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
)

func TestPathsAreReadBackAsTheyWereWritten(t *testing.T) {
	key := func(k string) diff.Step { return diff.Step{Key: k} }
	at := func(s string) diff.Step { return diff.Step{Selector: s} }
	for path, want := range map[string][]diff.Step{
		`data.a-b_C9`:          {key("data"), key("a-b_C9")},
		`data["tls.crt"].x`:    {key("data"), key("tls.crt"), key("x")},
		`["a"]["b.c"]`:         nil, // a is bare
		`["a.b"][""]`:          {key("a.b"), key("")},
		`a["]"]`:               {key("a"), key("]")},
		`a[name="x]\"y"].b`:    {key("a"), at(`[name="x]\"y"]`), key("b")},
		`a[p=80,q="TCP"][0]`:   {key("a"), at(`[p=80,q="TCP"]`), at("[0]")},
		`a[="v"]`:              {key("a"), at(`[="v"]`)},
		``:                     nil,
		`a.`:                   nil,
		`a..b`:                 nil,
		`.a`:                   nil,
		`a.[0]`:                nil,
		`a[0`:                  nil,
		`a[0]b`:                nil,
		`a b`:                  nil,
		"a[\"b\\u0041\"]":      nil, // not canonical
		`a["x.y"]z`:            nil,
		`metadata.labels["ü"]`: {key("metadata"), key("labels"), key("ü")},
	} {
		got, ok := diff.ParsePath(path)
		assert.Equal(t, ok, want != nil, path)
		if ok {
			assert.DeepEqual(t, got, want)
			assert.Equal(t, written(got), path)
		}
	}
}

func written(steps []diff.Step) string {
	var path string
	for _, step := range steps {
		if step.Selector != "" {
			path += step.Selector
		} else {
			path = manifest.Child(path, step.Key)
		}
	}
	return path
}

func FuzzParsePath(f *testing.F) {
	f.Add(`a.b["c d"][name="x",port=1][0][="v"]`)
	f.Fuzz(func(t *testing.T, path string) {
		steps, ok := diff.ParsePath(path)
		if ok && written(steps) != path {
			t.Errorf("%q reads as %q", path, written(steps))
		}
		if !ok && strings.Trim(path, "abc.") == "" && !strings.Contains(path, "..") &&
			path != "" && path[0] != '.' && path[len(path)-1] != '.' {
			t.Errorf("%q is a path", path)
		}
	})
}
