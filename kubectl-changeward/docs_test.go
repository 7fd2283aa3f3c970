package main

import (
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/cli"
)

// pages are those that show commands.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"../README.md", "../docs/*.md", "../docs/cookbook/*.md"} {
		found, err := filepath.Glob(pattern)
		assert.NilError(t, err)
		all = append(all, found...)
	}
	assert.Assert(t, len(all) > 8)
	return all
}

// blocks are the fenced blocks of a page that begin with the fence.
func blocks(page, fence string) []string {
	var all []string
	for _, part := range strings.Split("\n"+page, "\n"+fence+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		all = append(all, block)
	}
	return all
}

// words is a command as typed, up to what the shell does with it.
func words(line string) []string {
	var all []string
	for word := range strings.FieldsSeq(line) {
		if strings.ContainsAny(word[:1], "|>&#<;") {
			break
		}
		all = append(all, strings.Trim(word, `'"`))
	}
	return all
}

func TestEveryCommandOfThePagesIsOneWithTheFlagsThatItHas(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		text := strings.ReplaceAll(string(read(t, page)), "\\\n", " ")
		for _, block := range blocks(text, "```") {
			for line := range strings.Lines(block) {
				typed, found := strings.CutPrefix(line, "kubectl changeward ")
				if !found {
					continue
				}
				seen++
				cmd, rest, err := newRoot(cli.Streams{Program: "kubectl changeward"}).Find(words(typed))
				assert.NilError(t, err, "%s: %s", page, line)
				assert.Assert(t, cmd.HasParent(), "%s: %s", page, line)
				assert.Check(t, cmd.ParseFlags(rest), "%s: %s", page, line)
			}
		}
	}
	assert.Assert(t, seen > 15, "%d", seen)
}

func TestTheSamplesForPipelinesSetInputsThatThereAre(t *testing.T) {
	page := string(read(t, "../docs/ci.md"))
	samples := blocks(page, "```yaml")
	assert.Equal(t, len(samples), 2)
	var action struct {
		Inputs map[string]struct{ Required bool }
	}
	assert.NilError(t, yaml.Unmarshal(read(t, "../integrations/github-actions/action.yml"), &action))
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	assert.NilError(t, yaml.Unmarshal([]byte(samples[0]), &workflow))
	steps := workflow.Jobs["gate"].Steps
	given := steps[len(steps)-1].With
	for name := range given {
		assert.Assert(t, named(action.Inputs, name), name)
	}
	for name, input := range action.Inputs {
		assert.Assert(t, !input.Required || given[name] != "", name)
	}
	head, _, _ := strings.Cut(string(read(t, "../integrations/gitlab-ci/templates/gate.yml")), "\n---\n")
	var component struct {
		Spec struct{ Inputs map[string]any }
	}
	assert.NilError(t, yaml.Unmarshal([]byte(head), &component))
	var include struct {
		Include []struct{ Inputs map[string]string }
	}
	assert.NilError(t, yaml.Unmarshal([]byte(samples[1]), &include))
	for name := range include.Include[0].Inputs {
		assert.Assert(t, named(component.Spec.Inputs, name), name)
	}
}

func named[T any](all map[string]T, name string) bool { _, found := all[name]; return found }
