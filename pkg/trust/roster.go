package trust

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// APIVersion and kind of a roster file.
const (
	rosterAPIVersion = "changeward.dev/v1alpha1"
	rosterKind       = "Roster"
)

// Roster is what a roster file says: whose keys count, and until when.
type Roster struct {
	Expires string // RFC 3339 in UTC; "": for ever
	Keys    []state.RosterKey
}

// rosterFile is a roster as people write it.
type rosterFile struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Spec       rosterSpec `json:"spec"`
}

type rosterSpec struct {
	Expires *time.Time     `json:"expires,omitempty"`
	People  []rosterPerson `json:"people"`
}

type rosterPerson struct {
	User   string   `json:"user"`
	Logins []string `json:"logins,omitempty"`
	Keys   []string `json:"keys"`
}

// ParseRoster reads a roster file strictly. The error names all that is wrong.
func ParseRoster(source []byte) (Roster, error) {
	file, err := decodeRoster(source)
	if err != nil {
		return Roster{}, err
	}
	var problems []error
	if file.APIVersion != rosterAPIVersion || file.Kind != rosterKind {
		problems = append(problems, fmt.Errorf("want apiVersion %s and kind %s, got %q and %q", rosterAPIVersion, rosterKind, file.APIVersion, file.Kind))
	}
	if len(file.Spec.People) == 0 {
		problems = append(problems, errors.New("spec.people: lists nobody, so nobody could approve"))
	}
	var out Roster
	if at := file.Spec.Expires; at != nil {
		out.Expires = state.FormatTime(*at)
	}
	owners := map[string]string{}
	for i, p := range file.Spec.People {
		path := fmt.Sprintf("spec.people[%d]", i)
		if p.User == "" || len(p.Keys) == 0 {
			problems = append(problems, fmt.Errorf("%s: needs user and keys", path))
		}
		for j, key := range p.Keys {
			if _, err := sign.ParseKey(key); err != nil {
				problems = append(problems, fmt.Errorf("%s.keys[%d]: %w", path, j, err))
			}
			if owner, twice := owners[key]; twice {
				problems = append(problems, fmt.Errorf("%s.keys[%d]: listed for %s already", path, j, owner))
			}
			owners[key] = p.User
			out.Keys = append(out.Keys, state.RosterKey{Logins: p.Logins, Person: p.User, PublicKey: key})
		}
	}
	return out, errors.Join(problems...)
}

// decodeRoster tells "keys" from "Keys", unlike encoding/json, where one of them
// would win unseen.
func decodeRoster(source []byte) (file rosterFile, err error) {
	text, err := yaml.YAMLToJSONStrict(source)
	if err != nil {
		return file, err
	}
	unknown, err := json.UnmarshalStrict(text, &file)
	return file, errors.Join(append(unknown, err)...)
}

// Format writes a roster as a file that ParseRoster reads.
func (r Roster) Format() ([]byte, error) {
	file := rosterFile{APIVersion: rosterAPIVersion, Kind: rosterKind, Spec: rosterSpec{People: []rosterPerson{}}}
	if r.Expires != "" {
		at, err := state.ParseTime(r.Expires)
		if err != nil {
			return nil, err
		}
		file.Spec.Expires = &at
	}
	for _, k := range r.Keys {
		i := slices.IndexFunc(file.Spec.People, func(p rosterPerson) bool { return p.User == k.Person })
		if i < 0 {
			file.Spec.People = append(file.Spec.People, rosterPerson{User: k.Person, Logins: k.Logins})
			i = len(file.Spec.People) - 1
		}
		file.Spec.People[i].Keys = append(file.Spec.People[i].Keys, k.PublicKey)
	}
	return yaml.Marshal(file)
}

// Draft is a roster of the keys that are enrolled beyond doubt.
func Draft(ring sign.Ring) Roster {
	var out Roster
	for _, e := range ring.Entries() {
		if e.Revoked == nil && e.Doubt == "" {
			out.Keys = append(out.Keys, state.RosterKey{Logins: ring.Logins(e.Person), Person: e.Person, PublicKey: sign.AuthorizedKey(e.Key)})
		}
	}
	return out
}
