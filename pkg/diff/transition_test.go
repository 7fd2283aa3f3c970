package diff_test

import (
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/state"
)

func TestTransitionsKeepTheirBytes(t *testing.T) {
	for _, line := range []string{
		`{"action":"add","new":null,"path":"a"}`,
		`{"action":"remove","old":12345678901234567890,"path":"a"}`,
		`{"action":"change","new":1.5e300,"old":{"b":["<&>",true]},"path":"a"}`,
		`{"action":"order","new":["b","a"],"old":["a","b"],"path":"a"}`,
	} {
		var got diff.Transition
		assert.NilError(t, json.Unmarshal([]byte(line), &got))
		again, err := state.Canonical(got)
		assert.NilError(t, err)
		assert.Equal(t, string(again), line)
	}
}

func TestTransitionsOfAnotherFormAreRefused(t *testing.T) {
	for name, line := range map[string]string{
		"unknown action":          `{"action":"swap","new":1,"old":1,"path":"a"}`,
		"no action":               `{"new":1,"old":1,"path":"a"}`,
		"no path":                 `{"action":"add","new":1}`,
		"an add with an old":      `{"action":"add","new":1,"old":1,"path":"a"}`,
		"an add without its new":  `{"action":"add","old":1,"path":"a"}`,
		"a remove with a new":     `{"action":"remove","new":1,"path":"a"}`,
		"a change without an old": `{"action":"change","new":1,"path":"a"}`,
		"an unknown member":       `{"action":"add","new":1,"path":"a","x":1}`,
		"a list":                  `[]`,
	} {
		var got diff.Transition
		assert.Assert(t, json.Unmarshal([]byte(line), &got) != nil, name)
	}
}
