package incident_test

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/incident"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

func key(name string) manifest.Key {
	return manifest.Key{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: name}
}

func opened(name string, owners ...string) gate.IncidentRecord {
	r := gate.IncidentRecord{Name: "cw-incident-" + name, Incident: state.Incident{Action: state.IncidentStart, Until: "2026-03-02T07:00:00Z"}}
	for _, o := range owners {
		r.Owners = append(r.Owners, state.IncidentOwner{Group: key(o).Group, Kind: key(o).Kind, Namespace: key(o).Namespace, Name: o, Parent: o == "cluster"})
	}
	return r
}

func ended(name, start string) gate.IncidentRecord {
	return gate.IncidentRecord{Name: "cw-incident-" + name, Incident: state.Incident{Action: state.IncidentEnd, Incident: "cw-incident-" + start}}
}

func TestRecordsTellWhichIncidentsAreOpenAndWhichNamesMeanThem(t *testing.T) {
	all := incident.Replay([]gate.IncidentRecord{opened("aaaaaaaaaaaa", "apps", "cluster"), ended("cccccccccccc", "aaaaaaaaaaaa"), ended("dddddddddddd", "aaaaaaaaaaaa"),
		ended("eeeeeeeeeeee", "000000000000"), opened("bbbbbbbbbbbb", "apps", "infra")})
	assert.Equal(t, len(all), 2)
	assert.Equal(t, all[0].End.Name, "cw-incident-cccccccccccc", "the first end counts")
	assert.Assert(t, all[1].Open())
	late := time.Date(2026, 3, 2, 7, 0, 1, 0, time.UTC)
	assert.Assert(t, all[1].Overdue(late) && !all[0].Overdue(late) && !all[1].Overdue(late.Add(-time.Minute)))
	for _, ref := range []string{"", "i_bbbbbbbbbbbb", "apps", "flux-system/infra"} {
		found, err := incident.Find(all, ref)
		assert.NilError(t, err)
		assert.Equal(t, found.ID, "i_bbbbbbbbbbbb")
	}
	_, err := incident.Find(all, "nobody")
	assert.ErrorContains(t, err, `no incident "nobody"`)
	for _, c := range []struct {
		names     []string
		id        string
		continued bool
	}{{[]string{"apps", "infra"}, "i_bbbbbbbbbbbb", true}, {[]string{"apps"}, "i_bbbbbbbbbbbb", false}, {[]string{"cluster"}, "", false}, {[]string{"infra", "apps", "more"}, "i_bbbbbbbbbbbb", false}} {
		var keys []manifest.Key
		for _, name := range c.names {
			keys = append(keys, key(name))
		}
		found, continued := incident.Standing(all, keys)
		assert.Equal(t, continued, c.continued, "%v", c.names)
		assert.Equal(t, found != nil, c.id != "", "%v", c.names)
	}
}

func TestOwnersAreResumedAfterWhatTheyDependOn(t *testing.T) {
	needs := map[manifest.Key][]manifest.Key{key("apps"): {key("infra")}, key("infra"): {key("elsewhere")}, key("elsewhere"): {key("crds")}, key("crds"): {key("apps")}}
	assert.DeepEqual(t, incident.Order([]manifest.Key{key("apps"), key("crds"), key("infra"), key("cluster")}, needs),
		[]manifest.Key{key("crds"), key("infra"), key("apps"), key("cluster")})
}
