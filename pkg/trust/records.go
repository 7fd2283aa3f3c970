package trust

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// Stored is the records that trust is read from.
type Stored struct {
	ClusterUID                      string
	Keys, Policies, Rosters, Epochs []state.Record
	// Decisions tell who has signed with which key before.
	Decisions []state.Record
}

// Version is one version of a policy, roster or epoch that counts.
type Version[P any] struct {
	Predicate   P
	Record      state.Record
	Digest      string // of the stored envelope
	Fingerprint string // of the key that signed
}

// Rejected is a record that counts for nothing, and why.
type Rejected struct {
	Type           state.Type
	Name           string
	Reason, Detail string
	Asked          *sign.Asked // as in sign.Rejected
}

// ReasonNotEntitled: a version that nobody signed who may set it.
const ReasonNotEntitled = "NotEntitled"

// Error says that a chain of versions does not hold.
type Error struct {
	Type state.Type
	Name string // of the record
	Why  string
}

func (e *Error) Error() string { return fmt.Sprintf("%s record %s: %s", e.Type, e.Name, e.Why) }

// candidate is a record of a chain, verified by itself.
type candidate struct {
	record      state.Record
	digest      string
	fingerprint string
	link        link
	void        string // why it counts for nothing; "" is not known yet
	policy      state.Policy
	roster      state.Roster
	epoch       state.Epoch
	settings    *policy.Policy // of a policy; its rules are not compiled
	unreadable  error          // of the text of a policy
}

// link is what all versions of a chain state.
type link struct {
	version        int
	previous, time string
	actor          state.Person
	clusterUID     string
}

// Opened is records whose signatures and forms were checked, in the order of
// their creation.
type Opened struct {
	items    []item
	said     map[string][]state.Record // by who wrote them
	cluster  string
	rejected []Rejected
}

// item is a key record or a candidate.
type item struct {
	created time.Time
	rank    int
	name    string
	key     *sign.KeyRecord
	version *candidate
}

// Within a second self-signed keys come first, so that an install that writes
// all in one holds, and revocations last.
const (
	rankPolicy = iota + sign.RankRevocation
	rankRoster
	rankEpoch
	rankRevocation
)

// Open reads all records. Those that do not even hold by themselves are named
// in what Read returns.
func Open(s Stored) *Opened {
	o := &Opened{cluster: s.ClusterUID, said: map[string][]state.Record{}}
	for _, record := range slices.Concat(s.Decisions, s.Policies, s.Rosters, s.Epochs) {
		o.said[record.Claims.Actor] = append(o.said[record.Claims.Actor], record)
	}
	keys, rejected := sign.ReadKeys(s.Keys, s.ClusterUID)
	for i := range keys {
		rank := keys[i].Rank()
		if rank == sign.RankRevocation {
			rank = rankRevocation
		}
		o.items = append(o.items, item{created: keys[i].Created(), rank: rank, name: keys[i].Name(), key: &keys[i]})
	}
	for _, r := range rejected {
		o.rejected = append(o.rejected, Rejected{Type: state.TypeKey, Name: r.Record, Reason: r.Err.Reason, Detail: r.Err.Error()})
	}
	for rank, list := range map[int][]state.Record{rankEpoch: s.Epochs, rankPolicy: s.Policies, rankRoster: s.Rosters} {
		for _, record := range list {
			c := open(record, s.ClusterUID)
			o.items = append(o.items, item{created: record.Created, rank: rank, name: record.Name, version: &c})
		}
	}
	slices.SortFunc(o.items, func(a, b item) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name))
	})
	return o
}

// open checks all that a version says about itself.
func open(record state.Record, clusterUID string) candidate {
	c := candidate{record: record, digest: state.Digest(record.Data[state.DataEnvelope])}
	opened, err := c.read()
	c.fingerprint = opened.Fingerprint
	at, timeErr := state.ParseTime(c.link.time)
	switch actor := c.link.actor; {
	case err != nil:
		c.void = err.Error()
	case !record.Immutable:
		c.void = "the record is not immutable"
	case c.link.clusterUID != clusterUID:
		c.void = "made for another cluster"
	case timeErr != nil || at.Sub(record.Created).Abs() > sign.MaxClockDifference: // or an epoch could attest what was written long before it
		c.void = fmt.Sprintf("signed as of %q, written at %s", c.link.time, state.FormatTime(record.Created))
	case record.Claims.Actor != actor.Username || !subset(actor.Groups, record.Claims.Groups):
		c.void = "signed statement and attested writer differ"
	}
	return c
}

// read opens the envelope as what the record's type says.
func (c *candidate) read() (sign.Opened, error) {
	envelope := c.record.Data[state.DataEnvelope]
	switch c.record.Type {
	case state.TypePolicy:
		opened, err := sign.Open(state.TypePolicy, envelope, &c.policy)
		p := c.policy
		c.link = link{p.Version, p.Previous, p.Time, p.Actor, p.ClusterUID}
		if err == nil {
			c.settings, c.unreadable = policy.Skim([]byte(p.Source))
		}
		return opened, err
	case state.TypeRoster:
		opened, err := sign.Open(state.TypeRoster, envelope, &c.roster)
		r := c.roster
		c.link = link{r.Version, r.Previous, r.Time, r.Actor, r.ClusterUID}
		return opened, err
	case state.TypeEpoch:
		opened, err := sign.Open(state.TypeEpoch, envelope, &c.epoch)
		e := c.epoch
		c.link = link{e.Version, e.Previous, e.Time, e.Actor, e.ClusterUID}
		return opened, err
	}
	return sign.Opened{}, errors.New("no version of anything")
}

func subset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}
