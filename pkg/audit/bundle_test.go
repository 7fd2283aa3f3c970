package audit

import (
	"bytes"
	"compress/gzip"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
)

func sampleBundle() Bundle {
	created := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	return NewBundle("uid", created, []state.Record{
		{Type: state.TypePlan, Name: "cw-plan-000001", Plan: "p", Scope: "s", UID: "1", Created: created, Immutable: true,
			Claims: state.Claims{Actor: "ci"}, Data: map[string][]byte{state.DataEnvelope: []byte("{}"), state.DataPlan: {0, 1, 2}}},
		{Type: state.TypeDecision, Name: "cw-decision-0123456789ab", UID: "2", Created: created,
			Claims: state.Claims{Actor: "alice", Groups: []string{"sre"}, PlanHash: "sha256:1"}, Data: map[string][]byte{state.DataEnvelope: []byte("{}")}},
	})
}

func packed(t testing.TB, b Bundle) []byte {
	t.Helper()
	var out bytes.Buffer
	assert.NilError(t, b.Write(&out))
	return out.Bytes()
}

func TestABundleReadsBackAsItWasWrittenAndAlwaysHasTheSameBytes(t *testing.T) {
	b := sampleBundle()
	content := packed(t, b)
	read, err := ReadBundle(bytes.NewReader(content))
	assert.NilError(t, err)
	assert.DeepEqual(t, *read, b)
	assert.Assert(t, bytes.Equal(packed(t, *read), content))
}

func TestABundleThatIsNotWholeIsRefused(t *testing.T) {
	good := sampleBundle()
	short, twice, foreign := good, good, good
	short.Records = good.Records[:1]
	twice.Records = []state.Record{good.Records[0], good.Records[0]}
	foreign.Header.Version = "changeward.dev/bundle/v9"
	content := packed(t, good)
	var empty bytes.Buffer
	assert.NilError(t, gzip.NewWriter(&empty).Close())
	for want, content := range map[string][]byte{
		"holds 1 records, and says 2":            packed(t, short),
		"cw-plan-000001 is there twice":          packed(t, twice),
		`bundle of version "changeward.dev/bund`: packed(t, foreign),
		"unexpected EOF":                         content[:len(content)-9],
		"no bundle: it is empty":                 empty.Bytes(),
		"no bundle":                              []byte("plan: 1"),
	} {
		_, err := ReadBundle(bytes.NewReader(content))
		assert.ErrorContains(t, err, want)
	}
}

func FuzzReadBundle(f *testing.F) {
	f.Add(packed(f, sampleBundle()))
	f.Fuzz(func(t *testing.T, content []byte) {
		if b, err := ReadBundle(bytes.NewReader(content)); err == nil {
			again, err := ReadBundle(bytes.NewReader(packed(t, *b)))
			assert.NilError(t, err)
			assert.DeepEqual(t, again, b)
		}
	})
}
