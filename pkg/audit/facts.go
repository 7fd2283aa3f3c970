package audit

import (
	"time"

	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

// Facts are all records of an install at one moment, each opened and judged on
// its own: is the signature good, was the key its writer's when it was written.
// Lists are sorted by number or age.
type Facts struct {
	ClusterUID  string
	ClusterName string
	Now         time.Time
	FirstPolicy string           // digest of the envelope of policy version 1; "": there is none
	Policies    []*policy.Policy // the versions that hold
	Rosters     []Roster         // the versions that hold
	Epochs      int              // how many epochs hold
	Entries     []Entry
	Plans       []Plan
	Decisions   []Decision
	Outcomes    []Outcome
	Reviews     []Review
	Keys        int // enrolled keys, revoked ones too
	// Faults are records that do not hold, other than those above.
	Faults []Finding
	// Mislabelled are records whose labels are not those of what they say.
	Mislabelled []Finding
}

// Roster is one version of the list of keys that count, in its time.
type Roster struct {
	From, Until time.Time         // Until is its own end, zero: none; the next version ends it, too
	People      map[string]string // by fingerprint of their keys
}

// Entry is one audit record. One that is void is of its own number at least.
type Entry struct {
	state.Audit
	Name     string // of the record
	Digest   string // of the stored envelope
	Created  time.Time
	SignedBy string // fingerprint
	ByGate   bool   // signed with the gate key of its time
	// Admin says that its writer is an admin by name, which only a checkpoint
	// needs to be.
	Admin        bool
	Void, Detail string // why it does not hold; "": it holds
}

// Plan is one change request.
type Plan struct {
	ID, Hash, Name string
	Number         int
	Header         state.Plan
	Created        time.Time
	SignedBy       string
	// Known says that the key is the gate's, or enrolled for the proposer.
	Known        bool
	Hooks        bool     // it has some; only read for archives
	Chunks       []string // under which names its chunks may be
	Void, Detail string
}

// Decision is what one person said of one plan.
type Decision struct {
	state.Decision
	Name, Digest, Hash string
	Created            time.Time
	SignedBy           string
	Revoked            bool     // the key has been revoked since
	Groups             []string // claimed, and checked by admission when it was written
	Void, Detail       string   // why the signature proves nothing; "": it does
}

// Outcome is what became of a plan.
type Outcome struct {
	state.Outcome
	Name, Hash   string
	Created      time.Time
	Void, Detail string
}

// Review is what one person said of an approval in an emergency, afterwards.
type Review struct {
	state.Review
	Name, Hash   string
	Created      time.Time
	Void, Detail string
}

// plan finds the request that a number and hash are about.
func (f Facts) plan(number int, hash string) (Plan, bool) {
	for i := range f.Plans {
		if p := &f.Plans[i]; p.Number == number && p.Hash == hash && hash != "" {
			return *p, true
		}
	}
	return Plan{}, false
}

// checkpoint is the newest one by an admin, nil if there is none.
func (f Facts) checkpoint() *Entry {
	for i := len(f.Entries) - 1; i >= 0; i-- {
		if e := f.Entries[i]; e.Void == "" && e.Admin && e.Archive != nil {
			return &f.Entries[i]
		}
	}
	return nil
}

// decision finds a decision by the digest of its envelope.
func (f Facts) decision(digest string) (Decision, bool) {
	for i := range f.Decisions {
		if d := &f.Decisions[i]; d.Digest == digest {
			return *d, true
		}
	}
	return Decision{}, false
}
