package gate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/state"
)

// attack is testdata/attacks/NN-name/attack.yaml: see the README there.
type attack struct {
	Attack string  `json:"attack"`
	Tests  []proof `json:"tests"`
	Deeds  []deed  `json:"deeds"`
}

// proof names tests of a package that prove the rest of a group.
type proof struct {
	Package string   `json:"package"`
	Names   []string `json:"names"`
}

// deed is what an attacker does, step by step, and what must come of it.
type deed struct {
	Deed    string `json:"deed"`
	Reason  string `json:"reason"`  // that must be given, where records are files
	Fenced  string `json:"fenced"`  // and in a cluster, behind the fence; "": the same
	Only    string `json:"only"`    // files, or cluster; "": both
	Quorum  int    `json:"quorum"`  // how many are asked; 0: one
	Verdict string `json:"verdict"` // of the gate, afterwards; "": approval-required
	Steps   []step `json:"steps"`
}

// step is one thing that someone does. Do is one of the verbs of stage.do.
type step struct {
	Do      string         `json:"do"`
	Who     string         `json:"who"`     // who does it, with their own account
	Key     string         `json:"key"`     // whose key signs; "": their own
	Type    state.Type     `json:"type"`    // of a record
	Plan    string         `json:"plan"`    // FROM TO of the flag that is planned
	Request int            `json:"request"` // the how-manieth of the deed; 0: the last
	Under   int            `json:"under"`   // the request under whose label and hash a record is stored; 0: its own
	Set     map[string]any `json:"set"`     // members of a predicate
	Claim   string         `json:"claim"`   // actor that the record claims; "": who does it
	Groups  []string       `json:"groups"`  // that the record claims
	Number  int            `json:"number"`  // of a record
	Again   bool           `json:"again"`   // ask again after a rejection
	For     string         `json:"for"`     // how long to wait

	Space string `json:"space"` // namespace of the signature
}

const attacksFolder = "../../testdata/attacks"

// attacks reads the corpus, by the names of its folders.
func attacks(t *testing.T) map[string]attack {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(attacksFolder, "*", "attack.yaml"))
	assert.NilError(t, err)
	all := map[string]attack{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		var a attack
		assert.NilError(t, yaml.UnmarshalStrict(text, &a), file)
		all[filepath.Base(filepath.Dir(file))] = a
	}
	return all
}

func TestEveryAttackIsInTheCorpusAndProvedByTestsThatExist(t *testing.T) {
	all := attacks(t)
	for group := 1; group <= 20; group++ {
		var names []string
		for name, a := range all {
			if strings.HasPrefix(name, fmt.Sprintf("%02d-", group)) {
				names = append(names, name)
				assert.Assert(t, a.Attack != "" && len(a.Tests)+len(a.Deeds) > 0, name)
			}
		}
		assert.Equal(t, len(names), 1, "folders of group %d: %v", group, names)
	}
	assert.Equal(t, len(all), 20)
	for folder, a := range all {
		for _, d := range a.Deeds {
			assert.Assert(t, d.Reason != "" && len(d.Steps) > 0 && d.Verdict != state.VerdictAllowed, "%s: %s", folder, d.Deed)
		}
		for _, p := range a.Tests {
			there := testsOf(t, p.Package)
			for _, name := range p.Names {
				assert.Assert(t, slices.Contains(there, name), "%s: %s has no %s", folder, p.Package, name)
			}
		}
	}
}

// testsOf lists the tests and fuzz targets of a package.
func testsOf(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	assert.NilError(t, err)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		for _, match := range declared.FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
	}
	return names
}

// play does the deed, runs the gate once more over what was put forward last,
// and checks what came of it.
func (s *stage) play(d deed, reason string) {
	s.t.Helper()
	s.object = map[int]string{0: "flags", 1: "flags", 2: "pair"}[d.Quorum]
	for _, step := range d.Steps {
		s.do(step)
	}
	verdict := s.judge()
	s.listen()
	assert.Assert(s.t, slices.ContainsFunc(s.heard, func(text string) bool { return strings.Contains(text, reason) }),
		"%s is not among\n%s", reason, strings.Join(s.heard, "\n"))
	if d.Verdict == "" {
		d.Verdict = state.VerdictApprovalRequired
	}
	assert.Equal(s.t, verdict, d.Verdict)
}

func TestTheAttacksFailWhereRecordsAreFiles(t *testing.T) {
	for folder, a := range attacks(t) {
		for _, d := range a.Deeds {
			if d.Only == "cluster" {
				continue
			}
			t.Run(folder+"/"+d.Deed, func(t *testing.T) { filesStage(t).play(d, d.Reason) })
		}
	}
}

// filesStage is a world of files with everyone's key in it.
func filesStage(t *testing.T) *stage {
	w := newWorld(t)
	for name := range cast() {
		w.enrollByHand(name)
	}
	w.setPolicy(stagePolicy("signed", "admins"))
	w.tick()
	return &stage{t: t, uid: clusterUID, keys: w.keys, admin: person("root", "admins"),
		store: func(string) state.Store { return w.store }, tick: w.tick,
		gate: w.as, ci: ci().Username, wait: func(d time.Duration) { w.now = w.now.Add(d) }}
}
