package dir

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/state"
)

func FuzzAboutARecordIsReadStrictly(f *testing.F) {
	f.Add([]byte(`{"actor":"alice","created":"2026-11-01T09:00:00Z","groups":["sre"],"planHash":"sha256:aa","plan":"aa","scope":"bb"}`))
	f.Add([]byte(`{"created":"2026-11-01T09:00:00+01:00"}`))
	f.Add([]byte(`{"actor":"alice","actor":"bob","created":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var record state.Record
		if err := describe(&record, data); err != nil {
			return
		}
		again, err := state.Canonical(meta{Actor: record.Claims.Actor, Credential: record.Claims.Credential, Groups: record.Claims.Groups,
			PlanHash: record.Claims.PlanHash, Plan: record.Plan, Scope: record.Scope, Created: state.FormatTime(record.Created)})
		assert.NilError(t, err)
		assert.Equal(t, string(again), string(data))
	})
}
