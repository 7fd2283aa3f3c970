package plan_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/state"
)

// hashCase is one file of testdata/hashes: what was observed, the plan that
// this makes, and its hash. They hold for ever: another hash for the same input
// needs another rule number.
type hashCase struct {
	About        string
	Cluster      plan.Cluster
	Prune        bool
	Observations []hashInput
	Bodies       []plan.Body // of operations that other appliers observe
	Plan         json.RawMessage
	Hash         string
}

type hashInput struct {
	Object, Live, Merged map[string]any
	Applier              plan.Applier
	Admission            []plan.AdmissionValue
	TakesOver            []plan.Takeover
	Unverified           string
}

func (in hashInput) observation(kinds listKinds) plan.Observation {
	o := manifest.Object{Content: masked(in.Object)}
	return plan.Observation{
		Object: o, Live: masked(in.Live), Merged: masked(in.Merged), Schema: kinds.of(o),
		StatusSubresource: true, Applier: in.Applier, Admission: in.Admission, TakesOver: in.TakesOver,
		Unverified: in.Unverified,
	}
}

// masked puts masked values where a Secret of a file has {"hmac": …}.
func masked(object map[string]any) map[string]any {
	data, _ := object["data"].(map[string]any)
	for key, value := range data {
		if form, ok := value.(map[string]any); ok {
			tag, bound := form["hmac"].(string)
			data[key] = state.Masked{Tag: tag, Unbound: !bound}
		}
	}
	return object
}

// listKinds are the real list kinds of some built-in kinds.
type listKinds struct {
	Types []schema.TypeDef
	Roots map[string]string // apiVersion/kind to type
}

func realListKinds(t *testing.T) listKinds {
	t.Helper()
	data, err := os.ReadFile("../../testdata/schema/builtin.yaml")
	assert.NilError(t, err)
	var k listKinds
	assert.NilError(t, yaml.Unmarshal(data, &k))
	return k
}

// of is nil for a kind that is not among them.
func (k listKinds) of(o manifest.Object) *diff.Schema {
	root, ok := k.Roots[o.APIVersion()+"/"+o.Kind()]
	if !ok {
		return nil
	}
	return &diff.Schema{Types: &schema.Schema{Types: k.Types}, Root: schema.TypeRef{NamedType: &root}}
}

func readHashCase(t *testing.T, file string) hashCase {
	t.Helper()
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	var c hashCase
	assert.NilError(t, decoder.Decode(&c), file)
	return c
}

func (c hashCase) build(t *testing.T, observations []plan.Observation) *plan.Plan {
	t.Helper()
	p, err := plan.Build(plan.Input{Cluster: c.Cluster, Prune: c.Prune, Observations: observations})
	assert.NilError(t, err)
	assert.Equal(t, len(p.Failed), 0, "%v", p.Failed)
	if len(c.Bodies) == 0 {
		return p
	}
	doc := map[string]any{"header": &p.Header, "changes": c.Bodies}
	for _, body := range c.Bodies {
		digest, err := state.DigestOf(body)
		assert.NilError(t, err)
		p.Header.Changes = append(p.Header.Changes, digest)
	}
	encoded, err := state.Canonical(doc)
	assert.NilError(t, err)
	p, err = plan.Decode(encoded)
	assert.NilError(t, err)
	return p
}

func TestGoldenHashesNeverChange(t *testing.T) {
	files, err := filepath.Glob("../../testdata/hashes/v1/*.json")
	assert.NilError(t, err)
	assert.Assert(t, len(files) >= 8)
	kinds := realListKinds(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := readHashCase(t, file)
			var observations []plan.Observation
			for _, in := range c.Observations {
				observations = append(observations, in.observation(kinds))
			}
			for seed := range uint64(10) {
				r := rand.New(rand.NewPCG(seed, 0))
				r.Shuffle(len(observations), func(i, j int) {
					observations[i], observations[j] = observations[j], observations[i]
				})
				p := c.build(t, observations)
				encoded, err := plan.Encode(p)
				assert.NilError(t, err)
				want, err := state.Canonical(c.Plan)
				assert.NilError(t, err)
				assert.Equal(t, string(encoded), string(want))
				assert.Equal(t, p.Hash, c.Hash)
				assert.Equal(t, p.Hash, hashByHand(t, encoded))
			}
		})
	}
}

// hashByHand computes the hash from the stored bytes as records.md has it,
// without this package.
func hashByHand(t *testing.T, encoded []byte) string {
	t.Helper()
	var doc struct {
		Header  map[string]json.RawMessage
		Changes []json.RawMessage
	}
	assert.NilError(t, json.Unmarshal(encoded, &doc))
	var digests []string
	for _, change := range doc.Changes {
		digests = append(digests, state.Digest(change))
	}
	var inHeader []string
	assert.NilError(t, json.Unmarshal(doc.Header["changes"], &inHeader))
	assert.Assert(t, slices.Equal(digests, inHeader))
	header, err := state.Canonical(doc.Header)
	assert.NilError(t, err)
	return state.Digest(header)
}
