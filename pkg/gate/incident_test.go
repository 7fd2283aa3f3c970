package gate_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

func opening() state.Incident {
	return state.Incident{Action: state.IncidentStart, Reason: "checkout is down", Owners: []state.IncidentOwner{{
		Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: "apps", UID: "u1"}}}
}

func TestAnIncidentIsSignedByWhoSpeaksAndReadBack(t *testing.T) {
	w := newWorld(t)
	who := alice(w)
	w.tick()
	g := w.as(who)
	name, err := g.RecordIncident(t.Context(), w.load(), opening(), w.keys["alice"], false)
	assert.NilError(t, err)
	again, err := g.RecordIncident(t.Context(), w.load(), opening(), w.keys["alice"], false)
	assert.NilError(t, err)
	assert.Equal(t, name, again, "the same word of the same second is one record")
	w.tick()
	end := opening()
	end.Action, end.Incident = state.IncidentEnd, name
	_, err = g.RecordIncident(t.Context(), w.load(), end, w.keys["alice"], false)
	assert.NilError(t, err)
	found := w.load().Incidents()
	assert.Equal(t, len(found), 2)
	assert.Equal(t, found[0].Name, name)
	assert.Equal(t, found[0].Person.Username, "alice")
	assert.Equal(t, found[1].Incident.Incident, name)
}

func TestIncidentRecordsThatDoNotHoldAreNamedAndCountForNothing(t *testing.T) {
	w := newWorld(t)
	alice(w)
	w.tick()
	for reason, change := range map[string]func(*state.Incident){
		approval.WrongCluster:   func(i *state.Incident) { i.ClusterUID = "another" },
		approval.ActorMismatch:  func(i *state.Incident) { i.Person = person("root") },
		approval.ClockSkew:      func(i *state.Incident) { i.Time = "2020-01-01T00:00:00Z" },
		approval.BadRecord:      func(i *state.Incident) { i.Action = "pause" },
		approval.KeyNotEnrolled: func(i *state.Incident) { i.Person = person("mallory") },
	} {
		i := opening()
		i.ClusterUID, i.Person, i.Time = clusterUID, person("alice"), w.stamp()
		change(&i)
		actor := "alice"
		if reason == approval.KeyNotEnrolled {
			actor = "mallory"
		}
		envelope, payload, err := sign.Seal(w.keys["alice"], state.TypeIncident, "", "", i)
		assert.NilError(t, err)
		name := state.ContentName(state.TypeIncident, payload)
		w.putRaw(state.TypeIncident, name, envelope, person(actor))
		l := w.load()
		assert.Equal(t, len(l.Incidents()), 0, reason)
		rejected := l.Rejected[len(l.Rejected)-1]
		for _, r := range l.Rejected {
			if r.Name == name {
				rejected = r
			}
		}
		assert.Equal(t, rejected.Name, name)
		assert.Equal(t, rejected.Reason, reason, rejected.Detail)
		facts, err := w.as(ci()).Examine(t.Context())
		assert.NilError(t, err)
		var told []string
		for _, f := range facts.Faults {
			told = append(told, f.Record+" "+f.Reason)
		}
		assert.Assert(t, strings.Contains(strings.Join(told, "\n"), name+" "+reason), told)
	}
}
